"""Asks those who may write a summary, one after the other, until one has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.handover.model import Call, CallEnd, Outcome
from services.handover.policy import choice
from services.handover.policy.answer import summary_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from services.handover.model import (
        AttemptRow,
        BindingRef,
        Context,
        Permit,
        Scope,
        Summarizer,
        SummaryKind,
    )
    from services.handover.ports import Models
    from services.runtime.clock import Clock

LEAST_S = 1.0
"""With less time than this nothing is started."""
ANSWER_S = 0.1
"""Time kept for the answer: what was paid for must reach the gateway before it gives up."""

_OF_END = {
    CallEnd.REFUSED: Outcome.UPSTREAM_FAILED,
    CallEnd.LATE: Outcome.TIMEOUT,
    CallEnd.UNREACHABLE: Outcome.FAILED,
}


@dataclass(frozen=True, slots=True)
class Commission:
    """What is to be written, and for whom."""

    context: Context
    kind: SummaryKind
    permit: Permit
    scope: Scope
    first_attempt_number: int
    max_tokens: int
    end_s: float
    """Instant by which everything must be over."""
    body_for: Callable[[str], bytes]
    """Returns the question to a model of this id."""
    margin_tokens: int = choice.MARGIN_TOKENS


@dataclass(frozen=True, slots=True)
class Written:
    """What the summarisers gave: a text by one of them, or the reason why there is none."""

    outcome: Outcome
    attempts: tuple[AttemptRow, ...] = ()
    text: str = ""
    author: BindingRef | None = None


class Writers:
    """Asks models for summaries; holds no state between commissions."""

    def __init__(self, models: Models, clock: Clock) -> None:
        self._models = models
        self._clock = clock

    def chosen(
        self, commission: Commission, named: Sequence[Summarizer]
    ) -> tuple[Summarizer, ...] | Outcome:
        """Return who may write, best first, or why nobody may."""
        if not named:
            return Outcome.NOT_CONFIGURED
        allowed = choice.permitted(named, commission.permit)
        if not allowed:
            return Outcome.NO_MODEL
        within = choice.within_boundary(allowed, commission.permit, commission.scope)
        if not within:
            return Outcome.TENANT_BOUNDARY
        tokens = len(commission.body_for("")) // 4
        fitting = choice.fitting(within, tokens, commission.max_tokens, commission.margin_tokens)
        return fitting or Outcome.NO_MODEL

    async def write(self, commission: Commission, chosen: Sequence[Summarizer]) -> Written:
        """Ask ``chosen`` in turn until one answers, all refused, or the time is up."""
        attempts: list[AttemptRow] = []
        outcome = Outcome.UPSTREAM_FAILED
        for place, summarizer in enumerate(chosen):
            left_s = commission.end_s - self._clock.monotonic_s()
            if place and left_s < LEAST_S:
                break
            body = commission.body_for(summarizer.binding.model_id)
            told = await self._models.ask(
                Call(
                    context=commission.context,
                    kind=commission.kind,
                    summarizer=summarizer,
                    body=body,
                    estimated_tokens=len(body) // 4,
                    first_attempt_number=_next_number(commission, attempts),
                    budget_s=left_s,
                )
            )
            attempts += told.attempts
            if told.end is CallEnd.ANSWERED:
                text = summary_of(told.family, told.body, is_stream=told.is_stream)
                if text:
                    return Written(Outcome.SUMMARIZED, tuple(attempts), text, summarizer.binding)
                outcome = Outcome.UPSTREAM_FAILED if text is None else Outcome.EMPTY
                break
            outcome = _OF_END[told.end]
            if told.end is not CallEnd.REFUSED:
                break
        return Written(outcome, tuple(attempts))


def _next_number(commission: Commission, attempts: list[AttemptRow]) -> int:
    return max((row.number + 1 for row in attempts), default=commission.first_attempt_number)
