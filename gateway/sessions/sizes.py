"""How far the estimates of a session's prompts are off, as refusals for length tell. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.copying import replace

if TYPE_CHECKING:
    from gateway.model import Action
    from gateway.sessions.model import Session

MOST_RATIO = 4.0
"""A refusal that would mean more is not about the estimate."""


def correct_estimate(session: Session, estimated_tokens: int, window_tokens: int) -> Session:
    """Return the session after a prompt turned out to be longer than a context window.

    ``estimated_tokens`` is what it was estimated at, uncorrected. From now on a prompt like it is
    known not to fit there, so that the next action goes to a larger window or is made shorter.
    """
    if estimated_tokens <= 0 or window_tokens <= 0:
        return session
    ratio = min(MOST_RATIO, (window_tokens + 1) / estimated_tokens)
    return replace(session, fit_ratio=max(session.fit_ratio, ratio))


def sized(action: Action, session: Session) -> Action:
    """Return the action with what its session knows of estimates."""
    is_known = session.fit_ratio > action.fit_ratio
    return replace(action, fit_ratio=session.fit_ratio) if is_known else action
