"""Requests that a session makes again and again without getting anywhere. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from services.domain.copying import replace

if TYPE_CHECKING:
    from gateway.sessions.model import Round, Session

WINDOW = 8
REPEATS = 5
WITHIN_S = 90.0


def record_round(session: Session, made: Round) -> Session:
    """Return the session after a request was answered; only the latest ones are kept."""
    return replace(session, rounds=(made, *session.rounds)[: WINDOW - 1])


def is_stuck(session: Session, digest: bytes, now_unix_s: float) -> bool:
    """Return whether a request was made so often just now that this one leads nowhere either.

    That is the fifth of eight within 90 s, all answered by one model at one provider. Requests that
    nobody answered do not count: a client may repeat those.
    """
    alike = [
        (made.model_id, made.provider)
        for made in session.rounds
        if made.digest == digest and now_unix_s - made.seen_unix_s < WITHIN_S
    ]
    return len(alike) >= REPEATS - 1 and max(Counter(alike).values()) >= REPEATS - 1
