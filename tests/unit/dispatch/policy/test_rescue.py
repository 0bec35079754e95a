from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.dispatch.model.enums import RESCUES, AttemptCause, EffectKind
from services.dispatch.model.plan import BindingRef, Conduct, PlannedBinding, Rescue, RescueFlags
from services.dispatch.policy import effects
from services.dispatch.policy.rescue import Cause, next_rescue
from services.domain.vocab import CredentialKind, FailureClass

classes = st.sampled_from(list(FailureClass))
rescues = st.builds(
    Rescue,
    cause=st.sampled_from(RESCUES),
    bindings=st.just((PlannedBinding(BindingRef("m", "p"), context_window_tokens=10),)),
    is_cooling=st.booleans(),
    cooldown_end_unix_s=st.floats(0, 100),
    is_other_provider=st.booleans(),
)
flags = st.builds(
    RescueFlags,
    is_hard_pinned=st.booleans(),
    is_authoritative=st.booleans(),
    is_subscription_only=st.booleans(),
    is_cyber_retry_enabled=st.booleans(),
)
causes = st.builds(
    Cause,
    failure_class=classes,
    credential_kind=st.sampled_from(list(CredentialKind)),
    window_tokens=st.integers(0, 20),
)


def walked(cause: Cause, targets: list[Rescue], barred: RescueFlags) -> list[int]:
    tried: list[int] = []
    while (place := next_rescue(cause, targets, tried, barred)) is not None:
        tried.append(place)
    return tried


@pytest.mark.spec("DSP-50")
@given(causes, st.lists(rescues, max_size=8), flags)
def test_a_walk_takes_each_target_at_most_once_and_in_the_fixed_order(
    cause: Cause, targets: list[Rescue], barred: RescueFlags
) -> None:
    tried = walked(cause, targets, barred)
    assert len(set(tried)) == len(tried)
    ranks = [RESCUES.index(targets[place].cause) for place in tried]
    assert ranks == sorted(ranks)


@given(causes, st.lists(rescues, max_size=8))
def test_a_shadow_opens_nothing(cause: Cause, targets: list[Rescue]) -> None:
    assert next_rescue(cause, targets, (), RescueFlags(is_shadow=True)) is None


@pytest.mark.spec("DSP-106")
@given(st.lists(rescues, min_size=1, max_size=8))
def test_a_cyber_refusal_has_its_own_rescue_and_no_other(targets: list[Rescue]) -> None:
    cause = Cause(FailureClass.CYBER_REFUSAL)
    tried = walked(cause, targets, RescueFlags(is_cyber_retry_enabled=True))
    assert all(targets[place].cause is AttemptCause.CYBER_REFUSAL for place in tried)
    assert not walked(cause, targets, RescueFlags())
    barred = RescueFlags(is_cyber_retry_enabled=True, is_hard_pinned=True)
    assert not walked(cause, targets, barred)


@given(st.lists(rescues, max_size=8), flags)
def test_what_the_request_says_is_never_routed_around(
    targets: list[Rescue], barred: RescueFlags
) -> None:
    for failure_class in (
        FailureClass.CONTENT_POLICY,
        FailureClass.REJECTED,
        FailureClass.CANCELLED,
        FailureClass.FORCED_MODEL_UNSERVABLE,
    ):
        assert not walked(Cause(failure_class), targets, barred)


@pytest.mark.spec("DSP-111")
def test_siblings_at_other_providers_go_first_and_keep_their_order() -> None:
    bindings = (PlannedBinding(BindingRef("m", "p")),)
    targets = [
        Rescue(AttemptCause.SIBLING, bindings),
        Rescue(AttemptCause.SIBLING, bindings, is_other_provider=True),
        Rescue(AttemptCause.SIBLING, bindings),
        Rescue(AttemptCause.SIBLING, bindings, is_other_provider=True),
    ]
    assert walked(Cause(FailureClass.TRANSPORT), targets, RescueFlags()) == [1, 3, 0, 2]


