"""Brings a conversation under its limits: clear, then summarise, then trim, whatever goes wrong.

A summary that fails costs nothing but its time: trimming goes on without it. Only a conversation
whose last message alone is too large is given up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from services.domain.wire.model import WireError
from services.handover.model import Outcome, SummaryKind
from services.handover.model.compaction import CompactionOutcome, CompactionResult, Draft
from services.handover.policy.cascade import Cascade
from services.handover.policy.sizes import overflow_tokens
from services.handover.policy.structured import INSTRUCTION, SUMMARY_TOKENS, with_quotes
from services.handover.policy.transcript import question_body
from services.handover.server.writing import ANSWER_S, LEAST_S, Commission, Written

if TYPE_CHECKING:
    from services.handover.model import StoredSummary
    from services.handover.model.compaction import CompactionQuestion
    from services.handover.server.writing import Writers
    from services.runtime.clock import Clock

MARGIN_TOKENS = 8000
"""Room in a summariser's window for what the estimate misses."""


@dataclass(frozen=True, slots=True)
class _Summary:
    """What became of the summary, made now or kept."""

    written: Written | None = None
    """None: none was asked for."""
    start: int = 0
    stored: StoredSummary | None = None


class Compactions:
    """Holds no state between questions."""

    def __init__(self, writers: Writers, timeout_s: float, clock: Clock) -> None:
        self._writers = writers
        self._timeout_s = timeout_s
        self._clock = clock

    async def make(
        self, question: CompactionQuestion, time_left_s: float | None
    ) -> CompactionResult:
        """Return what came of it; a conversation that fits no window is an answer too."""
        began_s = self._clock.monotonic_s()
        caller_s = float("inf") if time_left_s is None else began_s + time_left_s
        end_s = min(began_s + self._timeout_s, caller_s - ANSWER_S)
        try:
            untouched = Draft(question.body, overflow_tokens(question.family, question.body))
            spared = _spared(question, untouched)
            if spared is not None:
                return CompactionResult(spared, untouched)
            cascade = Cascade(question, self._clock.now_unix_s())
            return await self._compacted(question, cascade, end_s)
        except WireError:
            return _unreadable(question)

    async def _compacted(
        self, question: CompactionQuestion, cascade: Cascade, end_s: float
    ) -> CompactionResult:
        kept = cascade.kept_summary
        reused = _reused(cascade, kept, cascade.kept_clearing)
        if reused is not None:
            return reused
        draft, is_done = _cleared(question, cascade)
        if is_done:
            return _applied(cascade, draft, _Summary())
        reused = _reused(cascade, kept, draft.cleared_results)
        if reused is not None:
            return reused
        summary = await self._summary(question, cascade, end_s)
        if summary.stored is not None:
            shorter = cascade.summarized(summary.start, summary.stored.text, draft.cleared_results)
            if shorter.tokens < draft.tokens and cascade.is_fitting(shorter):
                return _applied(cascade, shorter, summary)
            if cascade.is_fitting(draft):
                return _applied(cascade, draft, replace(summary, stored=None), is_reverted=True)
        return _trimmed(cascade, draft, replace(summary, stored=summary.stored or kept))

    async def _summary(
        self, question: CompactionQuestion, cascade: Cascade, end_s: float
    ) -> _Summary:
        """Have the summary written, where anybody may and there is something to summarise."""
        start = cascade.summary_start()
        if question.is_authoritative_policy or not question.summarizers:
            return _Summary()
        if start is None:
            return _Summary(Written(Outcome.TOO_SMALL))
        if end_s - self._clock.monotonic_s() < LEAST_S:
            return _Summary(Written(Outcome.TIMEOUT))
        written = await self._written(question, cascade, start, end_s)
        if written.author is None:
            return _Summary(written)
        text = with_quotes(written.text, cascade.prompts(start))
        return _Summary(written, start, cascade.stored(start, text, written.author))

    async def _written(
        self, question: CompactionQuestion, cascade: Cascade, start: int, end_s: float
    ) -> Written:
        """Ask with the fullest transcript that a summariser's window takes."""
        cap = min(SUMMARY_TOKENS, question.limits.max_summary_tokens or SUMMARY_TOKENS)
        refusal = Outcome.NO_MODEL
        for transcript in cascade.transcripts(start):
            commission = Commission(
                context=question.context,
                kind=SummaryKind.COMPACTION,
                permit=question.permit,
                scope=question.scope,
                first_attempt_number=question.first_attempt_number,
                max_tokens=cap,
                end_s=end_s,
                body_for=partial(
                    question_body, transcript, max_tokens=cap, instruction=INSTRUCTION
                ),
                margin_tokens=MARGIN_TOKENS,
            )
            chosen = self._writers.chosen(commission, question.summarizers)
            if not isinstance(chosen, Outcome):
                return await self._writers.write(commission, chosen)
            refusal = chosen
        return Written(refusal)


