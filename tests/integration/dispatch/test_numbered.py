"""The numbered sequences S1 to S24 of faults, walk by walk, over real sockets.

S22, a fast send that is refused, belongs to the fast tier. What clients see of each outcome in
their dialect is proved through the whole product, in the tests of faults there.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from services.dispatch.model.access import CredentialDenied
from services.dispatch.model.enums import AttemptCause, AttemptOutcome, EffectKind, WalkStep
from services.dispatch.model.plan import Budget, Order, Plan, RescueFlags
from services.domain.vocab import CredentialKind, CredentialOwner, FailureClass, WireFamily
from tests.fakes.clock import FakeClock
from tests.fakes.upstream import Fault, Match
from tests.integration.dispatch.harness import (
    ANTHROPIC,
    CHAT,
    MODEL,
    SHORT,
    Answer,
    Stand,
    rescue,
    rescued_by,
    standing,
    throttled,
)
from tests.integration.dispatch.test_rescues import gated, presented
from tests.integration.dispatch.test_sequences import until

RESPONSES = WireFamily.OPENAI_RESPONSES
SIBLING, BASELINE = AttemptCause.SIBLING, AttemptCause.BASELINE
FIRST, RETRY, HOP = AttemptCause.FIRST, AttemptCause.RETRY, AttemptCause.HOP
ALWAYS = None
REFUSAL = "this was flagged for possible cybersecurity risk"
START_AND_PINGS = (
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message",'
    b'"role":"assistant","content":[],"model":"p1-model","stop_reason":null,"stop_sequence":null,'
    b'"usage":{"input_tokens":1,"output_tokens":1}}}\n\n'
    + b'event: ping\ndata: {"type": "ping"}\n\n'
    * 60
)


def fail(stand: Stand, provider: str, fault: Fault, times: int | None = ALWAYS) -> None:
    stand.providers[provider][0].script(fault, times=times)


def sends(stand: Stand, provider: str) -> int:
    return len(stand.providers[provider][0].requests)


def causes(answer: Answer) -> list[AttemptCause]:
    return [row.cause for row in answer.started]


async def timed(stand: Stand, order: Callable[[], Order], waits_s: Sequence[float]) -> Answer:
    """Return the answer of a walk that waits so long between its attempts, and no longer."""
    stand.clock = clock = FakeClock()
    stand.budget = Budget()
    task = asyncio.create_task(stand.run(order()))
    for wait_s in waits_s:
        await until(lambda: clock.sleeper_count == 1)
        clock.advance(wait_s)
    answer = await task
    assert [row.wait_s for row in answer.started if row.wait_s] == list(waits_s)
    return answer


@pytest.mark.spec("DSP-30", "DSP-139")
async def test_s1_two_503_and_then_one_clean_answer() -> None:
    async with standing(ANTHROPIC) as stand:
        fail(stand, "p1", Fault(status=503), times=2)
        answer = await timed(stand, stand.order, (0.25, 0.5))
        assert causes(answer) == [FIRST, RETRY, RETRY]
        assert answer.chunks.count(b"event: message_start") == 1


@pytest.mark.spec("DSP-30")
async def test_s2_three_503_and_nowhere_to_go() -> None:
    async with standing(ANTHROPIC) as stand:
        fail(stand, "p1", Fault(status=503))
        answer = await timed(stand, stand.order, (0.25, 0.5))
        assert answer.unserved.fault.http_status == 503
        assert sends(stand, "p1") == 3


@pytest.mark.spec("DSP-32", "DSP-180")
@pytest.mark.parametrize("has_sibling", [True, False])
async def test_s3_a_header_timeout_outlasts_the_series(has_sibling: bool) -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        stand.budget = replace(stand.budget, same_binding_s=0.3)
        fail(stand, "p1", Fault(delay=20))
        change = rescued_by(rescue(SIBLING, "p2")) if has_sibling else rescued_by()
        answer = await stand.run(stand.order("p1", change=change))
        assert answer.missed[0].record.failure_class is FailureClass.HEADER_TIMEOUT
        assert sends(stand, "p1") == 1
        assert (sends(stand, "p2"), len(answer.started)) == (has_sibling, 1 + has_sibling)


@pytest.mark.spec("DSP-31", "DSP-40")
async def test_s4_a_throttle_hops_at_once() -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        fail(stand, "p1", Fault(status=429))
        answer = await timed(stand, lambda: stand.order(change=throttled), ())
        assert causes(answer) == [FIRST, HOP]
        assert (answer.head.plan_index, answer.head.planned_provider) == (1, "p1")


@pytest.mark.spec("DSP-40")
async def test_s5_two_404_are_a_404() -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        fail(stand, "p1", Fault(status=404))
        fail(stand, "p2", Fault(status=404))
        answer = await stand.run(stand.order())
        assert answer.unserved.fault.http_status == 404
        assert len(answer.started) == 2


@pytest.mark.spec("DSP-40", "DSP-54")
async def test_s6_an_unpaid_account_hops_and_the_second_binding_is_named() -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        fail(stand, "p1", Fault(status=402))
        answer = await stand.run(stand.order())
        assert answer.tail.record.binding.provider == "p2"
        assert answer.missed[0].record.measured is None
        assert len(answer.started) == 2


@pytest.mark.spec("DSP-43")
async def test_s7_an_ordinary_400_is_asked_once() -> None:
    async with standing(ANTHROPIC, CHAT, CHAT) as stand:
        fail(stand, "p1", Fault(status=400, message="bad knob"))
        order = stand.order("p1", "p2", change=rescued_by(rescue(SIBLING, "p3")))
        answer = await stand.run(order)
        assert answer.unserved.fault.http_status == 400
        assert len(answer.started) == 1


@pytest.mark.spec("DSP-50", "DSP-54")
async def test_s8_every_binding_down_and_the_baseline_answers() -> None:
    async with standing(CHAT, CHAT, ANTHROPIC) as stand:
        fail(stand, "p1", Fault(status=500))
        fail(stand, "p2", Fault(status=500))
        order = stand.order("p1", "p2", change=rescued_by(rescue(BASELINE, "p3")))
        answer = await stand.run(order)
        assert causes(answer) == [FIRST, HOP, BASELINE]
        assert answer.head.binding.model_id == "other-p3"


@pytest.mark.spec("DSP-71", "DSP-257")
async def test_s9_a_schema_that_the_model_cannot_take_under_an_authoritative_policy() -> None:
    async with standing(CHAT, ANTHROPIC) as stand:
        fail(stand, "p1", Fault(status=400, message="invalid tool schema"))

        def change(plan: Plan) -> Plan:
            flags = RescueFlags(is_authoritative=True)
            return replace(plan, rescues=(rescue(BASELINE, "p2"),), rescue_flags=flags)

        answer = await stand.run(stand.order("p1", change=change))
        assert causes(answer) == [FIRST, BASELINE]
        assert answer.missed[0].if_rescued is not None
        assert answer.missed[0].if_rescued.kind is EffectKind.EVICT_PIN


def on_plan(kind: CredentialKind, flags: RescueFlags | None = None) -> Callable[[Plan], Plan]:
    """Return what makes a plan that of a caller's own token, with a paid key behind it."""
    is_claude = kind is CredentialKind.CLAUDE_OAUTH
    cause = AttemptCause.CLAUDE_PLAN if is_claude else AttemptCause.CODEX_PLAN
    paid = rescue(cause, "p1", model=MODEL)

    def change(plan: Plan) -> Plan:
        told = replace(plan, rescues=(paid,), rescue_flags=flags or plan.rescue_flags)
        return presented(told, kind)

    return change


