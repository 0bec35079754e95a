"""The words in which each dialect's vendors name their errors: others are counted as unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import UpstreamError

_OPENAI = frozenset(
    {
        "authentication_error",
        "billing_hard_limit_reached",
        "billing_not_active",
        "content_filter",
        "content_policy_violation",
        "context_length_exceeded",
        "cyber_policy",
        "engine_overloaded",
        "insufficient_quota",
        "invalid_api_key",
        "invalid_function_parameters",
        "invalid_prompt",
        "invalid_request_error",
        "model_not_available",
        "model_not_found",
        "not_found_error",
        "permission_denied",
        "rate_limit_error",
        "rate_limit_exceeded",
        "requests",
        "server_error",
        "server_is_overloaded",
        "slow_down",
        "timeout",
        "tokens",
        "unknown_parameter",
        "unsupported_country_region_territory",
        "unsupported_model",
        "unsupported_parameter",
        "unsupported_value",
        "usage_limit_reached",
        "usage_not_included",
    }
)

_WORDS: Mapping[WireFamily, frozenset[str]] = {
    WireFamily.ANTHROPIC: frozenset(
        {
            "api_error",
            "authentication_error",
            "billing_error",
            "invalid_request_error",
            "not_found_error",
            "overloaded_error",
            "permission_error",
            "rate_limit_error",
            "request_too_large",
            "timeout_error",
        }
    ),
    WireFamily.OPENAI_CHAT: _OPENAI,
    WireFamily.OPENAI_RESPONSES: _OPENAI,
    WireFamily.GEMINI: frozenset(
        {
            "ABORTED",
            "ALREADY_EXISTS",
            "CANCELLED",
            "DATA_LOSS",
            "DEADLINE_EXCEEDED",
            "FAILED_PRECONDITION",
            "INTERNAL",
            "INVALID_ARGUMENT",
            "NOT_FOUND",
            "OUT_OF_RANGE",
            "PERMISSION_DENIED",
            "RESOURCE_EXHAUSTED",
            "UNAUTHENTICATED",
            "UNAVAILABLE",
            "UNIMPLEMENTED",
            "UNKNOWN",
        }
    ),
}


def is_recognised(family: WireFamily, error: UpstreamError) -> bool:
    """Return whether an error names itself in a word of its dialect, by type or by code."""
    words = _WORDS[family]
    is_status = error.vendor_code == str(error.http_status)
    return error.vendor_type in words or error.vendor_code in words or is_status