def _spared(question: CompactionQuestion, draft: Draft) -> CompactionOutcome | None:
    """Return why a conversation is left alone; None: it is not."""
    limits, budget = question.limits, question.budget
    if not limits.trigger_tokens:
        return CompactionOutcome.NOT_ENGAGED
    if question.is_after_overflow:
        return None
    if limits.is_below_trigger(draft.tokens):
        return CompactionOutcome.NOT_ENGAGED
    is_own = budget.is_deferral_allowed and budget.is_harness_default
    will_compact = 0 < budget.compact_threshold_tokens <= limits.max_window_tokens
    if is_own and will_compact and limits.is_fitting(draft.tokens):
        return CompactionOutcome.DEFERRED
    return None


def _reused(
    cascade: Cascade, kept: StoredSummary | None, cleared_results: int
) -> CompactionResult | None:
    """Return the conversation with the summary of an earlier action; None: it does not do."""
    if kept is None:
        return None
    draft = cascade.summarized(kept.message_count, kept.text, cleared_results)
    if not cascade.is_below_trigger(draft):
        return None
    return _applied(cascade, draft, _Summary(stored=kept))


def _cleared(question: CompactionQuestion, cascade: Cascade) -> tuple[Draft, bool]:
    """Return the conversation with its oldest outputs cleared, and whether that is enough.

    The boundary stays where an earlier action put it while that will do, and else moves by some
    steps at once: each move costs the providers' caches.
    """
    before = cascade.kept_clearing
    draft = cascade.whole(before)
    if before and cascade.is_below_trigger(draft):
        return draft, True
    more = cascade.clearable - before
    if more and (not before or more >= question.limits.clear_step):
        draft = cascade.whole(cascade.clearable)
        return draft, cascade.is_below_trigger(draft)
    return draft, False


def _trimmed(cascade: Cascade, draft: Draft, summary: _Summary) -> CompactionResult:
    """Return the longest conversation that fits, cut without regard to its contents."""
    if draft.cleared_results < cascade.clearable and not cascade.is_fitting(draft):
        draft = cascade.whole(cascade.clearable)
    if cascade.is_fitting(draft):
        return _applied(cascade, draft, replace(summary, stored=None))
    text = summary.stored.text if summary.stored is not None else None
    for shorter in cascade.trimmed(text, draft.cleared_results):
        if cascade.is_fitting(shorter):
            return _applied(cascade, shorter, summary)
    return _result(CompactionOutcome.EXCEEDED, draft, summary)


def _applied(
    cascade: Cascade, draft: Draft, summary: _Summary, *, is_reverted: bool = False
) -> CompactionResult:
    is_changed = draft.cleared_results or draft.is_summarized or draft.trimmed_messages
    if not is_changed:
        return _result(CompactionOutcome.NOT_ENGAGED, draft, summary, is_reverted=is_reverted)
    result = _result(CompactionOutcome.APPLIED, draft, summary, is_reverted=is_reverted)
    made = cascade.checkpoint(draft.cleared_results, summary.stored)
    return replace(result, checkpoint=made)


def _result(
    outcome: CompactionOutcome, draft: Draft, summary: _Summary, *, is_reverted: bool = False
) -> CompactionResult:
    written = summary.written
    return CompactionResult(
        outcome,
        draft,
        attempts=written.attempts if written is not None else (),
        summary_outcome=written.outcome if written is not None else None,
        is_summary_reverted=is_reverted,
    )


def _unreadable(question: CompactionQuestion) -> CompactionResult:
    """Return the answer for a conversation whose messages cannot be told apart."""
    draft = Draft(question.body, len(question.body) // 4)
    limits = question.limits
    is_over = limits.max_window_tokens > 0 and not limits.is_fitting(draft.tokens)
    outcome = CompactionOutcome.EXCEEDED if is_over else CompactionOutcome.NOT_ENGAGED
    return CompactionResult(outcome, draft)
