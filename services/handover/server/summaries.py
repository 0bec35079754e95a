"""Makes or reuses a summary: one question in, one result out, whatever goes wrong in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.domain.wire.model import WireError
from services.handover.model import Call, CallEnd, Limits, Outcome, Result
from services.handover.policy import choice, reuse
from services.handover.policy.answer import summary_of
from services.handover.policy.history import read
from services.handover.policy.rewrite import rewrite
from services.handover.policy.transcript import question_body, transcript_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.handover.model import AttemptRow, BindingRef, Question, Summarizer
    from services.handover.policy.history import History
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
class _Written:
    """What the summarisers gave: a text by one of them, or the reason why there is none."""

    outcome: Outcome
    attempts: tuple[AttemptRow, ...]
    text: str = ""
    author: BindingRef | None = None


class Summaries:
    """Holds no state between questions; ``window_of`` gives windows in tokens, 0 if not known."""

    def __init__(
        self,
        models: Models,
        limits: Limits,
        clock: Clock,
        window_of: Callable[[BindingRef], int],
    ) -> None:
        self._models = models
        self._limits = limits
        self._clock = clock
        self._window_of = window_of

    async def make(self, question: Question, time_left_s: float | None) -> Result:
        """Return what came of it; every failure is an outcome that keeps the full history."""
        began_s = self._clock.monotonic_s()
        caller_s = float("inf") if time_left_s is None else began_s + time_left_s
        try:
            history = read(question.family, question.body)
            kept = self._reused(question, history)
            if kept is not None:
                return kept
            turns = history.turns(0, len(history.spoken))
            count = history.last_run()
            cap = self._cap(question)
            skipped = choice.skip_reason(
                history,
                [turn for turn in turns if turn.origin_index < count],
                question.kind,
                cap,
                is_trimmed=question.is_history_trimmed,
            )
            if skipped is not None:
                return Result(skipped)
            transcript = transcript_of(turns)
        except WireError:
            return Result(Outcome.FAILED)
        if caller_s - self._clock.monotonic_s() < LEAST_S:
            return Result(Outcome.TIMEOUT)
        end_s = min(began_s + self._limits.timeout_s, caller_s - ANSWER_S)
        written = await self._written(question, transcript, cap, end_s)
        return self._placed(history, count, written)

    def _reused(self, question: Question, history: History) -> Result | None:
        """Return the result of a stored summary; None where it does not fit."""
        stored = question.stored
        if stored is None or not reuse.stands_for(stored, history, self._clock.now_unix_s()):
            return None
        rewritten = rewrite(history, stored.message_count, stored.text)
        window = self._window_of(question.to_binding)
        if window and rewritten.overflow_tokens > window:
            return None
        return Result(
            Outcome.REUSED, rewritten=rewritten, summary_tokens=summary_tokens(stored.text)
        )

    def _cap(self, question: Question) -> int:
        own = self._limits.max_summary_tokens
        return min(own, question.max_summary_tokens or own)

    async def _written(
        self, question: Question, transcript: str, cap: int, end_s: float
    ) -> _Written:
        """Ask the summarisers in turn until one answers, all refused, or the time is up."""
        attempts: list[AttemptRow] = []
        chosen = self._chosen(question, transcript, cap)
        if isinstance(chosen, Outcome):
            return _Written(chosen, ())
        outcome = Outcome.UPSTREAM_FAILED
        for place, summarizer in enumerate(chosen):
            left_s = end_s - self._clock.monotonic_s()
            if place and left_s < LEAST_S:
                break
            body = question_body(transcript, summarizer.binding.model_id, cap)
            told = await self._models.ask(
                Call(
                    context=question.context,
                    kind=question.kind,
                    summarizer=summarizer,
                    body=body,
                    estimated_tokens=len(body) // 4,
                    first_attempt_number=_next_number(question, attempts),
                    budget_s=left_s,
                )
            )
            attempts += told.attempts
            if told.end is CallEnd.ANSWERED:
                text = summary_of(told.family, told.body)
                if text:
                    return _Written(
                        Outcome.SUMMARIZED, tuple(attempts), text, author=summarizer.binding
                    )
                outcome = Outcome.UPSTREAM_FAILED if text is None else Outcome.EMPTY
                break
            outcome = _OF_END[told.end]
            if told.end is not CallEnd.REFUSED:
                break
        return _Written(outcome, tuple(attempts))

    def _chosen(
        self, question: Question, transcript: str, cap: int
    ) -> tuple[Summarizer, ...] | Outcome:
        """Return who may write the summary, best first, or why nobody may.

        A question that brings a stored summary and names nobody asks for reuse alone.
        """
        named = question.summarizers
        if not named and question.stored is None and self._limits.default is not None:
            named = (self._limits.default,)
        if not named:
            return Outcome.NOT_CONFIGURED
        allowed = choice.permitted(named, question.permit)
        if not allowed:
            return Outcome.NO_MODEL
        within = choice.within_boundary(allowed, question.permit, question.scope)
        if not within:
            return Outcome.TENANT_BOUNDARY
        tokens = len(question_body(transcript, "", cap)) // 4
        return choice.fitting(within, tokens, cap) or Outcome.NO_MODEL

    def _placed(self, history: History, count: int, written: _Written) -> Result:
        """Return the result with the rewritten conversation, and the summary to keep."""
        if written.author is None:
            return Result(written.outcome, written.attempts)
        try:
            rewritten = rewrite(history, count, written.text)
            stored = reuse.to_keep(
                history, count, written.text, written.author, self._clock.now_unix_s()
            )
        except WireError:
            return Result(Outcome.FAILED, written.attempts)
        return Result(
            Outcome.SUMMARIZED,
            written.attempts,
            rewritten,
            stored,
            summary_tokens(written.text),
        )


def summary_tokens(text: str) -> int:
    """Return the estimate of a summary in tokens: a quarter of its characters."""
    return len(text) // 4


def _next_number(question: Question, attempts: list[AttemptRow]) -> int:
    return max((row.number + 1 for row in attempts), default=question.first_attempt_number)
