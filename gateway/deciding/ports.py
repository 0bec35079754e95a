"""What deciding needs from outside: the scorer, the planner, and who writes summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gateway.model import Action, BindingRef, EligibilityRecord
    from gateway.model.compaction import CompactionAnswer, CompactionQuestion
    from gateway.model.decision import (
        PlanAnswer,
        PlanQuestion,
        Prompt,
        Score,
        SummaryAnswer,
        SummaryQuestion,
    )


class Scorer(Protocol):
    """Scores the models that may serve."""

    async def score(self, action: Action, record: EligibilityRecord, prompt: Prompt) -> Score:
        """Return the candidates, best first.

        Raises:
            PeerError: the scorer did not answer in time.
            RouterError: it refused, for nothing may serve.
        """
        ...

    async def fastest(self, action: Action, record: EligibilityRecord) -> BindingRef | None:
        """Return the fastest model that may serve; None: nobody answered, or there is none."""
        ...


class Planner(Protocol):
    """Decides between a pin and a fresh pick."""

    async def plan(self, action: Action, question: PlanQuestion) -> PlanAnswer | None:
        """Return the verdict; None: it did not come in time, or cannot be read."""
        ...


class Handover(Protocol):
    """Shortens histories: puts a summary in their place, or brings them under a window."""

    async def summarize(
        self,
        action: Action,
        record: EligibilityRecord,
        question: SummaryQuestion,
        left_s: float,
    ) -> SummaryAnswer | None:
        """Return what came of it; None: nobody answered, or there is no time to ask.

        ``left_s`` is what the action has left.
        """
        ...

    async def compact(
        self,
        action: Action,
        record: EligibilityRecord,
        question: CompactionQuestion,
        left_s: float,
    ) -> CompactionAnswer | None:
        """Return what came of it; None: nobody answered, or there is no time to ask."""
        ...
