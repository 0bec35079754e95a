"""Rescues: what other targets a failed plan opens, in which order, and what is shown without."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.dispatch.model.access import CredentialDenied, Grant, Presented
from services.dispatch.model.enums import (
    AttemptCause,
    AttemptOutcome,
    EffectKind,
    WalkEnd,
    WalkStep,
)
from services.dispatch.model.plan import BindingRef, Plan, RescueFlags
from services.domain.vocab import CredentialKind, CredentialOwner, FailureClass, WireFamily
from tests.fakes.credentials import attribution_of
from tests.fakes.upstream import Fault
from tests.integration.dispatch.harness import (
    ANTHROPIC,
    CHAT,
    MODEL,
    Stand,
    rescue,
    rescued_by,
    standing,
    throttled,
)

RESPONSES = WireFamily.OPENAI_RESPONSES
SIBLING, BASELINE = AttemptCause.SIBLING, AttemptCause.BASELINE
ALWAYS = None
STREAMED = pytest.mark.parametrize("is_stream", [True, False])


def script(stand: Stand, provider: str, fault: Fault, times: int | None = ALWAYS) -> None:
    stand.providers[provider][0].script(fault, times=times)


def asked(stand: Stand, provider: str) -> list[str]:
    return [request.model for request in stand.providers[provider][0].requests]


@pytest.mark.spec("DSP-110", "DSP-52", "DSP-54")
@STREAMED
async def test_a_sibling_serves_after_the_retries_of_a_lone_binding(is_stream: bool) -> None:
    async with standing(ANTHROPIC, CHAT) as stand:
        script(stand, "p1", Fault(status=529))
        change = rescued_by(rescue(SIBLING, "p2"))
        answer = await stand.run(stand.order("p1", is_stream=is_stream, change=change))
        assert [row.cause for row in answer.started] == [
            AttemptCause.FIRST,
            AttemptCause.RETRY,
            AttemptCause.RETRY,
            SIBLING,
        ]
        assert [row.step for row in answer.missed][-1] is WalkStep.RESCUE
        head = answer.head
        assert (head.binding.model_id, head.plan_index, head.cause) == ("other-p2", -1, SIBLING)
        assert answer.tail.rescue is SIBLING
        assert answer.tail.record.outcome is AttemptOutcome.SERVED
        assert stand.credentials.statuses == [529, 529, 529, 200]


@pytest.mark.spec("DSP-53")
async def test_rescues_that_fail_leave_the_plans_own_error_to_be_shown() -> None:
    async with standing(ANTHROPIC, CHAT, CHAT) as stand:
        script(stand, "p1", Fault(status=503, message="the first"))
        script(stand, "p2", Fault(status=401, message="the second"))
        stand.credentials.denials = {
            "p3": CredentialDenied(FailureClass.CREDENTIALS_COOLING, "cooling", retry_after_s=9)
        }
        change = rescued_by(rescue(SIBLING, "p2"), rescue(SIBLING, "p3"))
        failed = (await stand.run(stand.order("p1", change=change))).unserved
        assert b"the first" in failed.fault.body
        assert (failed.rendered_number, failed.rescue) == (3, SIBLING)
        assert failed.end is WalkEnd.TERMINAL or failed.end is WalkEnd.EXHAUSTED
        assert len(failed.records) == 5
        assert failed.retry_after_s == 9


@pytest.mark.spec("DSP-114")
async def test_targets_are_walked_until_the_budget_of_rescues_is_spent() -> None:
    async with standing(ANTHROPIC, ANTHROPIC, ANTHROPIC, ANTHROPIC, ANTHROPIC) as stand:
        for name in ("p1", "p2", "p3", "p4"):
            script(stand, name, Fault(status=404))
        change = rescued_by(*(rescue(SIBLING, name) for name in ("p2", "p3", "p4", "p5")))
        answer = await stand.run(stand.order("p1", change=change))
        assert answer.unserved.fault.failure_class is FailureClass.MODEL_NOT_FOUND
        assert asked(stand, "p4") == ["p4-model"]
        assert not asked(stand, "p5")


async def test_a_lone_target_is_retried_and_one_of_several_is_not() -> None:
    async with standing(ANTHROPIC, ANTHROPIC, ANTHROPIC) as stand:
        script(stand, "p1", Fault(status=404))
        script(stand, "p2", Fault(status=503))
        script(stand, "p3", Fault(status=503), times=1)
        change = rescued_by(rescue(SIBLING, "p2"), rescue(SIBLING, "p3"))
        answer = await stand.run(stand.order("p1", change=change))
        assert len(asked(stand, "p2")) == 1
        assert len(asked(stand, "p3")) == 2
        assert answer.tail.record.cause is AttemptCause.RETRY
        assert answer.tail.rescue is SIBLING


@pytest.mark.spec("DSP-254")
async def test_healthy_targets_go_before_cooling_ones_and_these_by_their_end() -> None:
    async with standing(*(ANTHROPIC,) * 5) as stand:
        for name in ("p1", "p2", "p3", "p4"):
            script(stand, name, Fault(status=404))
        change = rescued_by(
            rescue(SIBLING, "p3", is_cooling=True, cooldown_end_unix_s=50.0),
            rescue(SIBLING, "p4", is_cooling=True, cooldown_end_unix_s=40.0),
            rescue(SIBLING, "p2"),
        )
        answer = await stand.run(stand.order("p1", change=change))
        order = [row.binding.provider for row in answer.started]
        assert order == ["p1", "p2", "p4", "p3"]


@pytest.mark.spec("DSP-50")
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault(status=500), [BASELINE, SIBLING]),
        (Fault(status=404), [BASELINE, SIBLING]),
        (Fault(status=402), [BASELINE, SIBLING]),
        (Fault(status=400, message="invalid tool schema"), [BASELINE, SIBLING]),
        (Fault(status=400, message="missing a thought_signature"), [BASELINE, SIBLING]),
        (Fault(status=400, message="this model does not support image input"), [BASELINE]),
        (
            Fault(status=400, message="prompt is too long: 300000 tokens"),
            [AttemptCause.LARGER_WINDOW],
        ),
        (Fault(status=400, message="bad knob"), []),
        (Fault(status=400, message="content policy"), []),
        (Fault(status=401), []),
        (Fault(status=403), []),
    ],
)
async def test_each_fault_opens_its_own_rescues_in_the_fixed_order(
    fault: Fault, expected: list[AttemptCause]
) -> None:
    async with standing(*(ANTHROPIC,) * 4) as stand:
        script(stand, "p1", fault)
        for name in ("p2", "p3", "p4"):
            script(stand, name, Fault(status=404))
        change = rescued_by(
            rescue(SIBLING, "p2"),
            rescue(AttemptCause.LARGER_WINDOW, "p3"),
            rescue(BASELINE, "p4"),
        )
        answer = await stand.run(stand.order("p1", change=change))
        causes = [row.cause for row in answer.started]
        seen = [cause for cause in causes if cause not in (AttemptCause.FIRST, AttemptCause.RETRY)]
        assert seen == expected
        assert answer.unserved.fault.http_status == fault.status


@pytest.mark.spec("DSP-71")
@pytest.mark.parametrize(
    ("fault", "is_served"),
    [(Fault(status=500), False), (Fault(status=400, message="invalid tool schema"), True)],
)
async def test_where_a_sidecar_decides_a_baseline_serves_what_the_model_cannot_only(
    fault: Fault, is_served: bool
) -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        script(stand, "p1", fault)

        def change(plan: Plan) -> Plan:
            flags = RescueFlags(is_authoritative=True)
            return replace(plan, rescues=(rescue(BASELINE, "p2"),), rescue_flags=flags)

        answer = await stand.run(stand.order("p1", change=change))
        assert (answer.missed[-1].step is WalkStep.RESCUE) is is_served


async def test_a_larger_window_is_larger_than_all_that_was_tried() -> None:
    async with standing(ANTHROPIC, ANTHROPIC, ANTHROPIC) as stand:
        script(stand, "p1", Fault(status=400, message="prompt is too long"))
        change = rescued_by(
            rescue(AttemptCause.LARGER_WINDOW, "p2", window=200_000),
            rescue(AttemptCause.LARGER_WINDOW, "p3", window=200_001),
        )
        answer = await stand.run(stand.order("p1", change=change))
        assert len(asked(stand, "p1")) == 1
        assert not asked(stand, "p2")
        assert answer.tail.record.binding.provider == "p3"


async def test_a_refusal_for_reasons_of_policy_ends_a_rescue_and_is_shown() -> None:
    async with standing(ANTHROPIC, ANTHROPIC, ANTHROPIC) as stand:
        script(stand, "p1", Fault(status=503))
        script(stand, "p2", Fault(status=400, message="against our usage policies"))
        change = rescued_by(rescue(SIBLING, "p2"), rescue(SIBLING, "p3"))
        failed = (await stand.run(stand.order("p1", change=change))).unserved
        assert failed.fault.failure_class is FailureClass.CONTENT_POLICY
        assert not asked(stand, "p3")


@pytest.mark.spec("DSP-51")
async def test_a_walk_that_is_only_recorded_has_no_rescue() -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        script(stand, "p1", Fault(status=404))

        def change(plan: Plan) -> Plan:
            flags = RescueFlags(is_shadow=True)
            return replace(plan, rescues=(rescue(SIBLING, "p2"),), rescue_flags=flags)

        answer = await stand.run(stand.order("p1", change=change))
        assert answer.unserved.end is WalkEnd.EXHAUSTED


# ------------------------------------------------------------------------------------- plans


def presented(plan: Plan, kind: CredentialKind) -> Plan:
    """Return the plan of a caller who brought a plan's token."""
    attribution = attribution_of("plan", kind, CredentialOwner.CALLER)
    grant = Grant("g", BindingRef(MODEL, "p1"), attribution, presented_hash="h")
    return replace(plan, grant=grant, presented=(Presented("plan-token-1", "h", kind, "p1"),))


