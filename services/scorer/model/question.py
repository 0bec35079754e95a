"""What the scorer is asked: features of a request, what may serve it, and the caller's knobs."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field


class Layer(enum.StrEnum):
    """Names what removed a model, a binding or a provider before the scorer saw it."""

    UNKNOWN = "unknown"
    OPERATOR = "operator"
    GATEWAY_MODE = "gateway_mode"
    PROVIDER_EXCLUDED = "provider_excluded"
    NO_CREDENTIAL = "no_credential"
    SESSION_PROVIDER = "session_provider"
    CONTEXT_WINDOW = "context_window"
    UNSIGNED_TOOL_HISTORY = "unsigned_tool_history"
    SATURATED = "saturated"
    REQUIREMENT_INCOMPATIBLE = "requirement_incompatible"
    REQUIREMENT_UNAVAILABLE = "requirement_unavailable"
    ALLOWLIST = "allowlist"
    MODEL_EXCLUDED = "model_excluded"
    PLAN_OVERLAY = "plan_overlay"
    ENDPOINT_REFUSED = "endpoint_refused"
    AUTOMATIC = "automatic"
    DEMOTION = "demotion"
    COOLDOWN = "cooldown"


class CandidateOrder(enum.StrEnum):
    """Names an order of deployed models."""

    MODEL = "model"
    SPEED = "speed"


@dataclass(frozen=True, slots=True)
class GatewayAliases:
    """What one tenant gateway serves: catalog id to the name there."""

    provider: str
    upstream_ids: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Eligibility:
    """What may serve an action; obeyed, never recomputed. The layers stay apart."""

    content: bytes = b""
    """All of the record but its time, encoded: equal contents are equal records. Empty: unknown."""
    record_id: str = ""
    catalog_version: str = ""
    config_version: str = ""
    enabled_providers: frozenset[str] | None = None
    """None: unrestricted. Empty: nothing may serve."""
    excluded_providers: Mapping[str, Layer] = field(default_factory=dict)
    is_gateway_exclusive: bool = False
    gateways: tuple[GatewayAliases, ...] = ()
    has_allow_list: bool = False
    excluded_models: Mapping[str, Layer] = field(default_factory=dict)
    automatic_models: Mapping[str, Layer] = field(default_factory=dict)
    safety_models: Mapping[str, Layer] = field(default_factory=dict)
    requirement_models: Mapping[str, Layer] = field(default_factory=dict)
    excluded_bindings: Mapping[tuple[str, str], Layer] = field(default_factory=dict)
    """By model and provider."""
    preferred_models: tuple[str, ...] = ()
    forced_model: str = ""
    forced_cluster: str = ""


@dataclass(frozen=True, slots=True)
class Features:
    """What a request is like, without its content."""

    input_tokens: int = 0
    max_output_tokens: int = 0
    """Output limit that the client asked for; 0: none."""
    tool_count: int = 0
    image_count: int = 0


@dataclass(frozen=True, slots=True)
class Knobs:
    """The caller's wishes; None is the artifact's own value."""

    alpha: float | None = None
    quality_bias: float | None = None
    speed_weight: float | None = None
    output_cost_ratio: float | None = None
    expected_output_tokens: int | None = None
    is_verbosity_per_model: bool | None = None
    risk_price_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """One action to be scored. The text is not here: it was embedded already."""

    features: Features
    eligibility: Eligibility
    knobs: Knobs = Knobs()
    cost_factors: Mapping[str, float] = field(default_factory=dict)
    """Share of the list price that a covered model costs, by catalog id; presence means covered."""
    is_explained: bool = True
    """Whether the working of each score is told."""