@pytest.mark.spec("DSP-80", "DSP-81")
async def test_s10_a_plan_that_is_throttled_gives_way_to_the_paid_key() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.credentials.keys = {"p1": ["paid-key"]}
        fail(stand, "p1", Fault(status=429), times=3)
        change = on_plan(CredentialKind.CLAUDE_OAUTH)
        answer = await timed(stand, lambda: stand.order(change=change), (0.25, 0.5))
        keys = [request.key for request in stand.providers["p1"][0].requests]
        assert keys == ["plan-token-1"] * 3 + ["paid-key"]
        credential = answer.tail.record.credential
        assert credential is not None
        assert not credential.is_subscription_served
        assert credential.owner is CredentialOwner.OPERATOR


@pytest.mark.spec("DSP-84")
async def test_s11_where_only_the_plan_may_pay_its_429_is_shown() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.credentials.keys = {"p1": ["paid-key"]}
        fail(stand, "p1", Fault(status=429, message="the plan's own words"))
        flags = RescueFlags(is_subscription_only=True)
        order = stand.order(change=on_plan(CredentialKind.CLAUDE_OAUTH, flags))
        failed = (await stand.run(order)).unserved
        assert (failed.fault.http_status, failed.is_caller_credential) == (429, True)
        assert b"the plan's own words" in failed.fault.body
        assert sends(stand, "p1") == 3


@pytest.mark.spec("DSP-90", "DSP-91")
async def test_s12_a_codex_plan_that_is_used_up_is_not_asked_again() -> None:
    async with standing(RESPONSES) as stand:
        stand.credentials.keys = {"p1": ["paid-key"]}
        fail(stand, "p1", Fault(status=429, error_type="usage_limit_reached"), times=1)
        order = stand.order(family=RESPONSES, change=on_plan(CredentialKind.CODEX_OAUTH))
        answer = await stand.run(order)
        keys = [request.key for request in stand.providers["p1"][0].requests]
        assert keys == ["plan-token-1", "paid-key"]
        assert answer.missed[0].record.failure_class is FailureClass.PLAN_EXHAUSTED


