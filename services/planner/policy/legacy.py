"""Legacy economics: the whole prompt is cached, output costs nothing. A comparison mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.planner.model.decision import ExpectedValue

if TYPE_CHECKING:
    from services.planner.model.decision import SidePrice, UsedInputs


def expected_value(pin: SidePrice, fresh: SidePrice, inputs: UsedInputs) -> ExpectedValue:
    """Return what is saved over the horizon and what losing the warm cache costs.

    A cold pin has no cache to lose and reads at full price on either side.
    """
    tokens = inputs.input_tokens
    pin_rate = pin.input_usd_per_mtok * pin.scale
    fresh_rate = fresh.input_usd_per_mtok * fresh.scale
    if inputs.is_cold:
        per_action = (pin_rate - fresh_rate) * tokens / 1e6
        eviction = 0.0
    else:
        read_gap = pin_rate * pin.read_multiplier - fresh_rate * fresh.read_multiplier
        per_action = read_gap * tokens / 1e6
        eviction = fresh_rate * tokens * (1.0 - fresh.read_multiplier) / 1e6
    return ExpectedValue(per_action, inputs.remaining_actions * per_action, eviction)
