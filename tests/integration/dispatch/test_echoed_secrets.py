"""Providers that echo the key they were asked with, whatever its shape."""

from __future__ import annotations

import pytest

from services.domain.vocab import WireFamily
from tests.fakes.upstream import Fault
from tests.integration.dispatch.harness import ANTHROPIC, CHAT, standing

KEY = "no-vendors-shape:tulip-47"
FAMILIES = pytest.mark.parametrize("family", [ANTHROPIC, CHAT])


@pytest.mark.spec("CRD-152")
@FAMILIES
async def test_an_error_that_echoes_the_key_is_shown_without_it(family: WireFamily) -> None:
    async with standing(family) as stand:
        stand.credentials.keys["p1"] = [KEY]
        stand.providers["p1"][0].script(Fault(status=400, message=f"bad key {KEY}!"))
        answer = await stand.run(stand.order(family=family))
        fault = answer.unserved.fault
        assert b"bad key ***!" in fault.body
        assert fault.message == "bad key ***!"


@pytest.mark.spec("CRD-152")
@pytest.mark.parametrize("is_stream", [True, False])
async def test_an_answer_that_echoes_the_key_is_passed_without_it(is_stream: bool) -> None:
    async with standing(ANTHROPIC) as stand:
        stand.credentials.keys["p1"] = [KEY]
        stand.providers["p1"][0].script(Fault(text=f"you sent {KEY}."))
        answer = await stand.run(stand.order(is_stream=is_stream))
        assert KEY.encode() not in answer.chunks
        assert b"***" in answer.chunks


@pytest.mark.spec("CRD-152")
async def test_an_error_event_after_output_is_passed_without_the_key() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.credentials.keys["p1"] = [KEY]
        stand.providers["p1"][0].script(Fault(error_after=4, message=f"bad key {KEY}!"))
        answer = await stand.run(stand.order())
        assert KEY.encode() not in answer.chunks
        assert answer.tail.broken is not None
        assert answer.tail.broken.message == "bad key ***!"
