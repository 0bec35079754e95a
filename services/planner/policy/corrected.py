"""Corrected economics: only the cached share is warm, output has a price. A comparison mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.planner.model.decision import ExpectedValue

if TYPE_CHECKING:
    from services.planner.model.decision import SidePrice, UsedInputs


def expected_value(pin: SidePrice, fresh: SidePrice, inputs: UsedInputs) -> ExpectedValue:
    """Return what is saved over the horizon and what writing the prefix anew costs."""
    tokens = inputs.input_tokens
    share = 0.0 if inputs.is_cold else inputs.cached_share
    prompt = tokens * (_rate(pin, share) - _rate(fresh, share))
    pin_output = pin.output_usd_per_mtok * pin.scale
    fresh_output = fresh.output_usd_per_mtok * fresh.scale
    per_action = prompt + inputs.output_tokens * (pin_output - fresh_output) / 1e6
    surcharge = fresh.write_multiplier - fresh.read_multiplier
    eviction = tokens * share * (fresh.input_usd_per_mtok * fresh.scale) * surcharge / 1e6
    return ExpectedValue(per_action, inputs.remaining_actions * per_action, eviction)


def _rate(side: SidePrice, share: float) -> float:
    """Return the price of one prompt token of which ``share`` is read from the cache."""
    rate = side.input_usd_per_mtok * side.scale
    return rate * (1.0 - share * (1.0 - side.read_multiplier)) / 1e6
