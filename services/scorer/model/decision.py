"""What the scorer answers: the pick, every candidate with its evidence, and what was dropped."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from services.domain.catalog import LongContextPrice, Model
from services.domain.errors import Reason
from services.scorer.model.question import Layer


class Evidence(enum.StrEnum):
    """Names where a model's quality and risk come from."""

    MEASURED = "measured"
    BORROWED = "borrowed"
    ESTIMATED = "estimated"


class Filter(enum.StrEnum):
    """Names a filter; the members stand in the order in which they run."""

    PROVIDER = "provider"
    EXCLUDED = "excluded"
    REQUIREMENT = "requirement"
    AUTOMATIC = "automatic"
    TOOL_USE = "tool_use"
    AGENTIC = "agentic"
    IMAGE_INPUT = "image_input"
    UNMEASURED = "unmeasured"
    """Judged when the artifact is loaded: no cells, none to borrow and no curve."""


@dataclass(frozen=True, slots=True)
class ChosenBinding:
    """The binding that would serve a model for this request."""

    model_id: str
    provider: str
    upstream_id: str
    index: int
    input_usd_per_mtok: float
    output_usd_per_mtok: float
    long_context: LongContextPrice | None = None

    def rates(self, prompt_tokens: int) -> tuple[float, float]:
        """Return the input and output rates of a request with so large a prompt."""
        long = self.long_context
        if long is None or prompt_tokens <= long.above_tokens:
            return self.input_usd_per_mtok, self.output_usd_per_mtok
        return long.input_usd_per_mtok, long.output_usd_per_mtok


@dataclass(frozen=True, slots=True)
class Deployed:
    """A tiered catalog model that the artifact has figures for."""

    model: Model
    bindings: tuple[ChosenBinding, ...]
    """Those of the catalog, in its order."""
    evidence: Evidence
    column: int
    """Column of the heads that speaks for it; -1: none, its skill does."""
    skill: float | None
    """On the catalog's scale; None where the artifact has no curve."""
    scored_as: str = ""
    """Measured model whose cells it borrows; empty unless borrowed."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A model that a filter removed, and the layer behind it where there is one."""

    model_id: str
    filter: Filter
    layer: Layer | None = None


@dataclass(frozen=True, slots=True)
class FilterReport:
    """What one filter did."""

    filter: Filter
    before: int
    after: int
    is_skipped: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why nothing may serve: a reason, words for people, and the layers that removed models."""

    reason: Reason
    message: str
    layers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pool:
    """The models that are left, with the binding of each; a refusal when none is."""

    bindings: Mapping[str, ChosenBinding]
    dropped: tuple[Dropped, ...]
    reports: tuple[FilterReport, ...]
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class Terms:
    """How a score came about, summed over the clusters that took part."""

    quality: float
    cost: float
    latency: float
    subscription_bonus: float
    preference_bonus: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """One model of the final pool."""

    deployed: Deployed
    binding: ChosenBinding
    score: float
    risk: float | None
    cost_usd: float
    terms: Terms | None
    """None: nobody asked for the working."""


@dataclass(frozen=True, slots=True)
class EffectiveKnobs:
    """The knobs that were in force; ``alpha`` is per cluster and empty where risk has a price."""

    alpha: tuple[float, ...]
    speed_weight: float
    output_cost_ratio: float
    expected_output_tokens: int
    is_verbosity_per_model: bool
    risk_price_usd: float
    hash: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to one question."""

    candidates: tuple[Candidate, ...]
    """Best first; ties by name, the newest of a family first. The first is the pick, the second the
    runner-up."""
    pool: Pool
    knobs: EffectiveKnobs
    cluster_ids: tuple[int, ...]
    """Nearest first."""
    nearest_similarity: float
    is_far: bool

    @property
    def pick(self) -> Candidate:
        """The candidate that should serve."""
        return self.candidates[0]
