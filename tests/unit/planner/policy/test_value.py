"""Value economics by its worked table and its properties."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.vocab import ModelTier
from services.planner.model.decision import Decision, Reason, RiskBasis, ValueSum, Verdict
from services.planner.model.question import (
    CacheState,
    Economics,
    Fresh,
    ListPrice,
    LongContext,
    Pin,
    PriceRow,
    Question,
    SummaryOffer,
)
from services.planner.model.rules import Rules
from services.planner.policy.decision import decide
from services.planner.policy.risk import risk_gap
from services.planner.policy.value import premium_usd
from tests.unit.planner.questions import (
    BY_NAME,
    CORRECTED,
    FRESH,
    PIN,
    VALUE,
    Case,
    cases,
    cold,
    covered,
    list_prices,
    picked,
    pinned,
    question,
    repriced,
)

BIT = st.sampled_from([-3, -1, 1, 2, 5])


def sums_of(decision: Decision) -> ValueSum:
    assert decision.value_sum is not None
    return decision.value_sum


@dataclass(frozen=True)
class Row:
    """One line of the worked table."""

    pair: str
    risks: tuple[float, float]
    means: tuple[float, float]
    risk_price: float
    stay: float
    switch: float
    quality: float
    value: float
    verdict: Verdict
    tokens: int = 50_000
    prefix: int = 40_000
    output: int = 600
    is_cold: bool = False
    leftover: int = 0
    factor: float | None = None
    summary: SummaryOffer | None = None


STAY, SWITCH = Verdict.STAY, Verdict.SWITCH
TO_HIGH = ((0.01, 0.02), (0.02, 0.05), 0.10)
TABLE = {
    "1 down to mid": Row(
        "top mid", (0.01, 0.05), (0.02, 0.10), 0.10, 0.255, 0.097, -0.0184, 0.1396, SWITCH
    ),
    "2 too weak on average": Row(
        "top mid", (0.01, 0.05), (0.02, 0.90), 0.20, 0.255, 0.097, -0.2928, -0.1348, STAY
    ),
    "3 down to high": Row("top high", *TO_HIGH, 0.255, 0.291, -0.0062, -0.0422, STAY),
    "4 cold pin": Row("top high", *TO_HIGH, 0.485, 0.291, -0.0062, 0.1878, SWITCH, is_cold=True),
    "5 leftover": Row(
        "top high", *TO_HIGH, 0.255, 0.1599, -0.0062, 0.0889, SWITCH, leftover=38_000
    ),
    "6 one hard action": Row(
        "mid top", (0.90, 0.02), (0.30, 0.01), 0.10, 0.051, 0.485, 0.1696, -0.2644, STAY
    ),
    "7 hard on average": Row(
        "mid top", (0.90, 0.02), (0.70, 0.01), 0.50, 0.051, 0.485, 1.168, 0.734, SWITCH
    ),
    "8 covered and free": Row(
        "open top",
        (0.40, 0.01),
        (0.30, 0.02),
        0.10,
        0.01836,
        0.0,
        0.0994,
        0.11776,
        SWITCH,
        factor=0.0,
    ),
    "9 with a summary": Row(
        "top high",
        *TO_HIGH,
        0.54,
        0.29034,
        -0.0062,
        0.24346,
        SWITCH,
        tokens=150_000,
        prefix=130_000,
        summary=SummaryOffer(22_000, 0.154),
    ),
    "10 no prefix": Row(
        "open mid",
        (0.35, 0.05),
        (0.20, 0.04),
        0.10,
        0.00432,
        0.015,
        0.0676,
        0.05692,
        SWITCH,
        tokens=4_000,
        prefix=0,
        output=200,
    ),
}


def asked(row: Row) -> Question:
    pin, fresh = (BY_NAME[name] for name in row.pair.split())
    base = question(pin, fresh, row.tokens, row.prefix, row.output)
    state = CacheState.COLD if row.is_cold else CacheState.WARM
    base = pinned(base, cache_state=state, risk=row.risks[0], mean=row.means[0])
    base = picked(base, risk=row.risks[1], mean=row.means[1], leftover=row.leftover)
    if row.factor is not None:
        base = covered(base, fresh=row.factor)
    return replace(base, summary=row.summary)


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE.keys())
def test_the_worked_table_holds_to_six_digits(row: Row) -> None:
    decision = decide(asked(row), replace(VALUE, risk_price_usd=row.risk_price))
    sums = sums_of(decision)
    assert (
        round(sums.stay_usd, 6),
        round(sums.switch_usd, 6),
        round(sums.quality_usd, 6),
        round(sums.value_usd, 6),
    ) == (row.stay, row.switch, row.quality, row.value)
    assert decision.verdict is row.verdict
    assert sums.is_summary_chosen is (row.summary is not None)
    assert sums.risk.basis is RiskBasis.SCORER
    is_switch = row.verdict is SWITCH
    assert decision.reason is (Reason.VALUE_POSITIVE if is_switch else Reason.VALUE_NEGATIVE)


def test_without_its_summary_the_ninth_case_stays() -> None:
    decision = decide(replace(asked(TABLE["9 with a summary"]), summary=None), VALUE)
    assert round(sums_of(decision).switch_usd, 6) == 0.7725
    assert decision.verdict is STAY


def test_the_tier_guard_of_old_would_have_switched_the_sixth_case() -> None:
    base = asked(TABLE["6 one hard action"])
    base = pinned(base, tier=ModelTier.MID)
    base = picked(base, tier=ModelTier.HIGH)
    assert decide(base, CORRECTED).reason is Reason.TIER_UPGRADE


def money(decision: Decision) -> tuple[float, ...]:
    sums = sums_of(decision)
    return (sums.stay_usd, sums.switch_full_usd, sums.quality_usd, sums.value_usd)


@given(cases(Economics.VALUE))
def test_corrected_and_cost_only_value_agree_on_a_warm_pin(case: Case) -> None:
    rules = replace(case.rules, remaining_actions=max(1, case.rules.remaining_actions))
    assert case.question.pin is not None
    warm = pinned(case.question)
    warm = replace(warm, fresh=replace(warm.fresh, leftover_tokens=0), summary=None)
    warm = replace(warm, prefix_tokens=warm.prefix_tokens or 0)
    value = decide(warm, replace(rules, risk_price_usd=0.0))
    corrected = decide(warm, replace(rules, economics=Economics.CORRECTED))
    assert corrected.expected_value is not None
    assert math.isclose(
        sums_of(value).value_usd,
        corrected.expected_value.total_usd,
        rel_tol=1e-12,
        abs_tol=1e-12 * max(1.0, sums_of(value).stay_usd, sums_of(value).switch_usd),
    )


def value_of(base: Question, rules: Rules) -> float:
    return sums_of(decide(base, rules)).value_usd


@given(cases(Economics.VALUE), st.floats(1, 8))
def test_value_falls_in_fresh_prices_and_rises_in_pin_prices(case: Case, by: float) -> None:
    before = value_of(case.question, case.rules)
    assert value_of(repriced(case.question, fresh_by=by), case.rules) <= before
    assert value_of(repriced(case.question, pin_by=by), case.rules) >= before


RISKS = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted)


@given(cases(Economics.VALUE), RISKS, st.floats(0, 1), st.booleans())
def test_value_follows_each_sides_risk(
    case: Case, risks: list[float], other: float, is_mean: bool
) -> None:
    def on(pin: float, fresh: float) -> float:
        if is_mean:
            base = picked(pinned(case.question, risk=other, mean=pin), risk=other, mean=fresh)
        else:
            base = picked(pinned(case.question, risk=pin, mean=other), risk=fresh, mean=other)
        return value_of(base, case.rules)

    low, high = risks
    assert on(low, other) <= on(high, other)
    assert on(other, low) >= on(other, high)


@pytest.mark.spec("HND-124")
@given(cases(Economics.VALUE), st.integers(0, 50_000), st.floats(0, 1))
def test_value_rises_in_leftovers_and_falls_in_what_a_summary_costs(
    case: Case, more: int, dearer: float
) -> None:
    before = value_of(case.question, case.rules)
    fresh = case.question.fresh
    warmer = replace(fresh, leftover_tokens=fresh.leftover_tokens + more)
    assert value_of(replace(case.question, fresh=warmer), case.rules) >= before
    if case.question.summary is not None:
        offer = replace(case.question.summary, cost_usd=case.question.summary.cost_usd + dearer)
        assert value_of(replace(case.question, summary=offer), case.rules) <= before


@pytest.mark.spec("PLN-7")
@given(cases(Economics.VALUE))
def test_a_value_equal_to_the_threshold_stays(case: Case) -> None:
    value = value_of(case.question, case.rules)
    exact = replace(case.rules, threshold_usd=value, risk_price_usd=case.rules.risk_price_usd)
    decision = decide(case.question, exact)
    assert decision.reason is not Reason.VALUE_POSITIVE
    below = replace(exact, threshold_usd=math.nextafter(value, -math.inf))
    assert decide(case.question, below).reason is Reason.VALUE_POSITIVE


@given(cases(Economics.VALUE), BIT)
def test_money_scales_bit_for_bit_by_powers_of_two(case: Case, power: int) -> None:
    by = 2.0**power
    offer = case.question.summary
    if offer is not None:
        offer = replace(offer, cost_usd=offer.cost_usd * by)
    bigger = replace(repriced(case.question, by, by), summary=offer)
    # A tier guard at a fixed price of risk has a scale of its own; risks keep it out.
    bigger = picked(pinned(bigger, risk=0.3), risk=0.1, leftover=1_000)
    base = picked(pinned(case.question, risk=0.3), risk=0.1, leftover=1_000)
    rules = replace(case.rules, threshold_usd=case.rules.threshold)
    grown = replace(
        rules, threshold_usd=rules.threshold * by, risk_price_usd=rules.risk_price_usd * by
    )
    before, after = decide(base, rules), decide(bigger, grown)
    assert money(after) == tuple(amount * by for amount in money(before))
    assert after.label == before.label


def test_tokens_do_not_scale_once_quality_has_a_price() -> None:
    base = asked(TABLE["2 too weak on average"])
    double = replace(base, input_tokens=100_000, prefix_tokens=80_000, output_tokens=1_200)
    rules = replace(VALUE, risk_price_usd=0.20)
    assert decide(base, rules).verdict is STAY
    assert decide(double, rules).verdict is SWITCH


@given(cases(Economics.VALUE))
def test_without_a_price_of_risk_only_money_decides(case: Case) -> None:
    rules = replace(case.rules, risk_price_usd=0.0)
    sums = sums_of(decide(case.question, rules))
    assert sums.quality_usd == 0
    assert sums.value_usd == sums.stay_usd - sums.switch_usd


@given(cases(Economics.VALUE), list_prices)
def test_equal_sides_are_worth_nothing_and_stay(case: Case, price: ListPrice) -> None:
    base = picked(pinned(case.question, risk=0.4, mean=0.2), risk=0.4, mean=0.2, leftover=300_000)
    rows = (PriceRow(PIN, price), PriceRow(FRESH, price))
    decision = decide(replace(base, prices=rows, cost_factors={}, summary=None), case.rules)
    assert sums_of(decision).value_usd == 0
    assert decision.verdict is STAY


@given(cases(Economics.VALUE), st.floats(0, 1), st.floats(0, 1))
def test_there_and_back_again_costs_both_premiums(
    case: Case, pin_risk: float, fresh_risk: float
) -> None:
    rules = replace(case.rules, persistence=1.0)
    there = replace(picked(pinned(case.question, risk=pin_risk), risk=fresh_risk), summary=None)
    pin_row, fresh_row = there.prices
    back = picked(pinned(there, risk=fresh_risk), risk=pin_risk)
    back = replace(
        back,
        prices=(PriceRow(PIN, fresh_row.price), PriceRow(FRESH, pin_row.price)),
        cost_factors={
            other: there.cost_factors[side]
            for side, other in (("pinned", "fresh"), ("fresh", "pinned"))
            if side in there.cost_factors
        },
    )
    first, second = decide(there, rules), decide(back, rules)
    premiums = sum(
        premium_usd(side, first.inputs.input_tokens, first.inputs.prefix_tokens)
        for side in (first.pin_price, first.fresh_price)
        if side is not None
    )
    total = sums_of(first).value_usd + sums_of(second).value_usd
    size = max(1.0, sums_of(first).stay_usd, sums_of(second).stay_usd)
    assert math.isclose(total, -premiums, rel_tol=1e-9, abs_tol=1e-12 * size)
    assert [first.verdict, second.verdict] != [SWITCH, SWITCH] or rules.threshold < 1e-9


@given(cases(Economics.VALUE))
def test_a_cold_pin_adds_its_premium_and_a_leftover_saves_its_own(case: Case) -> None:
    base = replace(pinned(case.question, risk=0.2), summary=None)
    bare = replace(base, fresh=replace(base.fresh, leftover_tokens=0))
    warm, chilled = sums_of(decide(base, case.rules)), sums_of(decide(cold(base), case.rules))
    decision = decide(base, case.rules)
    assert decision.pin_price is not None
    assert decision.fresh_price is not None
    tokens, prefix = decision.inputs.input_tokens, decision.inputs.prefix_tokens
    assert chilled.stay_usd - warm.stay_usd == pytest.approx(
        premium_usd(decision.pin_price, tokens, prefix), rel=1e-9, abs=1e-9
    )
    saved = sums_of(decide(bare, case.rules)).switch_usd - warm.switch_usd
    assert saved == pytest.approx(
        premium_usd(decision.fresh_price, tokens, decision.inputs.leftover_tokens),
        rel=1e-9,
        abs=1e-9,
    )


@given(cases(Economics.VALUE), st.integers(1, 100_000))
def test_a_prefix_above_the_prompt_is_cut_and_without_one_warmth_does_not_matter(
    case: Case, more: int
) -> None:
    tokens = case.question.input_tokens
    whole = replace(case.question, prefix_tokens=tokens)
    beyond = replace(case.question, prefix_tokens=tokens + more)
    assert decide(beyond, case.rules) == decide(whole, case.rules)
    none = replace(case.question, prefix_tokens=0)
    assert value_of(cold(none), case.rules) == value_of(pinned_warm(none), case.rules)
    bare = replace(none, fresh=replace(none.fresh, leftover_tokens=0))
    assert value_of(bare, case.rules) == value_of(none, case.rules)


def pinned_warm(base: Question) -> Question:
    assert base.pin is not None
    return replace(base, pin=replace(base.pin, cache_state=CacheState.WARM))


@given(cases(Economics.VALUE))
def test_an_offered_summary_never_makes_switching_dearer(case: Case) -> None:
    offered, without = case.question, replace(case.question, summary=None)
    with_it, bare = decide(offered, case.rules), decide(without, case.rules)
    assert sums_of(with_it).switch_usd <= sums_of(bare).switch_usd
    assert not sums_of(bare).is_summary_chosen
    if not sums_of(with_it).is_summary_chosen:
        assert with_it.label == bare.label


@given(cases(Economics.VALUE))
def test_no_summary_is_chosen_for_a_cold_or_broken_pin_or_without_a_prefix(case: Case) -> None:
    base = replace(case.question, summary=SummaryOffer(0, 0.0))
    for state in (CacheState.COLD, CacheState.BROKEN):
        assert (
            sums_of(decide(pinned(base, cache_state=state), case.rules)).switch_summary_usd is None
        )
    empty = replace(pinned(base), prefix_tokens=0)
    assert sums_of(decide(empty, case.rules)).switch_summary_usd is None


@pytest.mark.spec("PLN-19")
@given(cases(Economics.VALUE))
def test_when_both_sides_are_free_only_quality_decides(case: Case) -> None:
    free = replace(covered(case.question, pinned=0.0, fresh=0.0), summary=None)
    sums = sums_of(decide(free, case.rules))
    assert sums.value_usd == sums.quality_usd


def test_a_factor_scales_output_too() -> None:
    only_output = question(tokens=0, prefix=0, output=1_000)
    sums = sums_of(decide(covered(only_output, pinned=0.5), VALUE))
    assert sums.stay_usd == 3 * 0.5 * 0.025


def test_an_unknown_prefix_is_85_hundredths_of_the_prompt_and_a_known_zero_is_zero() -> None:
    inputs = decide(question(prefix=None), VALUE).inputs
    assert (inputs.prefix_tokens, inputs.cached_share, inputs.is_prefix_known) == (
        42_500,
        0.85,
        False,
    )
    known = decide(question(prefix=0), VALUE).inputs
    assert (known.prefix_tokens, known.cached_share, known.is_prefix_known) == (0, 0.0, True)


def test_absent_multipliers_are_half_and_no_surcharge_and_a_present_zero_is_zero() -> None:
    decision = decide(question(ListPrice(5, 25), ListPrice(1, 5, 0.0, 0.0)), VALUE)
    assert decision.pin_price is not None
    assert decision.fresh_price is not None
    assert (decision.pin_price.read_multiplier, decision.pin_price.write_multiplier) == (0.5, 1.0)
    assert (decision.fresh_price.read_multiplier, decision.fresh_price.write_multiplier) == (0, 0)


def test_long_prompts_pay_long_rates_and_a_summary_escapes_them() -> None:
    long = ListPrice(3, 15, 0.1, 1.25, LongContext(200_000, 6, 22.5))
    base = replace(question(fresh=long, tokens=200_000), summary=SummaryOffer(20_000, 0.0))
    at_the_border = decide(base, VALUE)
    above = decide(replace(base, input_tokens=200_001), VALUE)
    assert at_the_border.fresh_price is not None
    assert above.fresh_price is not None
    assert at_the_border.fresh_price.input_usd_per_mtok == 3
    assert (above.fresh_price.input_usd_per_mtok, above.fresh_price.output_usd_per_mtok) == (
        6,
        22.5,
    )
    shortened = sums_of(above).switch_summary_usd
    assert shortened is not None
    assert shortened == pytest.approx(sums_of(at_the_border).switch_summary_usd, rel=1e-4)


def test_unknown_risks_are_guessed_from_tiers_and_unknown_tiers_say_nothing() -> None:
    base = pinned(question(), tier=ModelTier.LOW, risk=0.9)
    guessed = sums_of(decide(picked(base, tier=ModelTier.TOP), VALUE)).risk
    assert (guessed.gap, guessed.mean, guessed.basis) == (0.75, 0.75, RiskBasis.TIER_STEP)
    for tier in (None, ModelTier.UNKNOWN):
        nothing = sums_of(decide(picked(base, tier=tier, mean=0.5), VALUE)).risk
        assert (nothing.gap, nothing.mean, nothing.basis) == (0.0, 0.0, RiskBasis.NONE)


def test_an_unknown_mean_is_the_risk_of_this_prompt() -> None:
    base = picked(pinned(question(), risk=0.5), risk=0.25, mean=0.125)
    assert sums_of(decide(base, VALUE)).risk.mean == 0.375


def test_a_dear_risk_that_is_only_guessed_gives_way_to_the_tier_guard() -> None:
    base = picked(pinned(question(fresh=BY_NAME["high"]), tier=ModelTier.MID), tier=ModelTier.HIGH)
    base = repriced(base, fresh_by=100.0)
    dear, cheap = replace(VALUE, risk_price_usd=0.2), replace(VALUE, risk_price_usd=0.199)
    assert decide(base, dear).reason is Reason.TIER_UPGRADE
    assert sums_of(decide(base, dear)).quality_usd == 0
    assert decide(base, cheap).reason is Reason.VALUE_NEGATIVE
    assert sums_of(decide(base, cheap)).quality_usd > 0
    known = picked(pinned(base, tier=ModelTier.MID, risk=0.1), tier=ModelTier.HIGH, risk=0.1)
    assert decide(known, dear).reason is Reason.VALUE_NEGATIVE


def test_no_horizon_is_that_of_this_action_alone() -> None:
    offered = replace(question(), summary=SummaryOffer(9_000, 0.001))
    for asked in (question(), offered):
        none, one = (
            sums_of(decide(asked, replace(VALUE, remaining_actions=count))) for count in (0, 1)
        )
        assert none == one


def test_a_mean_risk_of_0_is_known() -> None:
    pin = Pin(PIN, risk=0.4, mean_risk=0.0)
    fresh = Fresh(FRESH, risk=0.1, mean_risk=0.0)
    assert risk_gap(pin, fresh).mean == 0.0


def test_what_is_left_of_a_summarised_prefix_is_no_more_than_that() -> None:
    whole, more = (
        sums_of(decide(replace(question(), summary=SummaryOffer(9_000, 0.001, left)), VALUE))
        for left in (9_000, 90_000)
    )
    assert whole.switch_summary_usd is not None
    assert whole == more


def test_the_shadow_model_stays_at_its_threshold() -> None:
    shadow = decide(question(), VALUE).shadow
    assert shadow is not None
    exact = replace(VALUE, threshold_usd=shadow.saving_usd)
    again = decide(question(), exact).shadow
    assert again is not None
    assert again.verdict is Verdict.STAY
