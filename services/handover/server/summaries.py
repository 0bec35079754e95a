"""Makes or reuses a summary: one question in, one result out, whatever goes wrong in between."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from services.domain.wire.model import WireError
from services.handover.model import Outcome, Result, SummaryKind
from services.handover.policy import choice, reuse
from services.handover.policy.history import read
from services.handover.policy.rewrite import rewrite
from services.handover.policy.sizes import overflow_tokens
from services.handover.policy.transcript import question_body, transcript_of
from services.handover.server.writing import ANSWER_S, LEAST_S, Commission, Written

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.handover.model import BindingRef, Limits, Question, Summarizer
    from services.handover.policy.history import History
    from services.handover.server.writing import Writers
    from services.runtime.clock import Clock


class Summaries:
    """Holds no state between questions; ``window_of`` gives windows in tokens, 0 if not known."""

    def __init__(
        self,
        writers: Writers,
        limits: Limits,
        clock: Clock,
        window_of: Callable[[BindingRef], int],
    ) -> None:
        self._writers = writers
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
        is_of_trim = question.kind is SummaryKind.CLIENT_TRIM
        longest_s = self._limits.trim_timeout_s if is_of_trim else self._limits.timeout_s
        end_s = min(began_s + longest_s, caller_s - ANSWER_S)
        written = await self._written(question, transcript, cap, end_s)
        return self._placed(question, history, count, written)

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
    ) -> Written:
        commission = Commission(
            context=question.context,
            kind=question.kind,
            permit=question.permit,
            scope=question.scope,
            first_attempt_number=question.first_attempt_number,
            max_tokens=cap,
            end_s=end_s,
            body_for=partial(question_body, transcript, max_tokens=cap),
        )
        chosen = self._writers.chosen(commission, self._named(question))
        if isinstance(chosen, Outcome):
            return Written(chosen)
        return await self._writers.write(commission, chosen)

    def _named(self, question: Question) -> tuple[Summarizer, ...]:
        """Return who is asked for; one that brings a summary and names nobody wants reuse alone."""
        default = self._limits.default
        if question.summarizers or question.stored is not None or default is None:
            return question.summarizers
        return (default,)

    def _placed(self, question: Question, history: History, count: int, written: Written) -> Result:
        """Return the result with the rewritten conversation, and the summary to keep.

        One that is as long as what it stands for is no summary.
        """
        if written.author is None:
            return Result(written.outcome, written.attempts)
        try:
            rewritten = rewrite(history, count, written.text)
            if rewritten.overflow_tokens >= overflow_tokens(question.family, question.body):
                return Result(Outcome.UPSTREAM_FAILED, written.attempts)
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
