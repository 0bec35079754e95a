"""Finish reasons of this dialect, to and from the canonical stop reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.model import Stop, StopReason

if TYPE_CHECKING:
    from collections.abc import Mapping

_REFUSALS = frozenset(
    [
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "LANGUAGE",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "MODEL_ARMOR",
    ]
)
_MALFORMED = frozenset(
    [
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "OTHER",
        "NO_IMAGE",
        "IMAGE_OTHER",
    ]
)
_WRITTEN: Mapping[StopReason, str] = {
    StopReason.MAX_TOKENS: "MAX_TOKENS",
    StopReason.CONTEXT_FULL: "MAX_TOKENS",
    StopReason.REFUSAL: "SAFETY",
    StopReason.MALFORMED: "OTHER",
}


def stop_of(finish: str, *, has_calls: bool) -> Stop:
    """Return the stop for a finish reason; one that is not known is a plain end.

    A plain end is a tool stop if and only if a call was made; policy and malformed answers keep
    their own reasons.
    """
    if finish == "MAX_TOKENS":
        return Stop(StopReason.MAX_TOKENS)
    if is_refusal(finish):
        return Stop(StopReason.REFUSAL)
    if is_malformed(finish):
        return Stop(StopReason.MALFORMED)
    return Stop(StopReason.TOOL_USE if has_calls else StopReason.END_TURN)


def is_refusal(finish: str) -> bool:
    """Whether the vendor's policy ended the answer."""
    return finish in _REFUSALS


def is_malformed(finish: str) -> bool:
    """Whether the model failed to write an answer; without any output another try may do."""
    return finish in _MALFORMED


def finish_of(stop: Stop) -> str:
    """Return the finish reason for a stop."""
    return _WRITTEN.get(stop.reason, "STOP")
