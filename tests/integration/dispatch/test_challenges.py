"""A challenge page of a network edge is reported as one, with the credential that met it."""

from __future__ import annotations

import pytest

from tests.fakes.upstream import Fault
from tests.integration.dispatch.harness import ANTHROPIC, standing

WAITING = "<!DOCTYPE html><html><title>Just a moment...</title></html>"
BROKEN = "<html><title>503 Service Unavailable</title></html>"


@pytest.mark.spec("CRD-88")
@pytest.mark.parametrize(("status", "page", "is_challenge"), [(403, WAITING, 1), (403, BROKEN, 0)])
async def test_a_challenge_page_is_told_from_another_page(
    status: int, page: str, is_challenge: int
) -> None:
    async with standing(ANTHROPIC) as stand:
        fault = Fault(status=status, body=page, content_type="text/html")
        stand.providers["p1"][0].script(fault, times=None)
        answer = await stand.run(stand.order())
        assert answer.unserved.fault.http_status == status
        assert {end.is_challenge_page for end in stand.credentials.endings} == {bool(is_challenge)}
