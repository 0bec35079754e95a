"""What the tokens of one attempt cost, exactly: the one price rule of bills.

Amounts are whole numbers of *parts*, a million-millionth of a micro-USD, so that nothing is lost
before the one rounding, half up, to whole micro-USD.

What a price does not say: tokens read from a cache cost half (the mildest discount that vendors
give), tokens written to one cost as much as fresh ones, those of a 1-hour cache as much as others
written. A multiplier that is stated holds as it is, 0 too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.domain.fields import micro_usd

if TYPE_CHECKING:
    from services.domain.catalog import Catalog, Price
    from services.domain.fields import Fields
    from services.domain.wire.model import Usage

MICROS_PER_USD = 1_000_000
MILLION = 1_000_000
PARTS_PER_MICRO = MILLION * MILLION
"""A rate in micro-USD per million tokens times a multiplier in millionths."""
UNKNOWN_READ = 0.5
UNKNOWN_WRITE = 1.0
SHOWN_DECIMALS = 10


@dataclass(frozen=True, slots=True)
class Rates:
    """What one attempt pays: micro-USD per million tokens, multipliers in millionths."""

    input_micros_per_mtok: int
    output_micros_per_mtok: int
    read_millionths: int
    write_millionths: int
    write_1h_millionths: int


@dataclass(frozen=True, slots=True)
class Cost:
    """Exact cost of one attempt, in parts."""

    input_parts: int
    output_parts: int

    @property
    def micros(self) -> int:
        """Whole micro-USD, rounded half up once."""
        return (2 * (self.input_parts + self.output_parts) + PARTS_PER_MICRO) // (
            2 * PARTS_PER_MICRO
        )


def rates_of(price: Price, prompt_tokens: int, *, is_fast: bool = False) -> Rates:
    """Return the rates of an attempt by the size of its whole prompt and its tier.

    A fast attempt at a binding without a fast price pays the plain one. Above the long-context
    threshold its rates hold for the whole request; the fast tier knows no threshold.
    """
    read = price.cache_read_multiplier
    input_usd, output_usd = price.input_usd_per_mtok, price.output_usd_per_mtok
    if is_fast and price.fast is not None:
        fast = price.fast
        input_usd, output_usd = fast.input_usd_per_mtok, fast.output_usd_per_mtok
        read = read if fast.cache_read_multiplier is None else fast.cache_read_multiplier
    elif price.long_context is not None and prompt_tokens > price.long_context.above_tokens:
        input_usd = price.long_context.input_usd_per_mtok
        output_usd = price.long_context.output_usd_per_mtok
    write = UNKNOWN_WRITE if price.cache_write_multiplier is None else price.cache_write_multiplier
    write_1h = price.cache_write_1h_multiplier
    return Rates(
        input_micros_per_mtok=round(input_usd * MICROS_PER_USD),
        output_micros_per_mtok=round(output_usd * MICROS_PER_USD),
        read_millionths=round((UNKNOWN_READ if read is None else read) * MILLION),
        write_millionths=round(write * MILLION),
        write_1h_millionths=round((write if write_1h is None else write_1h) * MILLION),
    )


def cost_at(usage: Usage, rates: Rates) -> Cost:
    """Return what ``usage`` costs at ``rates``; counts below 0 are 0."""
    written = max(0, usage.cache_write or 0)
    written_1h = min(max(0, usage.cache_write_1h), written)
    weighted = (
        max(0, usage.fresh_input) * MILLION
        + max(0, usage.cache_read or 0) * rates.read_millionths
        + (written - written_1h) * rates.write_millionths
        + written_1h * rates.write_1h_millionths
    )
    return Cost(
        input_parts=weighted * rates.input_micros_per_mtok,
        output_parts=max(0, usage.output) * MILLION * rates.output_micros_per_mtok,
    )


def cost_of(usage: Usage, price: Price, *, is_fast: bool = False) -> Cost:
    """Return what ``usage`` costs at a list price."""
    return cost_at(usage, rates_of(price, prompt_tokens(usage), is_fast=is_fast))


def prompt_tokens(usage: Usage) -> int:
    """Return the size of the whole prompt: fresh, read and written."""
    read, written = usage.cache_read or 0, usage.cache_write or 0
    return max(0, usage.fresh_input) + max(0, read) + max(0, written)


def price_of(catalog: Catalog, model_id: str, provider: str, index: int) -> Price | None:
    """Return the price of the binding that served, else the model's first; None: no such model."""
    model = catalog.models.get(model_id)
    if model is None:
        return None
    bound = None
    for binding in model.bindings:
        if binding.provider == provider:
            if binding.index == index:
                return binding.price
            bound = bound or binding
    return (bound or model.bindings[0]).price


def usd_text(parts: int) -> str:
    """Return an amount in USD with at most ten decimals, without an exponent, half up."""
    unit = MICROS_PER_USD * PARTS_PER_MICRO // 10**SHOWN_DECIMALS
    shown = (2 * parts + unit) // (2 * unit)
    whole, decimals = divmod(shown, 10**SHOWN_DECIMALS)
    return f"{whole}.{decimals:0{SHOWN_DECIMALS}d}".rstrip("0").rstrip(".")


def list_price(price: Price) -> Fields:
    """Return the fields of the message of a list price."""
    long = price.long_context
    return {
        "input_micro_usd_per_mtok": micro_usd(price.input_usd_per_mtok),
        "output_micro_usd_per_mtok": micro_usd(price.output_usd_per_mtok),
        "cache_read_multiplier": price.cache_read_multiplier,
        "cache_write_multiplier": price.cache_write_multiplier,
        "cache_write_one_hour_multiplier": price.cache_write_1h_multiplier,
        "long_context": {
            "threshold_token_count": long.above_tokens,
            "input_micro_usd_per_mtok": micro_usd(long.input_usd_per_mtok),
            "output_micro_usd_per_mtok": micro_usd(long.output_usd_per_mtok),
        }
        if long is not None
        else None,
    }
