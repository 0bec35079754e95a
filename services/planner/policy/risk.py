"""The gap in risk between the two sides, and the order of tiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import ModelTier
from services.planner.model.decision import RiskBasis, RiskGap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.planner.model.question import Fresh, Pin

TIER_STEP_RISK = 0.25
"""Risk that one tier more takes away where the scorer gives none; measured in the simulator."""

_STEP: Mapping[ModelTier, int] = {
    ModelTier.LOW: 1,
    ModelTier.MID: 2,
    ModelTier.HIGH: 3,
    ModelTier.TOP: 4,
}
_UNKNOWN = 0


def risk_gap(pin: Pin, fresh: Fresh) -> RiskGap:
    """Return pin less fresh: of the scorer's risks, else of the tiers, else 0.

    A mean that is missing is the risk of this prompt.
    """
    if pin.risk is not None and fresh.risk is not None:
        pin_mean = pin.risk if pin.mean_risk is None else pin.mean_risk
        fresh_mean = fresh.risk if fresh.mean_risk is None else fresh.mean_risk
        return RiskGap(pin.risk - fresh.risk, pin_mean - fresh_mean, RiskBasis.SCORER)
    steps = (_step(pin.tier), _step(fresh.tier))
    if _UNKNOWN not in steps:
        gap = TIER_STEP_RISK * (steps[1] - steps[0])
        return RiskGap(gap, gap, RiskBasis.TIER_STEP)
    return RiskGap(0.0, 0.0, RiskBasis.NONE)


def is_upgrade(pin: ModelTier | None, fresh: ModelTier | None) -> bool:
    """Return whether the fresh tier is above the pin's; an unknown one is not."""
    return _UNKNOWN < _step(pin) < _step(fresh)


def _step(tier: ModelTier | None) -> int:
    return _UNKNOWN if tier is None else _STEP.get(tier, _UNKNOWN)
