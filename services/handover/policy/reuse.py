"""A summary kept from an earlier action: does it still stand for how the conversation begins?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.handover.model import BindingRef, StoredSummary
from services.handover.policy.transcript import INSTRUCTION_VERSION

if TYPE_CHECKING:
    from services.handover.policy.history import History

KEPT_S = 24 * 3600.0
"""Longest time that a summary is kept."""


def stands_for(stored: StoredSummary, history: History, now_unix_s: float) -> bool:
    """Return whether the conversation still begins with what ``stored`` was made from.

    It must go on with the client's side after it, and end with it.

    Raises:
        WireError: a message is nested too deeply to compare.
    """
    count, spoken = stored.message_count, history.spoken
    is_usable = (
        is_current(stored, now_unix_s, INSTRUCTION_VERSION)
        and 0 < count < len(spoken)
        and spoken[count].is_asking
        and not spoken[count - 1].is_asking
        and spoken[-1].is_asking
    )
    return is_usable and history.digest(count) == stored.prefix_digest


def is_current(stored: StoredSummary, now_unix_s: float, instruction_version: str) -> bool:
    """Return whether a summary says something, is not too old, and was asked for as now."""
    return (
        bool(stored.text.strip())
        and stored.instruction_version == instruction_version
        and now_unix_s < stored.expire_unix_s
    )


def to_keep(
    history: History,
    count: int,
    text: str,
    summarizer: BindingRef,
    now_unix_s: float,
    instruction_version: str = INSTRUCTION_VERSION,
) -> StoredSummary:
    """Return a new summary with what it stands for: the first ``count`` messages."""
    return StoredSummary(
        text=text,
        prefix_digest=history.digest(count),
        message_count=count,
        summarizer=summarizer,
        instruction_version=instruction_version,
        expire_unix_s=now_unix_s + KEPT_S,
    )
