"""The numbered sequences S1 to S12 of faults, walk by walk, over real sockets.

Each is played for clients of every dialect, for streams and for whole answers. What clients see of
each outcome in their dialect is proved through the whole product.
"""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from services.dispatch.model.enums import AttemptCause, EffectKind
from services.dispatch.model.plan import Plan, RescueFlags
from services.domain.vocab import CredentialKind, CredentialOwner, FailureClass, WireFamily
from tests.fakes.upstream import Fault
from tests.integration.dispatch.harness import (
    ANTHROPIC,
    CHAT,
    MODEL,
    rescue,
    rescued_by,
    standing,
    throttled,
)
from tests.integration.dispatch.numbered import (
    BASELINE,
    CELLS,
    FIRST,
    HOP,
    RETRY,
    SIBLING,
    Cell,
    Change,
    causes,
    fail,
    sends,
    timed,
)
from tests.integration.dispatch.test_rescues import presented

RESPONSES = WireFamily.OPENAI_RESPONSES


@pytest.mark.spec("DSP-30", "DSP-139")
@CELLS
async def test_s1_two_503_and_then_one_clean_answer(cell: Cell) -> None:
    async with standing(ANTHROPIC) as stand:
        fail(stand, "p1", Fault(status=503), times=2)
        answer = await timed(stand, lambda: cell.order(stand), (0.25, 0.5))
        assert causes(answer) == [FIRST, RETRY, RETRY]
        if cell.is_stream:
            assert answer.chunks.count(b"event: message_start") == 1
        else:
            assert orjson.loads(answer.chunks)["type"] == "message"


@pytest.mark.spec("DSP-30")
@CELLS
async def test_s2_three_503_and_nowhere_to_go(cell: Cell) -> None:
    async with standing(ANTHROPIC) as stand:
        fail(stand, "p1", Fault(status=503))
        answer = await timed(stand, lambda: cell.order(stand), (0.25, 0.5))
        assert answer.unserved.fault.http_status == 503
        assert sends(stand, "p1") == 3


@pytest.mark.spec("DSP-32", "DSP-180")
@pytest.mark.parametrize("has_sibling", [True, False])
@CELLS
async def test_s3_a_header_timeout_outlasts_the_series(cell: Cell, has_sibling: bool) -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        stand.header_timeout_s = 0.1
        stand.budget = replace(stand.budget, same_binding_s=0.05)
        fail(stand, "p1", Fault(delay=20))
        change = rescued_by(rescue(SIBLING, "p2")) if has_sibling else rescued_by()
        answer = await stand.run(cell.order(stand, "p1", change=change))
        assert answer.missed[0].record.failure_class is FailureClass.HEADER_TIMEOUT
        assert sends(stand, "p1") == 1
        assert (sends(stand, "p2"), len(answer.started)) == (has_sibling, 1 + has_sibling)


@pytest.mark.spec("DSP-31", "DSP-40")
@CELLS
async def test_s4_a_throttle_hops_at_once(cell: Cell) -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        fail(stand, "p1", Fault(status=429))
        answer = await timed(stand, lambda: cell.order(stand, change=throttled), ())
        assert causes(answer) == [FIRST, HOP]
        assert (answer.head.plan_index, answer.head.planned_provider) == (1, "p1")


@pytest.mark.spec("DSP-40")
@CELLS
async def test_s5_two_404_are_a_404(cell: Cell) -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        fail(stand, "p1", Fault(status=404))
        fail(stand, "p2", Fault(status=404))
        answer = await stand.run(cell.order(stand))
        assert answer.unserved.fault.http_status == 404
        assert len(answer.started) == 2


@pytest.mark.spec("DSP-40", "DSP-54")
@CELLS
async def test_s6_an_unpaid_account_hops_and_the_second_binding_is_named(cell: Cell) -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        fail(stand, "p1", Fault(status=402))
        answer = await stand.run(cell.order(stand))
        assert answer.tail.record.binding.provider == "p2"
        assert answer.missed[0].record.measured is None
        assert len(answer.started) == 2


@pytest.mark.spec("DSP-43")
@CELLS
async def test_s7_an_ordinary_400_is_asked_once(cell: Cell) -> None:
    async with standing(ANTHROPIC, CHAT, CHAT) as stand:
        fail(stand, "p1", Fault(status=400, message="bad knob"))
        order = cell.order(stand, "p1", "p2", change=rescued_by(rescue(SIBLING, "p3")))
        answer = await stand.run(order)
        assert answer.unserved.fault.http_status == 400
        assert len(answer.started) == 1


