"""Stop reasons of the Messages dialect, to and from the canonical ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.model import Stop, StopReason
from services.domain.wire.reading import dump

if TYPE_CHECKING:
    from collections.abc import Mapping

_READ: Mapping[str, StopReason] = {
    "end_turn": StopReason.END_TURN,
    "stop_sequence": StopReason.STOP_SEQUENCE,
    "tool_use": StopReason.TOOL_USE,
    "max_tokens": StopReason.MAX_TOKENS,
    "model_context_window_exceeded": StopReason.CONTEXT_FULL,
    "refusal": StopReason.REFUSAL,
    "pause_turn": StopReason.PAUSE,
}
_WRITTEN: Mapping[StopReason, str] = {reason: name for name, reason in _READ.items()} | {
    StopReason.MALFORMED: "end_turn"
}
_OF_TOOLS = (StopReason.END_TURN, StopReason.TOOL_USE, StopReason.STOP_SEQUENCE)


def stop_of(message: Mapping[str, object]) -> Stop:
    """Return the stop of a message or of a ``message_delta``; an unknown reason is a plain end."""
    name = message.get("stop_reason")
    sequence = message.get("stop_sequence")
    details = message.get("stop_details")
    return Stop(
        reason=_READ.get(name, StopReason.END_TURN)
        if isinstance(name, str)
        else StopReason.END_TURN,
        sequence=sequence if isinstance(sequence, str) else None,
        details=dump(details) if details is not None else b"",
    )


def stop_name(stop: Stop, *, has_tool_use: bool) -> str:
    """Return the ``stop_reason`` to show.

    A plain end becomes ``tool_use`` when a call was shown, and ``tool_use`` a plain end when none
    was: clients run their loop on this word. Limits and refusals keep their reason.
    """
    if stop.reason in _OF_TOOLS and has_tool_use:
        return "tool_use"
    if stop.reason is StopReason.TOOL_USE:
        return "end_turn"
    return _WRITTEN[stop.reason]
