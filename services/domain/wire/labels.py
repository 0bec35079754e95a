"""Fixed texts that say in words what a dialect has no member for."""

from __future__ import annotations

FAILED_RESULT_LABEL = "[tool call failed]"
"""First line of the result of a call that failed; removed again when it comes back."""

UNANSWERED_CALL_TEXT = "No result of this call was recorded."
"""Result of a call that the history leaves unanswered."""

CONTINUE_TEXT = "Continue."
"""User text after a final assistant turn, which a dialect cannot continue in place."""


def orphan_label(call_id: str) -> str:
    """Return the line before a result whose call the history does not hold."""
    return f"[result of an earlier tool call {call_id}]" if call_id else "[result of a tool call]"


def attachment_label(call_id: str) -> str:
    """Return the line before media that a tool returned: results hold only text here."""
    return f"[attachment of tool call {call_id}]"
