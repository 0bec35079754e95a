"""Codex plans: what their tokens are shown for, and in which words; baselines after a plan."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from services.dispatch.model.enums import AttemptCause, AttemptOutcome, EndKind, WalkStep
from services.dispatch.model.plan import Order
from services.domain.vocab import CredentialKind, FailureClass, WireFamily
from tests.fakes.upstream import Fault
from tests.integration.dispatch.harness import (
    ANTHROPIC,
    CHAT,
    MODEL,
    Stand,
    rescue,
    rescued_by,
    standing,
)
from tests.integration.dispatch.test_rescues import presented

CODEX, RESPONSES = CredentialKind.CODEX_OAUTH, WireFamily.OPENAI_RESPONSES
BASELINE, SIBLING = AttemptCause.BASELINE, AttemptCause.SIBLING


@pytest.mark.spec("DSP-95")
@pytest.mark.parametrize("has_paid_key", [True, False])
async def test_a_codex_token_is_shown_for_no_model_beyond_the_plan(has_paid_key: bool) -> None:
    async with standing(RESPONSES) as stand:
        stand.is_in_codex_plan = False
        stand.credentials.keys = {"p1": ["paid-key"]}
        paid = (rescue(AttemptCause.CODEX_PLAN, "p1", model=MODEL),) if has_paid_key else ()
        order = stand.order(
            family=RESPONSES, change=lambda plan: presented(replace(plan, rescues=paid), CODEX)
        )
        answer = await stand.run(order)
        assert answer.missed[0].record.outcome is AttemptOutcome.SKIPPED
        assert answer.missed[0].vendor_type == "not_in_codex_plan"
        keys = [request.key for request in stand.providers["p1"][0].requests]
        assert keys == ["paid-key"] * has_paid_key
        assert stand.credentials.endings[0].kind is EndKind.NOT_SENT
        if not has_paid_key:
            assert answer.unserved.fault.failure_class is FailureClass.MODEL_NOT_FOUND


@pytest.mark.spec("DSP-95")
async def test_a_stored_codex_token_gives_way_to_another_credential_of_the_binding() -> None:
    async with standing(RESPONSES) as stand:
        stand.is_in_codex_plan = False
        stand.credentials.keys = {"p1": ["plan-token", "paid-key"]}
        stand.credentials.kinds_of_keys = {"plan-token": CODEX}
        answer = await stand.run(stand.order(family=RESPONSES))
        assert answer.missed[0].step is WalkStep.ROTATE
        assert [request.key for request in stand.providers["p1"][0].requests] == ["paid-key"]
        ends = [end.kind for end in stand.credentials.endings]
        assert ends == [EndKind.NOT_SENT, EndKind.SUCCEEDED]


def thinking_hard(stand: Stand, client: WireFamily) -> Order:
    order = stand.order(family=client)
    knob: dict[str, object] = {"reasoning_effort": "max"}
    if client is RESPONSES:
        knob = {"reasoning": {"effort": "max"}}
    return replace(order, body=orjson.dumps({**orjson.loads(order.body), **knob}))


@pytest.mark.spec("DSP-204")
@pytest.mark.parametrize("client", [RESPONSES, CHAT])
@pytest.mark.parametrize(("kind", "level"), [(CODEX, "max"), (CredentialKind.API_KEY, "xhigh")])
async def test_the_highest_effort_is_the_plans_own_word(
    client: WireFamily, kind: CredentialKind, level: str
) -> None:
    async with standing(CHAT) as stand:
        stand.is_reasoning = True
        stand.credentials.keys = {"p1": ["key-of-p1"]}
        stand.credentials.kinds = {"p1": kind}
        endpoint = stand.stage().endpoints["p1"]
        stand.endpoints = {"p1": replace(endpoint, is_vendor=True, is_dual=True)}
        answer = await stand.run(thinking_hard(stand, client))
        assert answer.tail.record.family is RESPONSES
        (request,) = stand.providers["p1"][0].requests
        reasoning = request.json["reasoning"]
        assert isinstance(reasoning, dict)
        assert reasoning["effort"] == level


@pytest.mark.spec("DSP-72")
async def test_a_baseline_is_never_paid_by_the_callers_plan() -> None:
    async with standing(CHAT, ANTHROPIC) as stand:
        stand.credentials.keys = {"p2": ["paid-key"]}
        stand.providers["p1"][0].script(Fault(status=500), times=None)
        order = stand.order("p1", change=rescued_by(rescue(BASELINE, "p2")))
        brought = presented(order.plan, CredentialKind.CLAUDE_OAUTH).presented
        brought = (replace(brought[0], provider="p2"),)
        answer = await stand.run(replace(order, plan=replace(order.plan, presented=brought)))
        assert answer.head.cause is BASELINE
        assert [request.key for request in stand.providers["p2"][0].requests] == ["paid-key"]


@pytest.mark.spec("DSP-73")
async def test_a_bill_that_was_not_paid_opens_the_baseline() -> None:
    async with standing(CHAT, ANTHROPIC) as stand:
        stand.providers["p1"][0].script(Fault(status=402), times=None)
        answer = await stand.run(stand.order("p1", change=rescued_by(rescue(BASELINE, "p2"))))
        assert answer.head.cause is BASELINE


@pytest.mark.spec("DSP-74")
async def test_a_baseline_that_fails_leaves_the_sibling() -> None:
    async with standing(CHAT, ANTHROPIC, CHAT) as stand:
        for name in ("p1", "p2"):
            stand.providers[name][0].script(Fault(status=503), times=None)
        change = rescued_by(rescue(SIBLING, "p3"), rescue(BASELINE, "p2"))
        answer = await stand.run(stand.order("p1", change=change))
        causes = [row.cause for row in answer.started if row.cause in (BASELINE, SIBLING)]
        assert causes == [BASELINE, SIBLING]
        assert answer.head.cause is SIBLING
