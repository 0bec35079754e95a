"""What a plan answers: the verdict, the row that decided, and every number it rests on."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.planner.model.question import Binding, Economics, ListPrice


class Verdict(enum.StrEnum):
    """Says what to do."""

    STAY = "stay"
    SWITCH = "switch"


class Reason(enum.StrEnum):
    """Names the row that decided, in the order in which rows are tested."""

    NO_PIN = "no_pin"
    SAME_MODEL = "same_model"
    PIN_MODEL_MISSING = "pin_model_missing"
    NO_PRIOR_USAGE = "no_prior_usage"
    PRICING_MISSING = "pricing_missing"
    EV_POSITIVE = "ev_positive"
    TIER_UPGRADE = "tier_upgrade"
    COLD_PIN_FOLLOW_FRESH = "cold_pin_follow_fresh"
    EV_NEGATIVE = "ev_negative"
    VALUE_POSITIVE = "value_positive"
    VALUE_NEGATIVE = "value_negative"


class RiskBasis(enum.StrEnum):
    """Says where a risk gap comes from."""

    SCORER = "scorer"
    TIER_STEP = "tier_step"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class SidePrice:
    """The price that one side was reckoned with.

    Rates are list rates at the prompt's length; ``factor`` is None where no subscription covers
    the model. Multipliers are those after defaults.
    """

    binding: Binding
    price: ListPrice
    input_usd_per_mtok: float
    output_usd_per_mtok: float
    read_multiplier: float
    write_multiplier: float
    factor: float | None
    is_fallback: bool

    @property
    def scale(self) -> float:
        """The factor on all money of this side."""
        return 1.0 if self.factor is None else self.factor


@dataclass(frozen=True, slots=True)
class ExpectedValue:
    """Sums of legacy and corrected economics, USD."""

    per_action_usd: float
    savings_usd: float
    eviction_usd: float

    @property
    def total_usd(self) -> float:
        """Savings less eviction: what is compared with the threshold."""
        return self.savings_usd - self.eviction_usd


@dataclass(frozen=True, slots=True)
class RiskGap:
    """How much less risky the fresh side is, for this prompt and on the session's average."""

    gap: float
    mean: float
    basis: RiskBasis


@dataclass(frozen=True, slots=True)
class ValueSum:
    """Sums of value economics, USD; None where no summary could be chosen."""

    stay_usd: float
    switch_full_usd: float
    switch_summary_usd: float | None
    quality_usd: float
    risk: RiskGap

    @property
    def is_summary_chosen(self) -> bool:
        """Whether switching with the summary is cheaper than with the full history."""
        return self.switch_summary_usd is not None and (
            self.switch_summary_usd < self.switch_full_usd
        )

    @property
    def switch_usd(self) -> float:
        """The cheaper way of switching."""
        if self.switch_summary_usd is None:
            return self.switch_full_usd
        return min(self.switch_full_usd, self.switch_summary_usd)

    @property
    def value_usd(self) -> float:
        """Stay less switch plus quality: what is compared with the threshold."""
        return self.stay_usd - self.switch_usd + self.quality_usd


@dataclass(frozen=True, slots=True)
class ShadowSum:
    """Sums of the inclusive, cost-only model that is recorded beside every comparison, USD."""

    stay_usd: float
    switch_usd: float
    verdict: Verdict

    @property
    def saving_usd(self) -> float:
        """Stay less switch."""
        return self.stay_usd - self.switch_usd


@dataclass(frozen=True, slots=True)
class UsedInputs:
    """The inputs after clamping and defaults."""

    input_tokens: int
    prefix_tokens: int
    is_prefix_known: bool
    cached_share: float
    output_tokens: int
    leftover_tokens: int
    remaining_actions: int
    threshold_usd: float
    risk_price_usd: float
    persistence: float
    is_cold: bool


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict and everything it rests on; no content, fit for logs and the ledger.

    Sums are None on the rows before the comparison: nothing was computed there.
    """

    verdict: Verdict
    reason: Reason
    economics: Economics
    inputs: UsedInputs
    pin_price: SidePrice | None = None
    fresh_price: SidePrice | None = None
    expected_value: ExpectedValue | None = None
    value_sum: ValueSum | None = None
    shadow: ShadowSum | None = None

    @property
    def label(self) -> str:
        """The verdict and its reason in one word: ``stay_value_negative``."""
        return f"{self.verdict}_{self.reason}"
