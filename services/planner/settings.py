"""Settings of the planner: the table ``[services.planner]``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from services.planner.model.question import Economics
from services.planner.model.rules import Rules
from services.runtime.settings import ServiceSettings

Money = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class PlannerSettings(ServiceSettings):
    """The rules that plans are made under; a call may override each of them."""

    economics: Economics = Economics.VALUE
    """The rule: ``value`` (money and priced risk), or one of the comparison modes ``corrected`` and
    ``legacy`` (money alone, with a tier guard)."""
    threshold_usd: Money | None = None
    """What a switch must be worth to happen. Not set: 0.01 under ``value``, 0.001 otherwise."""
    expected_remaining_actions: int = Field(default=3, ge=0, le=1_000)
    """How many actions a choice is expected to last, the current one included."""
    risk_price_usd: Money = 0.10
    """What one answer that is not good enough costs (``value``); a gateway sends what its scorer
    used."""
    persistence: float = Field(default=0.2, ge=0, le=1)
    """How much of today's gap in risk is expected to last; the rest is the session's mean
    (``value``)."""
    tier_upgrade: bool = True
    """Whether a higher tier switches by itself (``corrected``, ``legacy``)."""
    cold_pin_follow_fresh: bool = False
    """Whether a pin with a cold cache follows the scorer (``corrected``, ``legacy``)."""
    callers: tuple[str, ...] = ()
    """Who may call besides the gateway, named as its metadata `x-caller-service` says."""

    @property
    def rules(self) -> Rules:
        """The settings as the policy takes them."""
        return Rules(
            economics=self.economics,
            threshold_usd=self.threshold_usd,
            remaining_actions=self.expected_remaining_actions,
            is_tier_upgrade_on=self.tier_upgrade,
            is_cold_pin_follow_on=self.cold_pin_follow_fresh,
            risk_price_usd=self.risk_price_usd,
            persistence=self.persistence,
        )
