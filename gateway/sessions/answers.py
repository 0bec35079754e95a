"""Which binding and credential gave the answers that a provider keeps. Pure.

A client may go on from such an answer by its id alone, which only its issuer knows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.sessions.model import Issued, Session

MAX_ANSWERS = 64
MAX_ID_CHARS = 256


def keep_answer(session: Session, issued: Issued, now_unix_s: float) -> Session:
    """Return the session that knows the issuer of one more answer; the oldest are let go."""
    if not issued.answer_id or len(issued.answer_id) > MAX_ID_CHARS:
        return session
    others = tuple(each for each in session.answers if each.answer_id != issued.answer_id)
    return replace(
        session,
        answers=(issued, *others)[:MAX_ANSWERS],
        last_seen_unix_s=max(session.last_seen_unix_s, now_unix_s),
    )


def issuer_of(session: Session, answer_id: str) -> Issued | None:
    """Return who issued an answer; None: it is not known here."""
    return next((each for each in session.answers if each.answer_id == answer_id), None)
