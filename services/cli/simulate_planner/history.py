"""The prompts of one session as they are sent once a summary stands in for their history.

A summary is kept: it stands in for what it replaced until the client cuts the history itself.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from services.cli.simulate_planner.prices import ActionSize

if TYPE_CHECKING:
    from services.cli.simulate_planner.prices import SimModel
    from services.cli.simulate_planner.world import Session

SUMMARY_TOKENS = 800
SUMMARISER = "mid"
RISKY_ACTIONS = 10
"""Actions after a summary for which the loss of context adds to the risk."""


class History:
    """What is left of the client's history, action by action."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._removed = 0.0
        self._shortened_at = -math.inf

    def advance(self, t: int) -> None:
        """Begin action ``t``: a history that the client cut needs no summary of ours."""
        if self._session.is_trimmed[t]:
            self._removed = 0.0

    def size(self, t: int) -> ActionSize:
        """Return the action's sizes as sent."""
        size = self._session.sizes[t]
        tokens = size.tokens - self._removed
        return ActionSize(tokens, size.cacheable / size.tokens * tokens, size.output)

    def shortened_tokens(self, t: int) -> float:
        """Return the prompt's size if everything before this action became a summary now."""
        size = self._session.sizes[t]
        system = self._session.system * size.tokens / size.cacheable
        arrived = max(0.0, size.tokens - self._session.sizes[t - 1].tokens) if t else 0.0
        return min(system + SUMMARY_TOKENS + arrived, size.tokens - self._removed)

    def shorten(self, t: int) -> None:
        """Put a summary in the place of everything before this action."""
        self._removed = self._session.sizes[t].tokens - self.shortened_tokens(t)
        self._shortened_at = t

    def is_risky(self, t: int) -> bool:
        """Return whether context that a summary lost may still be missed."""
        return t - self._shortened_at < RISKY_ACTIONS


def summary_usd(models: tuple[SimModel, ...], tokens: float) -> float:
    """Return the cost of a summary of ``tokens``: one uncached call of a middle model."""
    writer = next(model for model in models if model.name == SUMMARISER)
    prompt, text = tokens * writer.input_usd_per_mtok, SUMMARY_TOKENS * writer.output_usd_per_mtok
    return (prompt + text) / 1e6
