"""The price rule: worked examples by hand, and what must hold of every price."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.catalog import (
    CatalogError,
    FastPrice,
    LongContextPrice,
    Price,
    build_catalog,
)
from services.domain.pricing import cost_of, price_of, usd_text
from services.domain.wire.model import Usage

PLAIN = Price(3.0, 15.0, 0.1, 1.25, 2.0)

counts = st.integers(0, 2_000_000)
rates = st.integers(0, 100_000).map(lambda hundredths: hundredths / 1000)
multipliers = st.none() | st.integers(0, 300).map(lambda hundredths: hundredths / 100)
prices = st.builds(Price, rates, rates, multipliers, multipliers, multipliers)


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    written = draw(st.none() | counts)
    return Usage(
        fresh_input=draw(counts),
        cache_read=draw(st.none() | counts),
        cache_write=written,
        cache_write_1h=draw(st.integers(0, written or 0)),
        output=draw(counts),
    )


@pytest.mark.spec("SCO-59")
@pytest.mark.parametrize(
    ("usage", "micros"),
    [
        (Usage(fresh_input=1000, output=200), 6000),
        (Usage(fresh_input=10, cache_read=100_000, output=1), 30_045),
        (Usage(fresh_input=0, cache_write=1000, cache_write_1h=400), 2250 + 2400),
        (Usage(fresh_input=0, output=0), 0),
    ],
)
def test_each_part_of_the_prompt_has_its_own_rate(usage: Usage, micros: int) -> None:
    assert cost_of(usage, PLAIN).micros == micros


@pytest.mark.spec("SCO-57")
def test_what_is_unknown_is_not_what_is_zero() -> None:
    read, written = Usage(cache_read=1000), Usage(cache_write=1000, cache_write_1h=500)
    assert cost_of(read, Price(2.0, 2.0)).micros == 1000
    assert cost_of(read, Price(2.0, 2.0, 0.0)).micros == 0
    assert cost_of(written, Price(2.0, 2.0)).micros == 2000
    assert cost_of(written, Price(2.0, 2.0, None, 0.0)).micros == 0
    assert cost_of(written, Price(2.0, 2.0, None, 1.5)).micros == 3000


@pytest.mark.spec("SCO-60", "DSP-232")
def test_the_fast_tier_has_its_price_where_one_is_published() -> None:
    usage = Usage(fresh_input=100, cache_read=100, output=10)
    fast = Price(1.0, 2.0, 0.1, fast=FastPrice(10.0, 20.0))
    assert cost_of(usage, fast).micros == 130
    assert cost_of(usage, fast, is_fast=True).micros == 1300
    own = Price(1.0, 2.0, 0.1, fast=FastPrice(10.0, 20.0, 0.5))
    assert cost_of(usage, own, is_fast=True).micros == 1700
    assert cost_of(usage, Price(1.0, 2.0, 0.1), is_fast=True).micros == 130


def test_a_long_prompt_pays_the_long_price_for_all_of_it() -> None:
    price = Price(1.0, 2.0, 0.5, long_context=LongContextPrice(1000, 2.0, 4.0))
    assert cost_of(Usage(fresh_input=500, cache_read=500, output=1), price).micros == 752
    assert cost_of(Usage(fresh_input=501, cache_read=500, output=1), price).micros == 1506


@given(usages(), prices)
def test_the_cost_is_the_exact_sum_rounded_half_up_once(usage: Usage, price: Price) -> None:
    def number(value: float | None, absent: str) -> Decimal:
        return Decimal(absent) if value is None else Decimal(str(value))

    write = number(price.cache_write_multiplier, "1")
    late = usage.cache_write_1h
    tokens = (
        usage.fresh_input
        + (usage.cache_read or 0) * number(price.cache_read_multiplier, "0.5")
        + ((usage.cache_write or 0) - late) * write
        + late * number(price.cache_write_1h_multiplier, str(write))
    )
    exact = tokens * number(price.input_usd_per_mtok, "")
    exact += usage.output * number(price.output_usd_per_mtok, "")
    assert cost_of(usage, price).micros == int(exact.quantize(Decimal(1), ROUND_HALF_UP))


@given(usages(), usages(), prices)
def test_more_tokens_never_cost_less(usage: Usage, more: Usage, price: Price) -> None:
    both = Usage(
        fresh_input=usage.fresh_input + more.fresh_input,
        cache_read=(usage.cache_read or 0) + (more.cache_read or 0),
        cache_write=(usage.cache_write or 0) + (more.cache_write or 0),
        cache_write_1h=usage.cache_write_1h + more.cache_write_1h,
        output=usage.output + more.output,
    )
    one, other, sum_ = (cost_of(each, price) for each in (usage, more, both))
    assert sum_.input_parts == one.input_parts + other.input_parts
    assert sum_.output_parts == one.output_parts + other.output_parts
    assert sum_.micros >= max(one.micros, other.micros)


@pytest.mark.spec("DSP-232")
def test_the_price_is_that_of_the_binding_that_served() -> None:
    rows = [
        {"provider": name, "input_usd_per_mtok": usd, "output_usd_per_mtok": 1.0}
        for name, usd in (("acme", 1.0), ("globex", 2.0), ("acme", 3.0))
    ]
    catalog = build_catalog([{"models": [{"id": "m", "bindings": rows}]}])

    def paid(model: str, provider: str, index: int) -> float | None:
        price = price_of(catalog, model, provider, index)
        return price.input_usd_per_mtok if price else None

    assert (paid("m", "globex", 1), paid("m", "acme", 2)) == (2.0, 3.0)
    assert (paid("m", "globex", 7), paid("m", "nobody", 0)) == (2.0, 1.0)
    assert paid("unknown", "acme", 0) is None


def test_amounts_are_shown_in_plain_decimals() -> None:
    price = Price(0.1, 15.0)
    assert usd_text(cost_of(Usage(fresh_input=1), price).input_parts) == "0.0000001"
    assert usd_text(cost_of(Usage(output=2_000_000), price).output_parts) == "30"
    assert usd_text(0) == "0"
    assert (
        usd_text(cost_of(Usage(fresh_input=1), Price(0.00005, 0.0)).input_parts) == "0.0000000001"
    )


def test_the_catalog_reads_long_and_fast_prices() -> None:
    def build(entry: dict[str, object], binding: dict[str, object]) -> Price:
        row = {"provider": "acme", "input_usd_per_mtok": 1.0, "output_usd_per_mtok": 2.0, **binding}
        return (
            build_catalog([{"models": [{"id": "m", "bindings": [row], **entry}]}])
            .models["m"]
            .bindings[0]
            .price
        )

    long = {"above_tokens": 200_000, "input_usd_per_mtok": 2.0, "output_usd_per_mtok": 3.0}
    fast = {"fast_input_usd_per_mtok": 6.0, "fast_output_usd_per_mtok": 12.0}
    assert build({"long_context_price": long}, {}).long_context == LongContextPrice(
        200_000, 2.0, 3.0
    )
    assert build({}, dict(fast)).fast == FastPrice(6.0, 12.0)
    assert build({}, {}) == Price(1.0, 2.0)
    with pytest.raises(CatalogError, match="fast_output_usd_per_mtok must be set"):
        build({}, {"fast_input_usd_per_mtok": 6.0})
    with pytest.raises(CatalogError, match="above_tokens must be set"):
        build({"long_context_price": {**long, "above_tokens": 0}}, {})
    with pytest.raises(CatalogError, match="unknown key 'threshold'"):
        build({"long_context_price": {**long, "threshold": 0}}, {})
