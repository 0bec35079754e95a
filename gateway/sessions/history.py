"""The client's history as it grows and is cut, and what a cut carries over. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.sessions.model import Alias
from gateway.sessions.strikes import merge_strikes
from services.domain.copying import replace

if TYPE_CHECKING:
    from gateway.sessions.model import History, Session

COMPARED_WITHIN_S = 300.0
LONG_MESSAGES = 8
MAX_ALIASES = 16
MAX_SUMMARY_BYTES = 32 * 1024


@dataclass(frozen=True, slots=True)
class Shortening:
    """What an action leaves for the next ones to shorten the history by; None: as before."""

    summary: bytes | None = None
    compaction: bytes | None = None

    @property
    def is_something(self) -> bool:
        """Whether anything is to be kept or dropped."""
        return self.summary is not None or self.compaction is not None


def is_trimmed(session: Session, seen: History) -> bool:
    """Return whether the client cut its history since the last action of this thread.

    Either messages got fewer where there were many, or tool calls did while many messages stay.
    """
    last = session.history
    if last is None or seen.seen_unix_s - last.seen_unix_s >= COMPARED_WITHIN_S:
        return False
    has_fewer_messages = seen.message_count < last.message_count
    has_fewer_calls = seen.tool_call_count < last.tool_call_count
    return (has_fewer_messages and last.message_count >= LONG_MESSAGES) or (
        has_fewer_calls and seen.message_count >= LONG_MESSAGES
    )


def observe_history(session: Session, seen: History) -> Session:
    """Return the session after an action with a history of this length.

    A cut begins a new epoch of the history. What was seen later than this action is kept.
    """
    if session.history is not None and session.history.seen_unix_s > seen.seen_unix_s:
        return session
    return replace(
        session,
        history=seen,
        history_epoch=session.history_epoch + is_trimmed(session, seen),
        last_seen_unix_s=max(session.last_seen_unix_s, seen.seen_unix_s),
    )


def shortened(session: Session, shortening: Shortening) -> Session:
    """Return the session after an action whose history was shortened anew, or is not any more.

    What was cached before is of no use to a prompt that begins otherwise. What is too large is not
    kept.
    """
    if not shortening.is_something:
        return session
    summary, compaction = shortening.summary, shortening.compaction
    return replace(
        session,
        summary=session.summary if summary is None else _bounded(summary),
        compaction=session.compaction if compaction is None else _bounded(compaction),
        history_epoch=session.history_epoch + 1,
    )


def _bounded(payload: bytes) -> bytes:
    return payload if len(payload) <= MAX_SUMMARY_BYTES else b""


def remember_thread(conversation: Session, role: str, key: bytes, now_unix_s: float) -> Session:
    """Return the conversation's session with the latest thread of a role."""
    others = tuple(alias for alias in conversation.aliases if alias.role != role)
    aliases = (Alias(role, key, now_unix_s), *others)[:MAX_ALIASES]
    seen = max(conversation.last_seen_unix_s, now_unix_s)
    return replace(conversation, aliases=aliases, last_seen_unix_s=seen)


def latest_thread(conversation: Session, role: str) -> bytes | None:
    """Return the key of the latest thread of a role; None: none is known."""
    for alias in conversation.aliases:
        if alias.role == role:
            return alias.key
    return None


def carry_over(thread: Session, earlier: Session, now_unix_s: float) -> Session:
    """Return a new thread with what was learned in the one that it continues.

    For a client that rewrote its first message, which makes another thread of the same
    conversation. Strikes, the latch of switches, mean risks and state go along; the pin and its
    caches do not, since nothing of the new history is cached.
    """
    return replace(
        thread,
        strikes=merge_strikes(thread.strikes, earlier.strikes),
        has_ever_switched=thread.has_ever_switched or earlier.has_ever_switched,
        risks=thread.risks if thread.risks.action_count else earlier.risks,
        states=thread.states or earlier.states,
        fit_ratio=max(thread.fit_ratio, earlier.fit_ratio),
        last_seen_unix_s=max(thread.last_seen_unix_s, now_unix_s),
    )
