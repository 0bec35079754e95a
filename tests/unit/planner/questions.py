"""Questions for the planner, and the generators of theirs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from services.domain.vocab import ModelTier
from services.planner.model.question import (
    Binding,
    CacheState,
    Economics,
    Fresh,
    ListPrice,
    Pin,
    PriceRow,
    Question,
    SummaryOffer,
)
from services.planner.model.rules import Rules

PIN, FRESH = Binding("pinned", "p1"), Binding("fresh", "p2")

TOP = ListPrice(5.0, 25.0, 0.1, 1.25)
HIGH = ListPrice(3.0, 15.0, 0.1, 1.25)
MID = ListPrice(1.0, 5.0, 0.1, 1.25)
OPEN = ListPrice(0.30, 1.20, 0.2, 1.0)
BY_NAME = {"top": TOP, "high": HIGH, "mid": MID, "open": OPEN}

VALUE = Rules()
CORRECTED = Rules(economics=Economics.CORRECTED)
LEGACY = Rules(economics=Economics.LEGACY)
EVERY_ECONOMICS = (VALUE, CORRECTED, LEGACY)


def question(
    pin: ListPrice | None = TOP,
    fresh: ListPrice | None = MID,
    tokens: int = 50_000,
    prefix: int | None = 40_000,
    output: int = 600,
) -> Question:
    """Return a question about a warm pin; a price of None leaves that side without a row."""
    rows = [(PIN, pin), (FRESH, fresh)]
    return Question(
        fresh=Fresh(FRESH),
        pin=Pin(PIN),
        input_tokens=tokens,
        prefix_tokens=prefix,
        output_tokens=output,
        prices=tuple(PriceRow(binding, price) for binding, price in rows if price is not None),
    )


def pinned(
    base: Question,
    *,
    cache_state: CacheState = CacheState.WARM,
    risk: float | None = None,
    mean: float | None = None,
    tier: ModelTier | None = None,
) -> Question:
    """Return ``base`` with another state of its pin."""
    return replace(base, pin=Pin(PIN, True, cache_state, tier, risk, mean))


def picked(
    base: Question,
    *,
    risk: float | None = None,
    mean: float | None = None,
    tier: ModelTier | None = None,
    leftover: int = 0,
) -> Question:
    """Return ``base`` with other facts of its fresh side."""
    return replace(base, fresh=Fresh(FRESH, tier, risk, mean, leftover))


def cold(base: Question) -> Question:
    """Return ``base`` with a cold pin."""
    assert base.pin is not None
    return replace(base, pin=replace(base.pin, cache_state=CacheState.COLD))


def covered(base: Question, **factors: float) -> Question:
    """Return ``base`` with subscription factors by side."""
    return replace(base, cost_factors=factors)


def scaled(price: ListPrice, by: float) -> ListPrice:
    """Return a price ``by`` times as high."""
    return replace(
        price,
        input_usd_per_mtok=price.input_usd_per_mtok * by,
        output_usd_per_mtok=price.output_usd_per_mtok * by,
    )


def repriced(base: Question, pin_by: float = 1.0, fresh_by: float = 1.0) -> Question:
    """Return ``base`` with the prices of a side multiplied."""
    factor = {PIN.model_id: pin_by, FRESH.model_id: fresh_by}
    rows = (
        PriceRow(row.binding, scaled(row.price, factor[row.binding.model_id]))
        for row in base.prices
    )
    return replace(base, prices=tuple(rows))


@dataclass(frozen=True, slots=True)
class Case:
    """A question with the rules it is asked under."""

    question: Question
    rules: Rules


_RATES = st.integers(1, 60_000).map(lambda thousandths: thousandths / 1000)
_TOKENS = st.integers(0, 200_000)
_SHARES = st.integers(0, 100).map(lambda hundredths: hundredths / 100)
_RISKS = st.none() | _SHARES
_TIERS = st.none() | st.sampled_from(ModelTier)

# A write never costs less than a read: every vendor's list has it so, and the signs rest on it.
list_prices = st.builds(
    ListPrice,
    _RATES,
    _RATES,
    st.integers(1, 100).map(lambda hundredths: hundredths / 100),
    st.integers(100, 200).map(lambda hundredths: hundredths / 100),
)
offers = st.none() | st.builds(
    SummaryOffer, _TOKENS, st.integers(0, 2_000).map(lambda milli: milli / 1000), _TOKENS
)
pins = st.builds(
    Pin, st.just(PIN), st.just(True), st.sampled_from(CacheState), _TIERS, _RISKS, _RISKS
)
freshes = st.builds(Fresh, st.just(FRESH), _TIERS, _RISKS, _RISKS, _TOKENS)
prices = st.tuples(list_prices, list_prices).map(
    lambda pair: (PriceRow(PIN, pair[0]), PriceRow(FRESH, pair[1]))
)
compared = st.builds(
    Question,
    fresh=freshes,
    pin=pins,
    input_tokens=_TOKENS,
    prefix_tokens=st.none() | _TOKENS,
    output_tokens=st.integers(0, 16_000),
    prices=prices,
    cost_factors=st.dictionaries(st.sampled_from(["pinned", "fresh"]), _SHARES),
    summary=offers,
)
"""Questions whose money is computed."""


def rules_of(*economics: Economics) -> st.SearchStrategy[Rules]:
    """Return rules under one of ``economics``."""
    return st.builds(
        Rules,
        economics=st.sampled_from(economics),
        threshold_usd=st.none() | st.integers(0, 500).map(lambda milli: milli / 1000),
        remaining_actions=st.integers(0, 30),
        is_tier_upgrade_on=st.booleans(),
        is_cold_pin_follow_on=st.booleans(),
        risk_price_usd=st.integers(0, 1_000).map(lambda milli: milli / 1000),
        persistence=_SHARES,
    )


def cases(*economics: Economics) -> st.SearchStrategy[Case]:
    """Return questions whose money is computed, with rules under one of ``economics``."""
    return st.builds(Case, compared, rules_of(*(economics or tuple(Economics))))
