"""Reads requests: every field checked, the first bad one named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.domain.errors import InvalidRequestError
from services.domain.fields import action_id, count, session_key, text, usd, within
from services.scorer.codec import enums
from services.scorer.codec.eligibility import eligibility
from services.scorer.codec.fields import knob
from services.scorer.model.question import (
    CandidateOrder,
    Eligibility,
    Features,
    Knobs,
    Question,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pointsman.common.v1 import action_pb2
    from pointsman.scorer.v1 import scorer_pb2 as pb

AS_TRAINED = Knobs()
CLUSTER = "cluster"
MOST_OUTPUT_TOKENS = 100_000
MOST_OUTPUT_RATIO = 10.0
DEFAULT_PAGE = 100
MOST_PAGE = 1_000
_MOST_MICRO = 2**63 - 1
_SESSION_HASH_BYTES = 8


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to score: the question, the text, and what the answer should carry."""

    question: Question
    text: str
    effort: str
    is_acting: bool
    wants_embedding: bool
    is_brief: bool
    artifact_version: str
    action_id: str
    session_hash: str


@dataclass(frozen=True, slots=True)
class Listing:
    """One request to list deployed models."""

    start: int
    size: int
    artifact_version: str
    eligibility: Eligibility
    features: Features
    is_eligible_only: bool
    order: CandidateOrder


def asked(request: pb.ScoreRequest) -> Asked:
    """Return the question of a request.

    Raises:
        InvalidRequestError: a required field is missing, or one is out of range.
    """
    for field in ("action", "features", "eligibility"):
        if not request.HasField(field):
            raise InvalidRequestError.of(field, "must be set")
    if text(request.strategy, "strategy") != CLUSTER:
        raise InvalidRequestError.of(
            "strategy", f"must be {CLUSTER}: no policy sidecar is registered"
        )
    if not request.HasField("prompt"):
        raise InvalidRequestError.of("prompt", f"must be set for the strategy {CLUSTER}")
    action, record = request.action, request.eligibility
    if record.installation_id != text(action.installation_id, "action.installation_id"):
        raise InvalidRequestError.of(
            "eligibility.installation_id", "must be the installation of the action"
        )
    return Asked(
        question=Question(
            features=features(request.features),
            eligibility=eligibility(record),
            knobs=knobs(request.knobs) if request.HasField("knobs") else AS_TRAINED,
            cost_factors=_factors(request.cost_factors),
            is_explained=request.wants_explanation,
        ),
        text=request.prompt.text,
        effort=request.knobs.effort,
        is_acting=enums.is_acting(request.mode, "mode"),
        wants_embedding=request.wants_embedding,
        is_brief=request.is_brief and not request.wants_explanation,
        artifact_version=request.artifact_version,
        action_id=action_id(action.action_id, "action.action_id"),
        session_hash=session_key(action.session_key, "action.session_key")[
            :_SESSION_HASH_BYTES
        ].hex(),
    )


def listing(request: pb.ListCandidatesRequest) -> Listing:
    """Return what is to be listed.

    Raises:
        InvalidRequestError: the order is missing, or a number is out of range.
    """
    if request.page_size < 0:
        raise InvalidRequestError.of("page_size", "must be at least 0")
    return Listing(
        start=_start(request.page_token),
        size=min(request.page_size or DEFAULT_PAGE, MOST_PAGE),
        artifact_version=request.artifact_version,
        eligibility=(
            eligibility(request.eligibility) if request.HasField("eligibility") else Eligibility()
        ),
        features=features(request.features),
        is_eligible_only=request.is_eligible_only,
        order=enums.order(request.order_by, "order_by"),
    )


def page_token(start: int) -> str:
    """Return the token of the page that begins there."""
    return f"p{start:x}"


def features(message: action_pb2.RequestFeatures) -> Features:
    """Return the features that scoring reads.

    Raises:
        InvalidRequestError: a count is out of range.
    """
    return Features(
        input_tokens=count(message.input_token_count, "features.input_token_count"),
        max_output_tokens=count(message.max_output_token_count, "features.max_output_token_count"),
        tool_count=count(message.tool_count, "features.tool_count"),
        image_count=count(message.image_count, "features.image_count"),
    )


def knobs(message: pb.RoutingKnobs) -> Knobs:
    """Return the caller's knobs; what is absent is the artifact's.

    Raises:
        InvalidRequestError: one is out of range.
    """

    def number(name: str, value: float, most: float) -> float | None:
        return knob(value, most, f"knobs.{name}") if message.HasField(name) else None

    output = number(
        "expected_output_token_count", message.expected_output_token_count, MOST_OUTPUT_TOKENS
    )
    price = number("risk_price_micro_usd", message.risk_price_micro_usd, _MOST_MICRO)
    return Knobs(
        alpha=number("alpha_ratio", message.alpha_ratio, 1),
        quality_bias=number("quality_bias_ratio", message.quality_bias_ratio, 1),
        speed_weight=number("speed_weight_ratio", message.speed_weight_ratio, 1),
        output_cost_ratio=number(
            "output_cost_multiplier", message.output_cost_multiplier, MOST_OUTPUT_RATIO
        ),
        expected_output_tokens=None if output is None else int(output),
        is_verbosity_per_model=(
            message.is_verbosity_per_model if message.HasField("is_verbosity_per_model") else None
        ),
        risk_price_usd=None if price is None else usd(int(price)),
    )


def _factors(factors: Mapping[str, float]) -> dict[str, float]:
    return {
        model_id: within(factors[model_id], 1.0, f"cost_factors[{model_id!r}]")
        for model_id in sorted(factors)
    }


def _start(token: str) -> int:
    try:
        start = int(token[1:], 16) if token else 0
    except ValueError:
        start = -1
    if start < 0 or (token and token != page_token(start)):
        raise InvalidRequestError.of("page_token", "must be a token of an earlier answer")
    return start
