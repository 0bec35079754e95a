"""The rows of the decision, in their order, and what holds for every economics."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.vocab import ModelTier
from services.planner.model.decision import Decision, Reason, Verdict
from services.planner.model.question import (
    Binding,
    CacheState,
    Economics,
    Fresh,
    ListPrice,
    Overrides,
    Pin,
    PriceRow,
    Question,
)
from services.planner.model.rules import Rules
from services.planner.policy.decision import decide
from tests.unit.planner.questions import (
    CORRECTED,
    EVERY_ECONOMICS,
    FRESH,
    HIGH,
    LEGACY,
    MID,
    PIN,
    TOP,
    VALUE,
    Case,
    cases,
    cold,
    compared,
    picked,
    pinned,
    question,
    repriced,
    rules_of,
)

every_economics = pytest.mark.parametrize("rules", EVERY_ECONOMICS, ids=lambda r: r.economics)
SWITCHES = frozenset(
    {
        Reason.NO_PIN,
        Reason.PIN_MODEL_MISSING,
        Reason.EV_POSITIVE,
        Reason.TIER_UPGRADE,
        Reason.COLD_PIN_FOLLOW_FRESH,
        Reason.VALUE_POSITIVE,
    }
)


def unusable(base: Question) -> Question:
    """Return a question that every early row could decide."""
    assert base.pin is not None
    return replace(
        base,
        pin=replace(base.pin, has_completed_action=False),
        available_models=frozenset({"fresh"}),
        prices=(),
    )


@pytest.mark.spec("PLN-6", "PLN-10")
@every_economics
def test_each_row_is_tested_before_the_next(rules: Rules) -> None:
    worst = unusable(question())
    assert worst.pin is not None
    same = replace(worst, fresh=Fresh(Binding("pinned", "p2")))
    steps = [
        (replace(same, pin=None), "switch_no_pin"),
        (same, "stay_same_model"),
        (worst, "switch_pin_model_missing"),
        (replace(worst, available_models=frozenset({"pinned"})), "stay_no_prior_usage"),
        (replace(worst, available_models=None, pin=Pin(PIN)), "stay_pricing_missing"),
    ]
    for asked, label in steps:
        decision = decide(cold(asked) if asked.pin else asked, rules)
        assert decision.label == label
        assert decision.expected_value is None
        assert decision.value_sum is None
        assert decision.shadow is None
        assert decision.inputs.is_cold is False


@pytest.mark.spec("PLN-8")
@every_economics
def test_the_same_model_at_another_provider_stays(rules: Rules) -> None:
    other = replace(question(), fresh=Fresh(Binding("pinned", "elsewhere", "with-effort")))
    assert decide(other, rules).label == "stay_same_model"


@every_economics
def test_an_empty_filter_misses_the_pin(rules: Rules) -> None:
    assert decide(replace(question(), available_models=frozenset()), rules).reason is (
        Reason.PIN_MODEL_MISSING
    )


@pytest.mark.spec("PLN-3")
@every_economics
@pytest.mark.parametrize(("pin", "fresh"), [(None, MID), (TOP, None)])
def test_a_side_without_a_price_stays(
    rules: Rules, pin: ListPrice | None, fresh: ListPrice | None
) -> None:
    decision = decide(question(pin, fresh), rules)
    assert decision.reason is Reason.PRICING_MISSING
    assert (decision.pin_price is None, decision.fresh_price is None) == (
        pin is None,
        fresh is None,
    )


@pytest.mark.spec("PLN-18")
@every_economics
def test_a_provider_without_a_row_takes_the_primary_binding_and_says_so(rules: Rules) -> None:
    rows = (
        PriceRow(Binding("pinned", "first"), TOP),
        PriceRow(Binding("pinned", "second"), HIGH),
        PriceRow(FRESH, MID),
    )
    decision = decide(replace(question(), prices=rows), rules)
    assert decision.pin_price is not None
    assert decision.fresh_price is not None
    assert (decision.pin_price.binding.provider, decision.pin_price.is_fallback) == ("first", True)
    assert decision.fresh_price.is_fallback is False
    own = replace(question(), prices=(*rows, PriceRow(PIN, MID)))
    exact = decide(own, rules).pin_price
    assert exact is not None
    assert (exact.price, exact.is_fallback) == (MID, False)


@pytest.mark.spec("PLN-9")
@pytest.mark.parametrize("rules", [LEGACY, CORRECTED], ids=lambda r: r.economics)
@pytest.mark.parametrize(
    ("pin", "fresh", "is_upgrade"),
    [
        (ModelTier.LOW, ModelTier.MID, True),
        (ModelTier.MID, ModelTier.TOP, True),
        (ModelTier.HIGH, ModelTier.TOP, True),
        (ModelTier.TOP, ModelTier.HIGH, False),
        (ModelTier.MID, ModelTier.MID, False),
        (ModelTier.HIGH, ModelTier.LOW, False),
        (None, ModelTier.HIGH, False),
        (ModelTier.UNKNOWN, ModelTier.HIGH, False),
        (ModelTier.LOW, None, False),
        (ModelTier.LOW, ModelTier.UNKNOWN, False),
    ],
)
def test_the_tier_guard_only_lifts_between_known_tiers(
    rules: Rules, pin: ModelTier | None, fresh: ModelTier | None, is_upgrade: bool
) -> None:
    base = picked(pinned(question(MID, TOP), tier=pin), tier=fresh)
    reason = Reason.TIER_UPGRADE if is_upgrade else Reason.EV_NEGATIVE
    assert decide(base, rules).reason is reason
    off = replace(rules, is_tier_upgrade_on=False)
    assert decide(base, off).reason is Reason.EV_NEGATIVE


@pytest.mark.parametrize("rules", [LEGACY, CORRECTED], ids=lambda r: r.economics)
def test_a_cold_pin_follows_only_where_told_to_and_after_the_tier_guard(rules: Rules) -> None:
    base = cold(question(MID, TOP))
    assert decide(base, rules).reason is Reason.EV_NEGATIVE
    following = replace(rules, is_cold_pin_follow_on=True)
    assert decide(base, following).reason is Reason.COLD_PIN_FOLLOW_FRESH
    assert decide(question(MID, TOP), following).reason is Reason.EV_NEGATIVE
    lifted = replace(base, pin=Pin(PIN, True, CacheState.COLD, ModelTier.LOW))
    assert decide(picked(lifted, tier=ModelTier.HIGH), following).reason is Reason.TIER_UPGRADE


@every_economics
def test_no_tokens_are_worth_no_switch(rules: Rules) -> None:
    decision = decide(question(tokens=0, prefix=0, output=0), rules)
    assert decision.verdict is Verdict.STAY


@pytest.mark.spec("PLN-14")
@every_economics
def test_a_pin_is_warm_unless_said_and_a_broken_one_is_cold(rules: Rules) -> None:
    assert decide(question(), rules).inputs.is_cold is False
    for state in (CacheState.COLD, CacheState.BROKEN):
        assert decide(pinned(question(), cache_state=state), rules).inputs.is_cold is True


@pytest.mark.spec("PLN-17")
@pytest.mark.parametrize("rules", [LEGACY, CORRECTED], ids=lambda r: r.economics)
@pytest.mark.parametrize(
    ("prefix", "share"), [(None, 1.0), (0, 0.0), (40_000, 0.8), (50_000, 1.0), (90_000, 1.0)]
)
def test_the_cached_share_is_one_when_unknown_and_zero_when_measured_so(
    rules: Rules, prefix: int | None, share: float
) -> None:
    inputs = decide(question(prefix=prefix), rules).inputs
    assert inputs.cached_share == share
    assert inputs.is_prefix_known is (prefix is not None)


@pytest.mark.spec("PLN-17")
def test_a_prefix_below_zero_is_none_at_all() -> None:
    assert decide(question(prefix=-5), VALUE).inputs.prefix_tokens == 0


@pytest.mark.spec("PLN-2", "PLN-30")
@given(cases())
def test_a_verdict_goes_with_its_reason_and_shadow_values_go_with_money(case: Case) -> None:
    decision = decide(case.question, case.rules)
    assert (decision.verdict is Verdict.SWITCH) == (decision.reason in SWITCHES)
    assert decision.shadow is not None
    assert (decision.value_sum is None) == (case.rules.economics is not Economics.VALUE)
    assert (decision.expected_value is None) == (case.rules.economics is Economics.VALUE)


@pytest.mark.spec("PLN-1")
@given(cases())
def test_equal_questions_have_equal_answers(case: Case) -> None:
    twin = Case(replace(case.question), replace(case.rules))
    assert repr(decide(case.question, case.rules)) == repr(decide(twin.question, twin.rules))


@pytest.mark.spec("PLN-43")
@given(cases(), st.floats(1, 10), st.floats(0, 1))
def test_a_dearer_pin_or_a_cheaper_pick_never_turns_a_switch_into_a_stay(
    case: Case, up: float, down: float
) -> None:
    if decide(case.question, case.rules).verdict is Verdict.SWITCH:
        assert decide(repriced(case.question, pin_by=up), case.rules).verdict is Verdict.SWITCH
        cheaper = repriced(case.question, fresh_by=down)
        assert decide(cheaper, case.rules).verdict is Verdict.SWITCH


@pytest.mark.spec("PLN-43")
@given(cases(), st.floats(0, 1))
def test_a_higher_threshold_never_turns_a_stay_into_a_switch_for_money(
    case: Case, more: float
) -> None:
    money = (Reason.EV_POSITIVE, Reason.VALUE_POSITIVE)
    if decide(case.question, case.rules).reason not in money:
        higher = replace(case.rules, threshold_usd=case.rules.threshold + more)
        assert decide(case.question, higher).reason not in money


def scaled_money(decision: Decision, by: float) -> list[float]:
    expected = decision.expected_value
    assert expected is not None
    return [by * getattr(expected, part.name) for part in fields(expected)]


@pytest.mark.spec("PLN-43")
@given(cases(Economics.LEGACY, Economics.CORRECTED), st.sampled_from([-3, -1, 1, 4]))
def test_prices_and_threshold_scale_together(case: Case, power: int) -> None:
    by = 2.0**power
    rules = replace(case.rules, threshold_usd=case.rules.threshold * by)
    before = decide(case.question, case.rules)
    after = decide(repriced(case.question, by, by), rules)
    assert after.label == before.label
    assert scaled_money(after, 1.0) == scaled_money(before, by)


@pytest.mark.spec("PLN-7")
@given(cases(Economics.LEGACY, Economics.CORRECTED))
def test_an_expected_value_equal_to_the_threshold_stays(case: Case) -> None:
    expected = decide(case.question, case.rules).expected_value
    assert expected is not None
    at = replace(case.rules, threshold_usd=expected.total_usd)
    assert decide(case.question, at).reason is not Reason.EV_POSITIVE
    below = replace(at, threshold_usd=math.nextafter(expected.total_usd, -math.inf))
    assert decide(case.question, below).reason is Reason.EV_POSITIVE


@pytest.mark.spec("PLN-2")
@given(compared, rules_of(*Economics), st.builds(Overrides))
def test_overrides_that_name_nothing_change_nothing(
    asked: Question, rules: Rules, none: Overrides
) -> None:
    assert decide(asked, rules.replaced(none)) == decide(asked, rules)


def test_overrides_replace_what_they_name_and_thresholds_follow_the_economics() -> None:
    assert VALUE.threshold == 0.01
    assert VALUE.replaced(Overrides(economics=Economics.LEGACY)).threshold == 0.001
    own = Rules(threshold_usd=0.5)
    assert own.replaced(Overrides(economics=Economics.LEGACY)).threshold == 0.5
    everything = Overrides(Economics.CORRECTED, 0.0, 0, False, True, 0.0, 0.0)
    assert own.replaced(everything) == Rules(Economics.CORRECTED, 0.0, 0, False, True, 0.0, 0.0)


def test_quality_has_a_price_and_lasts_under_value_alone() -> None:
    for rules in EVERY_ECONOMICS:
        priced = replace(rules, risk_price_usd=0.3, persistence=0.4)
        inputs = decide(question(), priced).inputs
        wanted = (0.3, 0.4) if rules.economics is Economics.VALUE else (0.0, 0.0)
        assert (inputs.risk_price_usd, inputs.persistence) == wanted
