"""What one refusal teaches about an endpoint: a feature to give up, and to ask once more without.

A lesson is learned from a 4xx that names the feature; what the request is about is never given up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily

if TYPE_CHECKING:
    from collections.abc import Collection

    from services.domain.wire.model import UpstreamError

RESPONSES_API = "responses_api"
"""The endpoint does not speak Responses; Chat is spoken in its place."""
FAST_TIER = "fast_tier"
"""The fast tier has no room; the plain one may."""
FAST_PAUSE_S = 300.0
"""How long a tier without room is left alone."""
VALIDATED = "VALIDATED"
"""The tool mode of Gemini that not every model knows; AUTO stands in for it."""

_RESPONSES_PHRASES = (
    "responses api is not enabled",
    "responses api is not supported",
    "does not support the responses api",
    "unknown path",
    "unknown url",
    "unknown endpoint",
    "unknown request url",
    "endpoint not allowed",
    "endpoint is not allowed",
    "unrecognized request url",
)
_UNKNOWN_FIELD = (
    "unknown field",
    "unknown parameter",
    "unknown name",
    "unsupported parameter",
    "unsupported value",
    "unsupported field",
    "unrecognized request argument",
    "extra inputs are not permitted",
    "extra fields not permitted",
    "extra_forbidden",
    "is not supported with this model",
    "is not supported by this model",
    "is not a recognized",
    "not supported on this endpoint",
)
_UNKNOWN_CODES = frozenset({"unknown_parameter", "unsupported_parameter", "unsupported_value"})

_OF_ENDPOINT = frozenset({"prompt_cache_key", "prompt_cache_retention", "safety_identifier"})
"""Hints that a whole endpoint knows or does not; others are a model's."""

GIVEN_UP = (
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "output_config.format",
    "max_tokens",
    "frequency_penalty",
    "logit_bias",
    "parallel_tool_calls",
    "presence_penalty",
    "reasoning_effort",
    "seed",
    "service_tier",
    "stream_options",
    "temperature",
    "top_k",
    "top_p",
    "verbosity",
)
"""Members that a request can do without. ``max_tokens`` is renamed rather than dropped."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A feature to give up at an endpoint, or for one model there."""

    feature: str
    is_of_model: bool = True
    is_of_tenant: bool = False
    """Whether it says nothing about other tenants' requests: it lies in what theirs may use."""
    ttl_s: float = 3600.0
    """How long later requests go by it; 0: none does."""


def lesson_of(
    family: WireFamily, status: int, error: UpstreamError, given_up: Collection[str], body: bytes
) -> Lesson | None:
    """Return what a refusal of ``body`` teaches; None: nothing that helps.

    ``given_up`` are the features that the body was built without already.
    """
    said = f"{error.vendor_code} {error.message}".lower().replace("`", "")
    if family is WireFamily.OPENAI_RESPONSES and _is_no_responses(status, error, said):
        return Lesson(RESPONSES_API, is_of_model=False)
    if status == 429:
        is_fast = FAST_TIER not in given_up and "fast mode" in said and b'"speed":"fast"' in body
        return Lesson(FAST_TIER, is_of_tenant=True, ttl_s=FAST_PAUSE_S) if is_fast else None
    if status not in (400, 422):
        return None
    if family is WireFamily.GEMINI:
        is_told = VALIDATED not in given_up and b'"VALIDATED"' in body
        return Lesson(VALIDATED, ttl_s=0) if is_told else None
    if error.vendor_code not in _UNKNOWN_CODES and not any(p in said for p in _UNKNOWN_FIELD):
        return None
    for feature in GIVEN_UP:
        if feature not in given_up and _names(feature, error, said) and _holds(body, feature):
            return Lesson(feature, is_of_model=feature not in _OF_ENDPOINT)
    return None


def _is_no_responses(status: int, error: UpstreamError, said: str) -> bool:
    if status == 404:
        return error.vendor_code != "model_not_found" and not error.param
    return status in (400, 403) and any(phrase in said for phrase in _RESPONSES_PHRASES)


def _names(feature: str, error: UpstreamError, said: str) -> bool:
    owner, _, member = feature.partition(".")
    if member:
        return owner in said and member in said and "schema" not in said
    if error.param is not None:
        return error.param == feature
    return re.search(rf"(?<![a-z_.]){feature}(?![a-z_])", said) is not None


def _holds(body: bytes, feature: str) -> bool:
    return b'"%s"' % feature.rpartition(".")[2].encode() in body