@pytest.mark.spec("DSP-80", "DSP-81", "DSP-90", "DSP-91")
@pytest.mark.parametrize(
    ("kind", "cause", "fault", "sends"),
    [
        (CredentialKind.CLAUDE_OAUTH, AttemptCause.CLAUDE_PLAN, Fault(status=429), 3),
        (CredentialKind.CLAUDE_OAUTH, AttemptCause.CLAUDE_PLAN, Fault(status=401), 1),
        (
            CredentialKind.CODEX_OAUTH,
            AttemptCause.CODEX_PLAN,
            Fault(status=429, error_type="usage_limit_reached"),
            1,
        ),
        (CredentialKind.CODEX_OAUTH, AttemptCause.CODEX_PLAN, Fault(status=403), 1),
        (CredentialKind.CODEX_OAUTH, AttemptCause.CODEX_PLAN, Fault(status=404), 1),
    ],
)
async def test_a_plan_that_refuses_gives_way_to_the_paid_key_of_the_same_model(
    kind: CredentialKind, cause: AttemptCause, fault: Fault, sends: int
) -> None:
    family = ANTHROPIC if kind is CredentialKind.CLAUDE_OAUTH else CHAT
    async with standing(family) as stand:
        stand.credentials.keys = {"p1": ["paid-key"]}
        script(stand, "p1", fault, times=sends)

        def change(plan: Plan) -> Plan:
            paid = rescue(cause, "p1", model=MODEL)
            return presented(replace(plan, rescues=(paid,)), kind)

        answer = await stand.run(stand.order(family=family, change=change))
        keys = [request.key for request in stand.providers["p1"][0].requests]
        assert keys == ["plan-token-1"] * sends + ["paid-key"]
        credential = answer.tail.record.credential
        assert credential is not None
        assert credential.owner is CredentialOwner.OPERATOR