@pytest.mark.spec("DSP-81")
def test_a_refusal_that_is_not_about_the_plan_opens_no_paid_key() -> None:
    targets = [Rescue(AttemptCause.CLAUDE_PLAN, (PlannedBinding(BindingRef("m", "p")),))]

    def places(vendor_type: str, kind: CredentialKind = CredentialKind.CLAUDE_OAUTH) -> list[int]:
        cause = Cause(FailureClass.AUTH, kind, vendor_type)
        return walked(cause, targets, RescueFlags())

    assert places("permission_error") == [0]
    assert places("authentication_error") == [0]
    assert not places("content_blocked")
    assert not places("permission_error", CredentialKind.API_KEY)


@pytest.mark.spec("DSP-252")
@given(classes, st.booleans())
def test_only_conduct_is_held_against_a_model(
    failure_class: FailureClass, is_cooling: bool
) -> None:
    conduct = Conduct(is_throttle_cooling=is_cooling)
    kind = effects.if_rescued(failure_class, None, conduct)
    is_innocent = failure_class in (
        FailureClass.OVERLOADED,
        FailureClass.MODEL_NOT_FOUND,
        FailureClass.CANCELLED,
        FailureClass.CREDENTIALS_COOLING,
        FailureClass.CREDENTIALS_DISABLED,
        FailureClass.CREDENTIALS_UNREACHABLE,
        FailureClass.NO_ELIGIBLE_PROVIDER,
    )
    if is_innocent:
        assert kind is None
    if failure_class is FailureClass.RATE_LIMITED:
        assert kind is (EffectKind.COOLDOWN if is_cooling else EffectKind.DEMOTE)


@pytest.mark.spec("DSP-256")
def test_an_overload_is_counted_unless_a_baseline_follows() -> None:
    overloaded = FailureClass.OVERLOADED
    assert effects.if_unserved(overloaded, None) is EffectKind.COUNT_OVERLOAD
    assert effects.if_unserved(overloaded, AttemptCause.SIBLING) is EffectKind.COUNT_OVERLOAD
    assert effects.if_unserved(overloaded, AttemptCause.BASELINE) is None


@given(classes)
def test_an_answer_clears_and_a_break_does_not(failure_class: FailureClass) -> None:
    conduct = Conduct(is_throttle_cooling=True)
    assert effects.if_answered(None, conduct) is EffectKind.CLEAR_COUNTS
    broken = effects.if_answered(failure_class, conduct)
    assert broken is not EffectKind.CLEAR_COUNTS
    if failure_class is FailureClass.OVERLOADED:
        assert broken is None


@pytest.mark.spec("DSP-251")
@pytest.mark.parametrize("status", [500, 502, 503, 504, None])
@pytest.mark.parametrize("is_cooling", [True, False])
def test_gateway_faults_cool_a_model_only_where_that_is_wanted(
    status: int | None, is_cooling: bool
) -> None:
    conduct = Conduct(is_transient_cooling=is_cooling)
    cools = is_cooling and status in (502, 503, 504)
    expected = EffectKind.COOLDOWN if cools else EffectKind.DEMOTE
    failure_class = FailureClass.UPSTREAM_STATUS
    assert effects.if_rescued(failure_class, status, conduct) is expected
    assert effects.if_answered(failure_class, conduct) is EffectKind.DEMOTE


@pytest.mark.spec("DSP-252")
def test_an_overload_is_a_strike_only_where_that_is_wanted() -> None:
    overloaded = FailureClass.OVERLOADED
    assert effects.if_rescued(overloaded, 529, Conduct()) is None
    struck = Conduct(is_overload_struck=True)
    assert effects.if_rescued(overloaded, 529, struck) is EffectKind.DEMOTE
    assert effects.if_unserved(overloaded, None) is EffectKind.COUNT_OVERLOAD


def test_a_prompt_that_was_too_long_corrects_the_estimate() -> None:
    too_long = FailureClass.CONTEXT_OVERFLOW
    assert effects.if_rescued(too_long, 400, Conduct()) is EffectKind.CORRECT_ESTIMATE
    assert effects.if_unserved(too_long, None) is EffectKind.CORRECT_ESTIMATE
