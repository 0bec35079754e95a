"""Legacy, corrected and shadow economics by their worked tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.vocab import ModelTier
from services.planner.model.decision import ExpectedValue, ShadowSum, Verdict
from services.planner.model.question import Economics, ListPrice, Question
from services.planner.model.rules import Rules
from services.planner.policy.decision import decide
from tests.unit.planner.questions import (
    CORRECTED,
    EVERY_ECONOMICS,
    HIGH,
    LEGACY,
    MID,
    TOP,
    Case,
    cases,
    cold,
    covered,
    picked,
    pinned,
    question,
)


def expected_of(base: Question, rules: Rules) -> ExpectedValue:
    expected = decide(base, rules).expected_value
    assert expected is not None
    return expected


def shadow_of(base: Question, rules: Rules = LEGACY) -> ShadowSum:
    shadow = decide(base, rules).shadow
    assert shadow is not None
    return shadow


def price(rate: float, read: float = 0.1, write: float | None = None) -> ListPrice:
    return ListPrice(rate, 5 * rate, read, write)


@dataclass(frozen=True)
class Row:
    """One line of the legacy table."""

    pin: ListPrice
    fresh: ListPrice
    tokens: int
    per_action: float
    savings: float
    eviction: float
    total: float
    label: str
    is_cold: bool = False
    tiers: tuple[ModelTier, ModelTier] | None = None
    rules: Rules = LEGACY
    factor: float | None = None


MID_TO_HIGH = (ModelTier.MID, ModelTier.HIGH)
POSITIVE, NEGATIVE = "switch_ev_positive", "stay_ev_negative"
UPWARDS = (price(3), price(5), 50_000, -0.01, -0.03, 0.225, -0.255)
TABLE = {
    "5 to 1": Row(price(5), price(1), 50_000, 0.02, 0.06, 0.045, 0.015, POSITIVE),
    "5 to 1 cold": Row(price(5), price(1), 50_000, 0.2, 0.6, 0, 0.6, POSITIVE, is_cold=True),
    "5 to 3": Row(price(5), price(3), 50_000, 0.01, 0.03, 0.135, -0.105, NEGATIVE),
    "5 to open": Row(
        price(5), price(0.1134, 0.2), 50_000, 0.023866, 0.071598, 0.004536, 0.067062, POSITIVE
    ),
    "3 to 1": Row(price(3), price(1), 100_000, 0.02, 0.06, 0.09, -0.03, NEGATIVE),
    "guard": Row(*UPWARDS, "switch_tier_upgrade", tiers=MID_TO_HIGH),
    "guard off": Row(
        *UPWARDS, NEGATIVE, tiers=MID_TO_HIGH, rules=replace(LEGACY, is_tier_upgrade_on=False)
    ),
    "5 to 1.4": Row(
        price(5),
        price(1.4, 0.1857),
        80_000,
        0.0192,
        0.0576,
        0.0912,
        -0.0336,
        NEGATIVE,
        tiers=(ModelTier.HIGH, ModelTier.HIGH),
    ),
    "3 to .15": Row(price(3), price(0.15, 0), 60_000, 0.0135, 0.0405, 0.0045, 0.036, POSITIVE),
    "covered": Row(
        price(0.1134, 0.2),
        price(5),
        50_000,
        0.000634,
        0.001902,
        0.0045,
        -0.002598,
        NEGATIVE,
        factor=0.02,
    ),
    "covered and free": Row(
        price(0.1134, 0.2), price(5), 50_000, 0.001134, 0.003402, 0, 0.003402, POSITIVE, factor=0.0
    ),
}


def asked(row: Row) -> Question:
    base = question(row.pin, row.fresh, row.tokens)
    if row.tiers is not None:
        base = picked(pinned(base, tier=row.tiers[0]), tier=row.tiers[1])
    if row.factor is not None:
        base = covered(base, fresh=row.factor)
    return cold(base) if row.is_cold else base


# The 5 to 1.4 line of the table is rounded to three significant digits.
@pytest.mark.spec("PLN-20", "PLN-21", "PLN-22")
@pytest.mark.parametrize(("name", "row"), TABLE.items(), ids=TABLE.keys())
def test_the_legacy_table_holds(name: str, row: Row) -> None:
    expected = expected_of(asked(row), row.rules)
    found = (
        expected.per_action_usd,
        expected.savings_usd,
        expected.eviction_usd,
        expected.total_usd,
    )
    slack = 5e-5 if name == "5 to 1.4" else 5e-7
    assert found == pytest.approx((row.per_action, row.savings, row.eviction, row.total), abs=slack)
    assert decide(asked(row), row.rules).label == row.label


def test_a_small_cold_prompt_can_be_worth_a_switch() -> None:
    expected = expected_of(cold(question(price(5), price(1), 300)), LEGACY)
    assert expected.total_usd == pytest.approx(0.0036)
    assert decide(cold(question(price(5), price(1), 300)), LEGACY).label == POSITIVE


@pytest.mark.spec("PLN-23")
def test_without_a_horizon_nothing_is_saved() -> None:
    none = replace(LEGACY, remaining_actions=0)
    assert expected_of(question(), none).savings_usd == 0
    assert decide(question(), none).label == NEGATIVE
    upwards = picked(pinned(question(), tier=ModelTier.LOW), tier=ModelTier.MID)
    assert decide(upwards, none).label == "switch_tier_upgrade"


def test_one_action_must_pay_for_the_switch_by_itself() -> None:
    one = replace(LEGACY, remaining_actions=1)
    assert decide(question(price(5), price(0.51)), one).label == NEGATIVE
    assert decide(question(price(5), price(0.40)), one).label == POSITIVE


@pytest.mark.parametrize("share", [0.24, 0.26])
def test_the_break_even_of_a_warm_legacy_pin_is_a_quarter_of_its_price(share: float) -> None:
    rules = replace(LEGACY, threshold_usd=0.0)
    label = decide(question(price(5), price(5 * share)), rules).label
    assert label == (POSITIVE if share < 0.25 else NEGATIVE)


@pytest.mark.spec("PLN-43")
@given(cases(Economics.LEGACY), st.floats(0, 1), st.floats(0, 2))
def test_a_cold_legacy_pin_does_not_look_at_multipliers(
    case: Case, read: float, write: float
) -> None:
    base = cold(case.question)
    rows = tuple(
        replace(row, price=replace(row.price, read_multiplier=read, write_multiplier=write))
        for row in base.prices
    )
    other = replace(base, prices=rows)
    assert expected_of(other, case.rules) == expected_of(base, case.rules)


@pytest.mark.spec("PLN-27")
@given(cases(Economics.LEGACY), st.integers(0, 100_000), st.integers(0, 9_000))
def test_legacy_reads_neither_prefix_nor_output(case: Case, prefix: int, output: int) -> None:
    other = replace(case.question, prefix_tokens=prefix, output_tokens=output)
    assert expected_of(other, case.rules) == expected_of(case.question, case.rules)


@pytest.mark.spec("PLN-24", "PLN-25", "PLN-26")
@pytest.mark.parametrize(
    ("pin", "fresh", "prefix", "output", "savings", "eviction", "total", "label"),
    [
        (TOP, MID, 40_000, 600, 0.204, 0.046, 0.158, POSITIVE),
        (TOP, HIGH, 40_000, 600, 0.102, 0.138, -0.036, NEGATIVE),
        (TOP, HIGH, None, 0, 0.03, 0.1725, -0.1425, NEGATIVE),
        (HIGH, TOP, 40_000, 600, -0.102, 0.23, -0.332, NEGATIVE),
    ],
)
def test_the_corrected_table_holds(
    pin: ListPrice,
    fresh: ListPrice,
    prefix: int | None,
    output: int,
    savings: float,
    eviction: float,
    total: float,
    label: str,
) -> None:
    base = question(pin, fresh, prefix=prefix, output=output)
    expected = expected_of(base, CORRECTED)
    found = (expected.savings_usd, expected.eviction_usd, expected.total_usd)
    assert found == pytest.approx((savings, eviction, total), abs=5e-7)
    assert decide(base, CORRECTED).label == label


@pytest.mark.spec("PLN-26")
def test_a_cold_corrected_pin_pays_full_rates_and_no_eviction() -> None:
    expected = expected_of(cold(question(TOP, MID, output=0)), CORRECTED)
    assert expected.per_action_usd == pytest.approx(0.2)
    assert expected.eviction_usd == 0


@pytest.mark.spec("PLN-19")
@pytest.mark.parametrize("rules", [LEGACY, CORRECTED], ids=lambda r: r.economics)
def test_a_factor_scales_rates_of_either_side(rules: Rules) -> None:
    both = expected_of(covered(question(), pinned=0.5, fresh=0.5), rules)
    full = expected_of(question(), rules)
    assert both.total_usd == pytest.approx(full.total_usd / 2)
    paid = expected_of(covered(question(), pinned=0.0), rules)
    assert paid.per_action_usd < 0


@pytest.mark.spec("PLN-20")
@pytest.mark.parametrize("rules", [LEGACY, CORRECTED], ids=lambda r: r.economics)
@pytest.mark.parametrize("multiplier", [None, 0.0])
def test_unknown_and_zero_multipliers_have_the_defaults_of_old(
    rules: Rules, multiplier: float | None
) -> None:
    decision = decide(question(fresh=ListPrice(1, 5, multiplier, multiplier)), rules)
    assert decision.fresh_price is not None
    assert decision.fresh_price.read_multiplier == 0.5
    assert decision.fresh_price.write_multiplier == 1.25


@pytest.mark.spec("PLN-28", "PLN-29")
@pytest.mark.parametrize("rules", EVERY_ECONOMICS, ids=lambda r: r.economics)
@pytest.mark.parametrize(
    ("base", "stay", "switch", "saving", "verdict"),
    [
        (question(TOP, MID), 0.21, 0.088, 0.122, Verdict.SWITCH),
        (question(TOP, HIGH), 0.21, 0.264, -0.054, Verdict.STAY),
        (cold(question(HIGH, TOP)), 0.264, 0.44, -0.176, Verdict.STAY),
    ],
)
def test_the_shadow_table_holds(
    rules: Rules, base: Question, stay: float, switch: float, saving: float, verdict: Verdict
) -> None:
    shadow = shadow_of(base, rules)
    found = (shadow.stay_usd, shadow.switch_usd, shadow.saving_usd)
    assert found == pytest.approx((stay, switch, saving), abs=5e-7)
    assert shadow.verdict is verdict


@pytest.mark.spec("PLN-28")
def test_a_shadow_without_a_horizon_counts_the_current_action() -> None:
    none, one = (replace(LEGACY, remaining_actions=count) for count in (0, 1))
    assert shadow_of(question(), none) == shadow_of(question(), one)


@pytest.mark.spec("PLN-30")
def test_the_shadow_may_disagree_and_does_not_act() -> None:
    decision = decide(question(price(3), price(1), 100_000, 20_000, 0), LEGACY)
    assert decision.shadow is not None
    assert decision.shadow.verdict is Verdict.SWITCH
    assert decision.label == NEGATIVE
