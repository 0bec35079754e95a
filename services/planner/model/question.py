"""What one plan is made from. Prices are USD per million tokens, money is USD, sizes are tokens."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.vocab import ModelTier


class Economics(enum.StrEnum):
    """Names a rule for the comparison."""

    VALUE = "value"
    CORRECTED = "corrected"
    LEGACY = "legacy"


class CacheState(enum.StrEnum):
    """Names the warmth of a prompt cache; BROKEN is cold and lets no summary be offered."""

    WARM = "warm"
    COLD = "cold"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Binding:
    """Names one model at one provider."""

    model_id: str
    provider: str
    upstream_id: str = ""
    index: int = 0


@dataclass(frozen=True, slots=True)
class LongContext:
    """Rates that hold for a whole request once its prompt is above a size."""

    threshold_tokens: int
    input_usd_per_mtok: float
    output_usd_per_mtok: float


@dataclass(frozen=True, slots=True)
class ListPrice:
    """List price of one binding; a multiplier of None is not known."""

    input_usd_per_mtok: float
    output_usd_per_mtok: float
    read_multiplier: float | None = None
    write_multiplier: float | None = None
    long_context: LongContext | None = None

    def rates(self, tokens: int) -> tuple[float, float]:
        """Return the input and output rates that hold for a prompt of ``tokens``."""
        long = self.long_context
        if long is None or tokens <= long.threshold_tokens:
            return self.input_usd_per_mtok, self.output_usd_per_mtok
        return long.input_usd_per_mtok, long.output_usd_per_mtok


@dataclass(frozen=True, slots=True)
class PriceRow:
    """The list price of a named binding."""

    binding: Binding
    price: ListPrice


@dataclass(frozen=True, slots=True)
class Pin:
    """What the session is pinned to. A tier or risk of None is unknown."""

    binding: Binding
    has_completed_action: bool = True
    cache_state: CacheState = CacheState.WARM
    tier: ModelTier | None = None
    risk: float | None = None
    mean_risk: float | None = None


@dataclass(frozen=True, slots=True)
class Fresh:
    """The scorer's pick; ``leftover_tokens`` are still cached there from an earlier visit."""

    binding: Binding
    tier: ModelTier | None = None
    risk: float | None = None
    mean_risk: float | None = None
    leftover_tokens: int = 0


@dataclass(frozen=True, slots=True)
class SummaryOffer:
    """A summary that could replace the history on a switch, and what writing it costs."""

    input_tokens: int
    cost_usd: float
    leftover_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """Everything that a verdict depends on, less the rules.

    ``prefix_tokens`` is what the pin's cache can serve, None where nobody knows; a known 0 is 0.
    ``available_models`` of None means no filter. A key in ``cost_factors`` means that the model is
    covered by a subscription, so a factor of 0 makes it free.
    """

    fresh: Fresh
    pin: Pin | None = None
    input_tokens: int = 0
    prefix_tokens: int | None = None
    output_tokens: int = 0
    available_models: frozenset[str] | None = None
    prices: tuple[PriceRow, ...] = ()
    cost_factors: Mapping[str, float] = field(default_factory=dict)
    summary: SummaryOffer | None = None


@dataclass(frozen=True, slots=True)
class Overrides:
    """Rules that differ from the service's own for one plan; None keeps them."""

    economics: Economics | None = None
    threshold_usd: float | None = None
    remaining_actions: int | None = None
    is_tier_upgrade_on: bool | None = None
    is_cold_pin_follow_on: bool | None = None
    risk_price_usd: float | None = None
    persistence: float | None = None
