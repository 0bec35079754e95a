"""One provider, two dialects: each turn is asked where it can be said, and remembered for long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import orjson
import pytest

from services.dispatch.model.enums import AttemptOutcome
from services.dispatch.model.plan import Order
from services.domain.vocab import CredentialKind, WireFamily
from tests.fakes.clock import FakeClock
from tests.fakes.upstream import Fault, Match
from tests.integration.dispatch.harness import CHAT, Stand, standing

RESPONSES = WireFamily.OPENAI_RESPONSES
ANSWERS = {RESPONSES: "/v1/responses", CHAT: "/v1/chat/completions"}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
STREAMED = pytest.mark.parametrize("is_stream", [True, False])


def paths(stand: Stand) -> list[str]:
    return [request.path for request in stand.providers["p1"][0].requests]


def openai(stand: Stand, **facts: object) -> None:
    """Let the first provider be OpenAI."""
    endpoint = stand.stage().endpoints["p1"]
    stand.endpoints["p1"] = replace(endpoint, is_dual=True, **facts)  # type: ignore[arg-type]  # facts by name


def saying(order: Order, more: Mapping[str, object]) -> Order:
    return replace(order, body=orjson.dumps({**orjson.loads(order.body), **more}))


@pytest.mark.spec("DSP-220", "DSP-223")
@STREAMED
@pytest.mark.parametrize("client", list(WireFamily))
async def test_openai_is_asked_on_responses_whatever_the_client_speaks(
    client: WireFamily, is_stream: bool
) -> None:
    async with standing(CHAT) as stand:
        openai(stand)
        answer = await stand.run(stand.order(family=client, is_stream=is_stream))
        assert paths(stand) == [ANSWERS[RESPONSES]]
        assert answer.started[0].family is answer.head.family is RESPONSES
        assert answer.tail.record.outcome is AttemptOutcome.SERVED
        (request,) = stand.providers["p1"][0].requests
        if client is RESPONSES:
            told = orjson.loads(stand.order(family=client, is_stream=is_stream).body)
            assert request.json == {**told, "model": "p1-model"}
        else:
            assert request.json["store"] is False


@pytest.mark.spec("DSP-220")
async def test_a_turn_that_chat_alone_can_say_stays_there() -> None:
    async with standing(CHAT) as stand:
        openai(stand)
        order = saying(stand.order(family=CHAT, is_stream=False), {"stop": ["END"]})
        answer = await stand.run(order)
        assert paths(stand) == [ANSWERS[CHAT]]
        assert answer.head.family is CHAT


@pytest.mark.spec("DSP-62", "DSP-143", "DSP-225")
@STREAMED
async def test_an_openai_that_lives_elsewhere_and_has_no_responses_is_asked_on_chat(
    is_stream: bool,
) -> None:
    async with standing(CHAT) as stand:
        openai(stand)
        fake = stand.providers["p1"][0]
        fake.script(Fault(status=404, body={"detail": "x"}), match=Match(path="responses"))
        for _ in range(2):
            answer = await stand.run(stand.order(family=CHAT, is_stream=is_stream))
            assert answer.head.family is CHAT
        assert paths(stand) == [ANSWERS[RESPONSES], ANSWERS[CHAT], ANSWERS[CHAT]]


@pytest.mark.spec("DSP-224")
async def test_a_turn_that_leans_on_stored_state_never_loses_it() -> None:
    async with standing(CHAT) as stand:
        openai(stand, is_original=False)
        stored = {"previous_response_id": "resp_1"}
        order = saying(stand.order(family=RESPONSES, is_stream=False), stored)
        fake = stand.providers["p1"][0]
        await stand.run(order)
        assert fake.requests[0].json["previous_response_id"] == "resp_1"
        fake.script(Fault(status=404, body={"detail": "x"}), times=None)
        failed = (await stand.run(order)).unserved
        assert failed.fault.http_status == 404
        assert set(paths(stand)) == {ANSWERS[RESPONSES]}


@pytest.mark.spec("DSP-221", "DSP-62")
async def test_a_gateway_is_promoted_for_reasoning_with_functions_and_remembered_by_address() -> (
    None
):
    async with standing(CHAT) as stand:
        stand.clock = FakeClock()
        stand.is_reasoning = True
        fake = stand.providers["p1"][0]
        stand.credentials.keys["p1"] = ["key-of-a-tenant"]
        stand.credentials.kinds["p1"] = CredentialKind.GATEWAY
        plain = stand.order(family=CHAT, is_stream=False)
        tools = saying(plain, {"tools": [FUNCTION]})
        await stand.run(plain)
        await stand.run(tools)
        assert paths(stand) == [ANSWERS[CHAT], ANSWERS[RESPONSES]]
        fake.script(Fault(status=404, body={"detail": "x"}), match=Match(path="responses"))
        for _ in range(2):
            assert (await stand.run(tools)).head.family is CHAT
        assert paths(stand)[2:] == [ANSWERS[RESPONSES], ANSWERS[CHAT], ANSWERS[CHAT]]
        stand.clock.advance(3600)
        await stand.run(tools)
        assert paths(stand)[-1] == ANSWERS[RESPONSES]


@pytest.mark.spec("DSP-95")
async def test_a_codex_plan_is_used_at_its_own_backend_only() -> None:
    async with standing(CHAT, CHAT) as stand:
        backend = stand.providers["p2"][0]
        openai(stand, codex_base_url=f"{backend.base_url}/v1")
        stand.credentials.keys["p1"] = ["plan-token"]
        stand.credentials.kinds["p1"] = CredentialKind.CODEX_OAUTH
        for family in (CHAT, RESPONSES):
            await stand.run(stand.order("p1", family=family, is_stream=True))
        assert [request.path for request in backend.requests] == [ANSWERS[RESPONSES]] * 2
        assert not paths(stand)
