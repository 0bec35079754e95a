"""A conversation whose state one account keeps: no other account of ours is asked to go on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.dispatch.model.enums import AttemptCause, AttemptOutcome, WalkEnd, WalkStep
from services.dispatch.model.plan import BindingRef, Plan, PlannedBinding
from services.domain.vocab import CredentialKind, WireFamily
from tests.fakes.upstream import Fault
from tests.integration.dispatch.harness import MODEL, Stand, rescue, standing

RESPONSES = WireFamily.OPENAI_RESPONSES
ALWAYS = None


def _bound(plan: Plan) -> Plan:
    return replace(plan, required_credential_id="key-b")


def _keys(stand: Stand) -> list[str]:
    return [one.key for one in stand.providers["p1"][0].requests]


@pytest.mark.spec("XLT-78")
@pytest.mark.parametrize("status", [401, 402, 403, 429])
async def test_a_fault_of_the_account_ends_with_the_providers_own_error(status: int) -> None:
    async with standing(RESPONSES) as stand:
        stand.credentials.keys = {"p1": ["key-a", "key-b", "key-c"]}
        stand.providers["p1"][0].script(Fault(status=status, message="spent"), times=ALWAYS)
        failed = (await stand.run(stand.order(family=RESPONSES, change=_bound))).unserved
        assert set(_keys(stand)) == {"key-b"}
        assert (failed.end, failed.fault.http_status) == (WalkEnd.EXHAUSTED, status)
        assert b"spent" in failed.fault.body
        assert {query.required_credential_id for query in stand.credentials.queries} == {"key-b"}


@pytest.mark.spec("XLT-78")
async def test_without_that_need_the_next_account_serves() -> None:
    async with standing(RESPONSES) as stand:
        stand.credentials.keys = {"p1": ["key-a", "key-b"]}
        stand.providers["p1"][0].script(Fault(status=429))
        answer = await stand.run(stand.order(family=RESPONSES))
        assert answer.tail.record.outcome is AttemptOutcome.SERVED
        assert _keys(stand) == ["key-a", "key-b"]


@pytest.mark.spec("XLT-78")
async def test_a_hop_and_a_rescue_stay_on_the_account_too() -> None:
    def planned(plan: Plan) -> Plan:
        second = PlannedBinding(BindingRef(MODEL, "p1", binding_index=1))
        sibling = rescue(AttemptCause.SIBLING, "p1")
        return replace(_bound(plan), bindings=(*plan.bindings, second), rescues=(sibling,))

    async with standing(RESPONSES) as stand:
        stand.credentials.keys = {"p1": ["key-a", "key-b", "key-c"]}
        stand.providers["p1"][0].script(Fault(status=429), times=2)
        answer = await stand.run(stand.order(family=RESPONSES, change=planned))
        assert [row.step for row in answer.missed] == [WalkStep.HOP, WalkStep.RESCUE]
        assert answer.tail.record.outcome is AttemptOutcome.SERVED
        assert _keys(stand) == ["key-b"] * 3


@pytest.mark.spec("XLT-78", "CRD-146")
async def test_a_refused_token_is_still_renewed_on_the_same_account() -> None:
    async with standing(RESPONSES) as stand:
        stand.credentials.keys = {"p1": ["key-a", "key-b"]}
        stand.credentials.kinds = {"p1": CredentialKind.CODEX_OAUTH}
        stand.credentials.renewals = {"key-b": "newer"}
        stand.providers["p1"][0].script(Fault(status=401))
        answer = await stand.run(stand.order(family=RESPONSES, change=_bound))
        assert answer.tail.record.outcome is AttemptOutcome.SERVED
        assert _keys(stand) == ["key-b", "newer"]
