"""Finish reasons of this dialect, to and from the canonical stop reasons."""

from __future__ import annotations

from services.domain.wire.model import Stop, StopReason

_FINISH = {
    StopReason.MAX_TOKENS: "length",
    StopReason.CONTEXT_FULL: "length",
    StopReason.REFUSAL: "content_filter",
}


def stop_of(finish: str, *, has_calls: bool, has_refusal: bool) -> Stop:
    """Return the stop for a finish reason.

    A stop is a tool stop if and only if a call was made, whatever the upstream named it; a cut
    stays a cut and a filter stays a filter.
    """
    if finish == "length":
        return Stop(StopReason.MAX_TOKENS)
    if finish == "content_filter":
        return Stop(StopReason.REFUSAL)
    if has_calls:
        return Stop(StopReason.TOOL_USE)
    return Stop(StopReason.REFUSAL if has_refusal else StopReason.END_TURN)


def finish_of(stop: Stop, *, has_calls: bool, has_refusal: bool) -> str:
    """Return the finish reason for a stop; a refusal told as text of its own ends with ``stop``."""
    finish = _FINISH.get(stop.reason)
    if finish is None:
        return "tool_calls" if has_calls else "stop"
    if stop.reason is StopReason.REFUSAL and has_refusal and not has_calls:
        return "stop"
    return finish
