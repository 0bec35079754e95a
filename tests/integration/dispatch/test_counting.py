"""Counts of tokens, asked of providers of each dialect over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

import pytest

from services.dispatch.model.access import Grant
from services.dispatch.model.enums import EndKind
from services.dispatch.model.plan import ActionRef, BindingRef, CountOrder, Eligibility
from services.dispatch.server.auxiliary import count_tokens
from services.domain.errors import InvalidRequestError, RouterError
from services.domain.vocab import WireFamily
from services.domain.wire.model import Address
from tests.fakes.credentials import attribution_of
from tests.fakes.upstream import Fault
from tests.integration.dispatch.harness import MODEL, Stand, body, standing

PATHS = {
    WireFamily.ANTHROPIC: "/v1/messages/count_tokens",
    WireFamily.OPENAI_RESPONSES: "/v1/responses/input_tokens",
    WireFamily.GEMINI: "/v1beta/models/p1-model:countTokens",
}


def _order(stand: Stand, family: WireFamily) -> CountOrder:
    (planned,) = stand.order(family=family).plan.bindings
    return CountOrder(
        action=ActionRef("action-1", "inst-1"),
        family=family,
        body=body(family, is_stream=False),
        binding=planned,
        eligibility=Eligibility("inst-1"),
        address=Address(MODEL) if family is WireFamily.GEMINI else None,
    )


@pytest.mark.spec("XLT-9", "XLT-12", "XLT-15")
@pytest.mark.parametrize("client", WireFamily)
@pytest.mark.parametrize("upstream", PATHS)
async def test_a_provider_that_counts_is_asked_in_its_dialect(
    client: WireFamily, upstream: WireFamily
) -> None:
    async with standing(upstream) as stand:
        counted = await count_tokens(stand.stage(), _order(stand, client))
        assert counted.binding == BindingRef(MODEL, "p1", binding_index=0)
        assert counted.tokens > 0
        (asked,) = stand.providers["p1"][0].requests
        assert asked.path == PATHS[upstream]
        assert "stream" not in asked.json


@pytest.mark.spec("XLT-9")
@pytest.mark.parametrize("upstream", WireFamily)
async def test_without_an_answer_tokens_are_estimated(upstream: WireFamily) -> None:
    async with standing(upstream) as stand:
        fake = stand.providers["p1"][0]
        fake.script(Fault(status=500), times=None)
        counted = await count_tokens(stand.stage(), _order(stand, WireFamily.GEMINI))
        assert counted.binding is None
        assert counted.tokens > 0
        assert len(fake.requests) == (upstream in PATHS)


async def test_the_grant_is_let_go_of_when_nothing_can_be_asked() -> None:
    async with standing(WireFamily.ANTHROPIC) as stand:
        stand.credentials.keys = {"p1": ["key-a"]}
        order = replace(_order(stand, WireFamily.ANTHROPIC), body=b"{")
        with pytest.raises(InvalidRequestError):
            await count_tokens(stand.stage(), order)
        assert [end.kind for end in stand.credentials.endings] == [EndKind.NOT_SENT]


@pytest.mark.parametrize(
    "fault", [Fault(status=500), Fault(status=401), Fault(drop=True), None], ids=str
)
async def test_the_grant_is_let_go_of_once_however_a_count_ends(fault: Fault | None) -> None:
    async with standing(WireFamily.ANTHROPIC) as stand:
        stand.credentials.keys = {"p1": ["key-a"]}
        if fault is not None:
            stand.providers["p1"][0].script(fault, times=None)
        await count_tokens(stand.stage(), _order(stand, WireFamily.ANTHROPIC))
        assert [end.kind for end in stand.credentials.endings] == [EndKind.NOT_SENT]


async def test_the_grant_is_let_go_of_when_the_client_leaves() -> None:
    async with standing(WireFamily.ANTHROPIC) as stand:
        stand.credentials.keys = {"p1": ["key-a"]}
        fake = stand.providers["p1"][0]
        fake.script(Fault(delay=30.0), times=None)
        counting = asyncio.create_task(
            count_tokens(stand.stage(), _order(stand, WireFamily.ANTHROPIC))
        )
        async with asyncio.timeout(5):
            while not fake.requests:  # noqa: ASYNC110 - the provider has no event
                await asyncio.sleep(0.01)
        counting.cancel()
        await asyncio.gather(counting, return_exceptions=True)
        assert [end.kind for end in stand.credentials.endings] == [EndKind.NOT_SENT]


@pytest.mark.parametrize("upstream", [WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT])
@pytest.mark.parametrize("providers", [None, frozenset[str]()])
async def test_a_grant_that_came_along_is_let_go_of_once_whether_it_is_used_or_not(
    upstream: WireFamily, providers: frozenset[str] | None
) -> None:
    async with standing(upstream) as stand:
        stand.credentials.keys = {"p1": ["key-a"]}
        given = Grant("g1", BindingRef(MODEL, "p1"), attribution_of("key-a"), "key-a")
        permitted = Eligibility("inst-1", providers)
        order = replace(_order(stand, upstream), grant=given, eligibility=permitted)
        with contextlib.suppress(RouterError):
            await count_tokens(stand.stage(), order)
        assert [report.grant.grant_id for report in stand.credentials.reports] == ["g1"]
        assert [end.kind for end in stand.credentials.endings] == [EndKind.NOT_SENT]