@pytest.mark.spec("DSP-84", "DSP-92")
async def test_where_only_a_plan_may_pay_its_own_error_is_shown() -> None:
    async with standing(ANTHROPIC) as stand:
        stand.credentials.keys = {"p1": ["paid-key"]}
        script(stand, "p1", Fault(status=401, message="expired"))

        def change(plan: Plan) -> Plan:
            paid = rescue(AttemptCause.CLAUDE_PLAN, "p1", model=MODEL)
            flags = RescueFlags(is_subscription_only=True)
            plan = replace(plan, rescues=(paid,), rescue_flags=flags)
            return presented(plan, CredentialKind.CLAUDE_OAUTH)

        failed = (await stand.run(stand.order(change=change))).unserved
        assert failed.is_caller_credential
        assert b"expired" in failed.fault.body


# ----------------------------------------------------------------------------- cyber refusals

REFUSED_FIRST = Fault(
    error_first=True,
    error_type="cyber_policy",
    message="this was flagged for possible cybersecurity risk",
)
REFUSED = Fault(
    status=400,
    error_type="invalid_request_error",
    message="Flagged for possible cybersecurity risk",
)
GATED = RescueFlags(is_cyber_retry_enabled=True)


def gated(plan: Plan) -> Plan:
    """Return the plan with a way round a cyber refusal, and one round outages."""
    targets = (rescue(AttemptCause.CYBER_REFUSAL, "p2"), rescue(SIBLING, "p3"))
    return replace(plan, rescues=targets, rescue_flags=GATED)


