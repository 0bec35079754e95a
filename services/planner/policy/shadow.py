"""The inclusive model that is recorded beside every comparison and never acts.

It counts the current action once, charges the cache write on whichever side pays it, and keeps
prefix and tail apart; it knows neither output nor quality.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.planner.model.decision import ShadowSum, Verdict

if TYPE_CHECKING:
    from services.planner.model.decision import SidePrice, UsedInputs


def shadow_sum(pin: SidePrice, fresh: SidePrice, inputs: UsedInputs) -> ShadowSum:
    """Return what the model reckons for both sides and what it would have decided."""
    prefix = inputs.prefix_tokens
    tail = inputs.input_tokens - prefix
    later = max(inputs.remaining_actions, 1) - 1
    pin_warm = _prompt(pin, prefix, tail, pin.read_multiplier)
    pin_first = _prompt(pin, prefix, tail, pin.write_multiplier) if inputs.is_cold else pin_warm
    fresh_warm = _prompt(fresh, prefix, tail, fresh.read_multiplier)
    fresh_first = _prompt(fresh, prefix, tail, fresh.write_multiplier)
    stay = pin_first + later * pin_warm
    switch = fresh_first + later * fresh_warm
    verdict = Verdict.SWITCH if stay - switch > inputs.threshold_usd else Verdict.STAY
    return ShadowSum(stay, switch, verdict)


def _prompt(side: SidePrice, prefix: int, tail: int, multiplier: float) -> float:
    rate = side.input_usd_per_mtok * side.scale
    return (prefix * rate * multiplier + tail * rate) / 1e6
