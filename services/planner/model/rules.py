"""The rules that a plan is made under, as numbers.

The optimum of ``value`` is flat: 2 to 5 remaining actions, a persistence of 0 to 0.7 and a
threshold of 0 to 0.02 USD cost within one per cent of each other in the simulator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from services.planner.model.question import Economics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.planner.model.question import Overrides

THRESHOLD_USD: Mapping[Economics, float] = {
    Economics.VALUE: 0.01,
    Economics.CORRECTED: 0.001,
    Economics.LEGACY: 0.001,
}
"""What a switch must exceed where no threshold is set."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of one service; a threshold of None is the one of the economics in force."""

    economics: Economics = Economics.VALUE
    threshold_usd: float | None = None
    remaining_actions: int = 3
    is_tier_upgrade_on: bool = True
    is_cold_pin_follow_on: bool = False
    risk_price_usd: float = 0.10
    persistence: float = 0.2

    @property
    def threshold(self) -> float:
        """The threshold in force, USD."""
        if self.threshold_usd is None:
            return THRESHOLD_USD[self.economics]
        return self.threshold_usd

    def replaced(self, by: Overrides) -> Rules:
        """Return the rules with what ``by`` names in place of ours."""
        return Rules(
            economics=_either(by.economics, self.economics),
            threshold_usd=_either(by.threshold_usd, self.threshold_usd),
            remaining_actions=_either(by.remaining_actions, self.remaining_actions),
            is_tier_upgrade_on=_either(by.is_tier_upgrade_on, self.is_tier_upgrade_on),
            is_cold_pin_follow_on=_either(by.is_cold_pin_follow_on, self.is_cold_pin_follow_on),
            risk_price_usd=_either(by.risk_price_usd, self.risk_price_usd),
            persistence=_either(by.persistence, self.persistence),
        )


def _either(named: T | None, own: T) -> T:
    return own if named is None else named