@pytest.mark.spec("DSP-100", "DSP-103")
@pytest.mark.parametrize(
    ("fault", "is_stream"), [(REFUSED, True), (REFUSED, False), (REFUSED_FIRST, True)]
)
@pytest.mark.parametrize("family", [CHAT, RESPONSES])
async def test_a_cyber_refusal_is_swallowed_and_another_vendor_answers(
    family: WireFamily, fault: Fault, is_stream: bool
) -> None:
    async with standing(family, ANTHROPIC, ANTHROPIC) as stand:
        script(stand, "p1", fault)
        answer = await stand.run(
            stand.order("p1", family=family, is_stream=is_stream, change=gated)
        )
        assert [row.cause for row in answer.started] == [
            AttemptCause.FIRST,
            AttemptCause.CYBER_REFUSAL,
        ]
        assert answer.missed[0].record.http_status == 400
        assert b"flagged" not in answer.chunks.lower()
        assert answer.tail.rescue is AttemptCause.CYBER_REFUSAL


@pytest.mark.spec("DSP-103", "DSP-106")
async def test_without_a_way_round_the_refusal_is_an_ordinary_400() -> None:
    async with standing(RESPONSES, ANTHROPIC, ANTHROPIC) as stand:
        refusal = "flagged for possible cybersecurity risk"
        script(stand, "p1", Fault(error_first=True, error_type="x", message=refusal))

        def change(plan: Plan) -> Plan:
            return replace(gated(plan), rescue_flags=replace(GATED, is_hard_pinned=True))

        failed = (await stand.run(stand.order("p1", family=RESPONSES, change=change))).unserved
        assert failed.fault.failure_class is FailureClass.CYBER_REFUSAL
        assert failed.fault.http_status == 400
        assert b'"cyber_policy"' in failed.fault.body
        assert b"invalid_request_error" in failed.fault.body


@pytest.mark.spec("DSP-108")
async def test_a_refusal_after_output_passes_and_is_told() -> None:
    async with standing(RESPONSES, ANTHROPIC, ANTHROPIC) as stand:
        refusal = "flagged for possible cybersecurity risk"
        script(stand, "p1", Fault(error_after=6, error_type="x", message=refusal, chunks=8))
        answer = await stand.run(stand.order("p1", family=RESPONSES, change=gated))
        assert refusal.encode() in answer.chunks
        assert answer.tail.refusal_seen
        assert len(answer.started) == 1


# ------------------------------------------------------------------------------- what is told


@pytest.mark.spec("DSP-251", "DSP-252")
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault(status=429), EffectKind.COOLDOWN),
        (Fault(status=500), EffectKind.DEMOTE),
        (Fault(status=529), None),
        (Fault(status=404), None),
        (Fault(status=400, message="invalid tool schema"), EffectKind.EVICT_PIN),
    ],
)
async def test_a_rescued_failure_says_what_to_remember_once(
    fault: Fault, expected: EffectKind | None
) -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        script(stand, "p1", fault)

        def change(plan: Plan) -> Plan:
            return throttled(replace(plan, rescues=(rescue(SIBLING, "p2"),)))

        answer = await stand.run(stand.order("p1", change=change))
        told = [row.if_rescued.kind if row.if_rescued else None for row in answer.missed]
        assert told == [None] * (len(told) - 1) + [expected]
        assert answer.tail.effect is not None
        assert answer.tail.effect.kind is EffectKind.CLEAR_COUNTS


@pytest.mark.spec("DSP-256", "DSP-257")
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault(status=529), EffectKind.COUNT_OVERLOAD),
        (Fault(status=400, message="bad knob"), EffectKind.COUNT_REFUSAL),
        (Fault(status=500), None),
        (Fault(delay=20), EffectKind.DEMOTE),
    ],
)
async def test_an_unserved_failure_says_what_to_remember(
    fault: Fault, expected: EffectKind | None
) -> None:
    async with standing(ANTHROPIC) as stand:
        script(stand, "p1", fault)
        answer = await stand.run(stand.order("p1", is_stream=True))
        last = answer.missed[-1].if_unserved
        assert (last.kind if last else None) == expected
        assert all(row.if_unserved is None for row in answer.missed[:-1])
