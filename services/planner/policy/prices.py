"""The price of each side: which row, which rates, which multipliers, which factor.

Prices come from the question and nowhere else, so that what plans and what bills agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.planner.model.decision import SidePrice
from services.planner.model.question import Economics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.planner.model.question import Binding, PriceRow

UNKNOWN_READ = 0.5
"""Cache read multiplier where none is known; legacy and corrected read a 0 alike."""
UNKNOWN_WRITE = 1.25
"""Cache write multiplier of legacy and corrected where none is known or it is 0."""
NO_SURCHARGE = 1.0
"""Cache write multiplier of value where none is known: an unknown surcharge is none."""


def side_price(
    side: Binding,
    rows: Sequence[PriceRow],
    factors: Mapping[str, float],
    tokens: int,
    economics: Economics,
) -> SidePrice | None:
    """Return the price of ``side`` for a prompt of ``tokens``; None for a model without a row.

    A provider without a row takes the first row of the model, which is its primary binding, and
    is flagged.
    """
    first: PriceRow | None = None
    for row in rows:
        if row.binding.model_id != side.model_id:
            continue
        if row.binding.provider == side.provider:
            return _priced(row, factors, tokens, economics, is_fallback=False)
        if first is None:
            first = row
    if first is None:
        return None
    return _priced(first, factors, tokens, economics, is_fallback=True)


def _priced(
    row: PriceRow,
    factors: Mapping[str, float],
    tokens: int,
    economics: Economics,
    *,
    is_fallback: bool,
) -> SidePrice:
    price = row.price
    input_rate, output_rate = price.rates(tokens)
    read, write = price.read_multiplier, price.write_multiplier
    if economics is Economics.VALUE:
        read = UNKNOWN_READ if read is None else read
        write = NO_SURCHARGE if write is None else write
    else:
        read = read or UNKNOWN_READ
        write = write or UNKNOWN_WRITE
    return SidePrice(
        binding=row.binding,
        price=price,
        input_usd_per_mtok=input_rate,
        output_usd_per_mtok=output_rate,
        read_multiplier=read,
        write_multiplier=write,
        factor=factors.get(row.binding.model_id),
        is_fallback=is_fallback,
    )
