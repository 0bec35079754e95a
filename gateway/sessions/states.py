"""Opaque state of vendors that a session keeps, since its client may lose it. Pure.

Oldest first. A session is one row, so that what is kept is bounded in number and size: the oldest
goes first, and what alone is too large is not kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.copying import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.sessions.model import Session
    from services.domain.wire.state.kept import Kept

MAX_STATES = 128
MAX_STATES_BYTES = 128 * 1024


def keep_states(session: Session, fresh: Sequence[Kept], now_unix_s: float) -> Session:
    """Return the session with the state of one more answer; what it has already counts as new."""
    if not fresh:
        return session
    others = [each for each in session.states if each not in fresh]
    return replace(
        session,
        states=bounded((*others, *dict.fromkeys(fresh))),
        last_seen_unix_s=max(session.last_seen_unix_s, now_unix_s),
    )


def bounded(states: Sequence[Kept]) -> tuple[Kept, ...]:
    """Return the latest of ``states`` that a session can hold."""
    kept: list[Kept] = []
    size = 0
    for each in reversed(states):
        weight = len(each.state.payload) + len(each.call_id)
        if weight > MAX_STATES_BYTES:
            continue
        size += weight
        if size > MAX_STATES_BYTES or len(kept) == MAX_STATES:
            break
        kept.append(each)
    return tuple(reversed(kept))
