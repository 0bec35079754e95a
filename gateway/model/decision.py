"""Values of deciding: what the scorer said, what the planner is asked, and what came of both."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.model.attempt import BindingRef, Plan
    from gateway.model.eligibility import EligibilityRecord
    from gateway.model.record import AttemptRecord
    from gateway.sessions.model import CacheState, Choice
    from services.domain.catalog import Binding
    from services.domain.pricing import Cost
    from services.domain.vocab import ModelTier
    from services.domain.wire.model import Usage


Fact: TypeAlias = "bool | int | float | str"
"""A number or a word of a closed set, fit for a log."""


class Strategy(enum.StrEnum):
    """Who chooses the model."""

    REQUESTED = "requested"
    """The client, by name."""
    CLUSTER = "cluster"
    """The scorer, and for a session the planner."""


class DecisionPath(enum.StrEnum):
    """How a decision came about."""

    REQUESTED = "requested"
    SCORED = "scored"
    STAY = "stay"
    SWITCH = "switch"
    STICKY = "sticky"
    HARD_PIN = "hard_pin"
    FORCED = "forced"
    DEGRADED = "degraded"
    REANCHOR = "reanchor"
    ESCALATION = "escalation"
    PASSTHROUGH = "passthrough"


class SummaryMode(enum.StrEnum):
    """When a history is summarised on a switch."""

    PLANNED = "planned"
    """Where the planner finds that it pays."""
    ALWAYS = "always"
    NEVER = "never"


class CredentialScope(enum.StrEnum):
    """Whose credentials an action runs on."""

    DEPLOYMENT = "deployment"
    TENANT = "tenant"
    CALLER = "caller"


@dataclass(frozen=True, slots=True)
class Prompt:
    """The text that decides, cut to what the scorer takes."""

    text: str
    first_text: str = ""
    text_bytes: int = 0
    """Size of the text before it was cut."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What the scorer found about one model."""

    binding: BindingRef
    tier: ModelTier
    score: float | None = None
    risk: float | None = None
    """Chance that its answer is not good enough, [0, 1]; None: unknown."""
    evidence: str = ""
    scored_as: str = ""
    """Measured model whose outcomes stand for its own; empty: none."""
    expected_cost_micros: int | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """The scorer's answer: the candidates, best first. There is at least one."""

    candidates: tuple[Candidate, ...]
    reason: str
    artifact_version: str = ""
    risk_price_micros: int | None = None
    """What the scorer took one answer that is not good enough to cost; None: it knew no risks."""

    def of(self, model_id: str) -> Candidate | None:
        """Return the candidate of a model; None: it is not in the pool."""
        return next((c for c in self.candidates if c.binding.model_id == model_id), None)

    @property
    def risks(self) -> dict[str, float]:
        """Risks by model, as far as they are known."""
        return {c.binding.model_id: c.risk for c in self.candidates if c.risk is not None}


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two models that a plan is about; what is not known is None."""

    binding: BindingRef
    tier: ModelTier
    risk: float | None = None
    mean_risk: float | None = None


@dataclass(frozen=True, slots=True)
class SummaryOffer:
    """A summary that could be written on a switch."""

    input_tokens: int
    """Size of the prompt with it."""
    cost_micros: int


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    """What the planner is asked: stay on ``pin``, or switch to ``fresh``?"""

    pin: Side
    pin_cache: CacheState
    has_completed_action: bool
    fresh: Side
    input_tokens: int
    prefix_tokens: int | None
    """Tokens that the pin's cache can serve; None: not known."""
    output_tokens: int
    available_models: tuple[str, ...]
    prices: tuple[Binding, ...]
    """Every binding of both models, each model's primary one first."""
    offer: SummaryOffer | None
    risk_price_micros: int | None
    """The scorer's price of risk; None: the planner's own."""
    catalog_version: str
    config_version: str
    eligibility_id: str
    cost_factors: tuple[tuple[str, float], ...] = ()
    """Models that a subscription covers, with the share of its list price that each costs."""


@dataclass(frozen=True, slots=True)
class PlanAnswer:
    """The planner's verdict; ``label`` names the row that decided."""

    is_switch: bool
    label: str
    is_summary_chosen: bool = False
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """What the verdict rests on, as the action's line names it: inputs, sums, prices, versions. No
    content."""


@dataclass(frozen=True, slots=True)
class Belief:
    """What the attempt planned first is believed to use and to cost, before it is made."""

    binding: BindingRef
    usage: Usage
    cost: Cost


@dataclass(frozen=True, slots=True)
class SummaryQuestion:
    """What handover is asked. Without summarisers only the stored summary may be used."""

    from_binding: BindingRef
    to_binding: BindingRef
    scope: CredentialScope
    summarizers: tuple[BindingRef, ...] = ()
    stored: bytes = b""
    is_of_trim: bool = False
    """Whether it is about a history that its client cut, and not about a switch."""


@dataclass(frozen=True, slots=True)
class SummaryAnswer:
    """What came of it; an empty body means: keep the full history."""

    outcome: str
    body: bytes = b""
    stored: bytes = b""
    """What to keep for later actions; empty: nothing new."""
    attempts: tuple[AttemptRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided before dispatch: the record, what to try under it, and why."""

    record: EligibilityRecord
    plan: Plan
    reason: str
    path: DecisionPath
    scope: CredentialScope = CredentialScope.DEPLOYMENT
    pin: Choice | None = None
    """What the session is pinned to from now on; None: its pin stays as it is."""
    risks: Mapping[str, float] = field(default_factory=dict)
    """What the scorer said of each model, for the session's means."""
    score: Score | None = None
    summary: SummaryQuestion | None = None
    """A summary to ask for before dispatch."""
    escalation: str = ""
    """What is done about a loop of the session's agent; empty: nothing is to be remembered."""
    answer: PlanAnswer | None = None
    """What the planner said; None: it was not asked, or did not answer."""