@pytest.mark.spec("DSP-50", "DSP-54")
@CELLS
async def test_s8_every_binding_down_and_the_baseline_answers(cell: Cell) -> None:
    async with standing(CHAT, CHAT, ANTHROPIC) as stand:
        fail(stand, "p1", Fault(status=500))
        fail(stand, "p2", Fault(status=500))
        order = cell.order(stand, "p1", "p2", change=rescued_by(rescue(BASELINE, "p3")))
        answer = await stand.run(order)
        assert causes(answer) == [FIRST, HOP, BASELINE]
        assert answer.head.binding.model_id == "other-p3"


@pytest.mark.spec("DSP-71", "DSP-257")
@CELLS
async def test_s9_a_schema_that_the_model_cannot_take_under_an_authoritative_policy(
    cell: Cell,
) -> None:
    async with standing(CHAT, ANTHROPIC) as stand:
        fail(stand, "p1", Fault(status=400, message="invalid tool schema"))

        def change(plan: Plan) -> Plan:
            flags = RescueFlags(is_authoritative=True)
            return replace(plan, rescues=(rescue(BASELINE, "p2"),), rescue_flags=flags)

        answer = await stand.run(cell.order(stand, "p1", change=change))
        assert causes(answer) == [FIRST, BASELINE]
        assert answer.missed[0].if_rescued is not None
        assert answer.missed[0].if_rescued.kind is EffectKind.EVICT_PIN


def on_plan(kind: CredentialKind, flags: RescueFlags | None = None) -> Change:
    """Return what makes a plan that of a caller's own token, with a paid key behind it."""
    is_claude = kind is CredentialKind.CLAUDE_OAUTH
    cause = AttemptCause.CLAUDE_PLAN if is_claude else AttemptCause.CODEX_PLAN
    paid = rescue(cause, "p1", model=MODEL)

    def change(plan: Plan) -> Plan:
        told = replace(plan, rescues=(paid,), rescue_flags=flags or plan.rescue_flags)
        return presented(told, kind)

    return change


@pytest.mark.spec("DSP-80", "DSP-81")
@CELLS
async def test_s10_a_plan_that_is_throttled_gives_way_to_the_paid_key(cell: Cell) -> None:
    async with standing(ANTHROPIC) as stand:
        stand.credentials.keys = {"p1": ["paid-key"]}
        fail(stand, "p1", Fault(status=429), times=3)
        change = on_plan(CredentialKind.CLAUDE_OAUTH)
        answer = await timed(stand, lambda: cell.order(stand, change=change), (0.25, 0.5))
        keys = [request.key for request in stand.providers["p1"][0].requests]
        assert keys == ["plan-token-1"] * 3 + ["paid-key"]
        credential = answer.tail.record.credential
        assert credential is not None
        assert not credential.is_subscription_served
        assert credential.owner is CredentialOwner.OPERATOR


@pytest.mark.spec("DSP-84")
@CELLS
async def test_s11_where_only_the_plan_may_pay_its_429_is_shown(cell: Cell) -> None:
    async with standing(ANTHROPIC) as stand:
        stand.credentials.keys = {"p1": ["paid-key"]}
        fail(stand, "p1", Fault(status=429, message="the plan's own words"))
        flags = RescueFlags(is_subscription_only=True)
        order = cell.order(stand, change=on_plan(CredentialKind.CLAUDE_OAUTH, flags))
        failed = (await stand.run(order)).unserved
        assert (failed.fault.http_status, failed.is_caller_credential) == (429, True)
        assert b"the plan's own words" in failed.fault.body
        assert sends(stand, "p1") == 3


@pytest.mark.spec("DSP-90", "DSP-91")
@CELLS
async def test_s12_a_codex_plan_that_is_used_up_is_not_asked_again(cell: Cell) -> None:
    async with standing(RESPONSES) as stand:
        stand.credentials.keys = {"p1": ["paid-key"]}
        fail(stand, "p1", Fault(status=429, error_type="usage_limit_reached"), times=1)
        order = cell.order(stand, change=on_plan(CredentialKind.CODEX_OAUTH))
        answer = await stand.run(order)
        keys = [request.key for request in stand.providers["p1"][0].requests]
        assert keys == ["plan-token-1", "paid-key"]
        assert answer.missed[0].record.failure_class is FailureClass.PLAN_EXHAUSTED