@pytest.mark.spec("DSP-100", "DSP-103")
async def test_s13_a_refusal_before_output_is_one_clean_turn_of_another_vendor() -> None:
    async with standing(RESPONSES, ANTHROPIC, ANTHROPIC) as stand:
        fail(stand, "p1", Fault(error_after=1, error_type="cyber_policy", message=REFUSAL))
        answer = await stand.run(stand.order("p1", family=RESPONSES, change=gated))
        assert causes(answer) == [FIRST, AttemptCause.CYBER_REFUSAL]
        assert b"flagged" not in answer.chunks
        assert answer.tail.record.binding.provider == "p2"


@pytest.mark.spec("DSP-108")
async def test_s14_a_refusal_after_output_passes_as_sent() -> None:
    async with standing(RESPONSES, ANTHROPIC, ANTHROPIC) as stand:
        fail(stand, "p1", Fault(error_after=6, error_type="x", message=REFUSAL, chunks=8))
        answer = await stand.run(stand.order("p1", family=RESPONSES, change=gated))
        assert causes(answer) == [FIRST]
        assert REFUSAL.encode() in answer.chunks
        assert answer.tail.refusal_seen


@pytest.mark.spec("DSP-110", "DSP-252")
@pytest.mark.parametrize(
    "fault",
    [Fault(status=529), Fault(error_first=True, error_type="overloaded_error")],
    ids=["s15", "s23"],
)
async def test_s15_and_s23_an_overload_anywhere_before_output_ends_at_the_sibling(
    fault: Fault,
) -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        fail(stand, "p1", fault)
        change = rescued_by(rescue(SIBLING, "p2"))
        answer = await timed(stand, lambda: stand.order("p1", change=change), (0.25, 0.5))
        assert causes(answer) == [FIRST, RETRY, RETRY, SIBLING]
        assert [row.record.http_status for row in answer.missed] == [529] * 3
        assert [row.if_rescued for row in answer.missed] == [None] * 3


@pytest.mark.spec("DSP-2")
async def test_s16_a_reset_after_the_first_output_is_told_and_not_retried() -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        fail(stand, "p1", Fault(cut_after=5, chunk_delay=0.01))
        answer = await stand.run(stand.order())
        assert b"alpha" in answer.chunks
        assert answer.tail.record.outcome is AttemptOutcome.BROKEN
        assert sends(stand, "p2") == 0


BOOKKEEPING = pytest.mark.parametrize(
    ("family", "fault"),
    [
        (CHAT, Fault(stall_after=1, stall=20)),
        (RESPONSES, Fault(stall_after=2, stall=20)),
        (
            ANTHROPIC,
            Fault(body=START_AND_PINGS, content_type="text/event-stream", chunk_delay=0.05),
        ),
    ],
    ids=["s17-chat", "s17-responses", "s17b-messages"],
)


@pytest.mark.spec("DSP-134", "DSP-182", "DSP-185")
@BOOKKEEPING
async def test_s17_bookkeeping_alone_is_rescued_while_it_is_held(
    family: WireFamily, fault: Fault
) -> None:
    async with standing(family, CHAT) as stand:
        stand.limits = replace(SHORT, idle_s=5, first_output_s=0.4, hold_s=5)
        stand.budget = replace(stand.budget, same_binding_s=0.3)
        fail(stand, "p1", fault)
        order = stand.order("p1", change=rescued_by(rescue(SIBLING, "p2")))
        answer = await stand.run(order)
        assert causes(answer) == [FIRST, SIBLING]
        assert answer.missed[0].record.failure_class is FailureClass.STALL
        assert answer.chunks.count(b"data: [DONE]") == 1


@pytest.mark.spec("DSP-134", "DSP-182", "DSP-185")
@BOOKKEEPING
async def test_s17_bookkeeping_that_was_let_go_ends_in_an_error_in_time(
    family: WireFamily, fault: Fault
) -> None:
    async with standing(family, CHAT) as stand:
        stand.limits = replace(SHORT, idle_s=5, first_output_s=0.4, hold_s=0.1)
        fail(stand, "p1", fault)
        order = stand.order("p1", change=rescued_by(rescue(SIBLING, "p2")))
        answer = await stand.run(order)
        assert answer.tail.broken is not None
        assert answer.tail.record.failure_class is FailureClass.STALL
        assert sends(stand, "p2") == 0


@pytest.mark.spec("DSP-3", "DSP-190")
async def test_s18_a_client_that_leaves_during_the_wait_starts_nothing_more() -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        stand.clock = clock = FakeClock()
        stand.budget = Budget()
        fail(stand, "p1", Fault(status=503))
        order = stand.order("p1", change=rescued_by(rescue(SIBLING, "p2")))
        task = asyncio.create_task(stand.run(order))
        await until(lambda: clock.sleeper_count == 1)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        clock.advance(60)
        await asyncio.sleep(0.05)
        assert (sends(stand, "p1"), sends(stand, "p2")) == (1, 0)


@pytest.mark.spec("DSP-36", "TRN-68")
@pytest.mark.parametrize("has_sibling", [True, False])
async def test_s19_a_long_retry_after_goes_to_the_sibling_or_to_the_client(
    has_sibling: bool,
) -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        fail(stand, "p1", Fault(status=429, retry_after=30))
        rescues = (rescue(SIBLING, "p2"),) if has_sibling else ()

        def change(plan: Plan) -> Plan:
            return throttled(replace(plan, rescues=rescues))

        answer = await timed(stand, lambda: stand.order("p1", change=change), ())
        assert sends(stand, "p1") == 1
        if has_sibling:
            assert answer.head.cause is SIBLING
        else:
            assert answer.unserved.fault.http_status == 429
            assert ("retry-after", "30") in answer.unserved.headers


@pytest.mark.spec("DSP-36", "TRN-68")
@pytest.mark.parametrize("has_sibling", [True, False])
async def test_s20_a_short_retry_after_is_honoured_once(has_sibling: bool) -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        fail(stand, "p1", Fault(status=429, retry_after=8))
        rescues = (rescue(SIBLING, "p2"),) if has_sibling else ()

        def change(plan: Plan) -> Plan:
            return throttled(replace(plan, rescues=rescues))

        answer = await timed(stand, lambda: stand.order("p1", change=change), (8.0,))
        assert sends(stand, "p1") == 2
        assert causes(answer) == [FIRST, RETRY, *[SIBLING] * has_sibling]


@pytest.mark.spec("DSP-62", "DSP-143")
async def test_s21_an_endpoint_without_responses_is_asked_on_chat_and_then_directly() -> None:
    async with standing(RESPONSES) as stand:
        fake = stand.providers["p1"][0]
        gone = Fault(status=404, body={"detail": "Not Found"})
        fake.script(gone, match=Match(path="responses"), times=ALWAYS)
        answer = await stand.run(stand.order(family=CHAT))
        await stand.run(stand.order(family=CHAT))
        chat = "/v1/chat/completions"
        assert [request.path for request in fake.requests] == ["/v1/responses", chat, chat]
        assert answer.tail.attempt_count == 1


@pytest.mark.spec("DSP-254")
@pytest.mark.parametrize("is_last_down", [True, False])
async def test_s24_of_cooling_targets_the_soonest_to_end_serves_or_the_plans_error_is_shown(
    is_last_down: bool,
) -> None:
    async with standing(ANTHROPIC, CHAT, CHAT) as stand:
        fail(stand, "p1", Fault(status=404, message="the plan's own words"))
        if is_last_down:
            fail(stand, "p2", Fault(status=404))
            fail(stand, "p3", Fault(status=404))
        change = rescued_by(
            rescue(SIBLING, "p2", is_cooling=True, cooldown_end_unix_s=50.0),
            rescue(SIBLING, "p3", is_cooling=True, cooldown_end_unix_s=40.0),
        )
        answer = await stand.run(stand.order("p1", change=change))
        tried = [row.binding.provider for row in answer.started]
        assert tried == (["p1", "p3", "p2"] if is_last_down else ["p1", "p3"])
        if is_last_down:
            assert b"the plan's own words" in answer.unserved.fault.body


@pytest.mark.spec("DSP-110")
@pytest.mark.parametrize("is_sibling_denied", [True, False])
async def test_a_plan_whose_credentials_rest_goes_to_the_sibling_or_says_so(
    is_sibling_denied: bool,
) -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        cooling = CredentialDenied(FailureClass.CREDENTIALS_COOLING, "cooling", retry_after_s=9)
        stand.credentials.denials = {"p1": cooling}
        if is_sibling_denied:
            soon = CredentialDenied(FailureClass.CREDENTIALS_COOLING, "cooling", retry_after_s=4)
            stand.credentials.denials["p2"] = soon
        answer = await stand.run(stand.order("p1", change=rescued_by(rescue(SIBLING, "p2"))))
        assert answer.missed[0].step is WalkStep.RESCUE
        assert answer.missed[0].record.outcome is AttemptOutcome.SKIPPED
        if is_sibling_denied:
            assert answer.unserved.fault.failure_class is FailureClass.CREDENTIALS_COOLING
            assert answer.unserved.retry_after_s == 4
        else:
            assert answer.head.cause is SIBLING
        assert sends(stand, "p1") == 0
