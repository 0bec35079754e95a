"""Conversations that outgrow the windows are brought under them before anything is decided.

Clients send their whole history every time, so that what was cleared and summarised once is kept
in the session and put in its place again. Every summary is paid for and accounted, whatever came
of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway import metrics
from gateway.deciding.budgets import client_budget
from gateway.deciding.outgrown import Compacting, limits_of, writers_of
from gateway.eligibility.windows import LEAST_RESERVE_TOKENS
from gateway.model.compaction import CompactionOutcome, CompactionQuestion
from gateway.model.record import AttemptKind
from gateway.summaries import rewritten
from services.domain.errors import Reason, RouterError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.decider import Decider
    from gateway.deciding.kinds import Rules
    from gateway.deciding.pinned import Memory
    from gateway.deciding.ports import Handover
    from gateway.ground import Ground
    from gateway.ledger.ports import Ledger
    from gateway.model import Action, BindingRef, EligibilityRecord
    from gateway.model.compaction import CompactionAnswer, CompactionLimits
    from services.domain.catalog import Binding, Catalog
    from services.domain.vocab import WireFamily

_NO_ANSWER = "no_answer"
_log = get_logger("gateway")


@dataclass(frozen=True, slots=True)
class Compacted:
    """An action that fits, and what to keep of how it was made to."""

    action: Action
    checkpoint: bytes | None = None
    """What to keep from now on; None: what is kept stays."""


class Compactions:
    """Asks handover; without one every conversation goes on as it is."""

    def __init__(
        self,
        handover: Handover | None,
        ledger: Ledger,
        decider: Decider,
        catalog: Catalog,
        rules: Rules,
        dialects_at: Callable[[Binding], tuple[WireFamily, ...]],
    ) -> None:
        self._handover = handover
        self._ledger = ledger
        self._decider = decider
        self._catalog = catalog
        self._rules = rules
        self._dialects_at = dialects_at
        self._smallest_window = min(
            (
                row.context_window_tokens
                for model in catalog.models.values()
                for row in model.bindings
            ),
            default=0,
        )

    def is_outgrown(self, ground: Ground) -> bool:
        """Return whether the conversation of an action is to be compacted."""
        return self._reached(ground) is not None

    async def compacted(self, ground: Ground, memory: Memory, left_s: float) -> Compacted | None:
        """Return the action with a conversation that fits; None: it is left alone.

        Raises:
            RouterError: it fits no window even then.
        """
        reached = self._reached(ground)
        if self._handover is None or reached is None:
            return None
        limits, by = reached
        action, session = ground.action, memory.session
        pin = session.pin if session.pin and session.pin.is_live_at(by.moment.now_unix_s) else None
        question = CompactionQuestion(
            limits=limits,
            budget=client_budget(action, self._catalog),
            scope=ground.scope,
            summarizers=writers_of(action, pin.choice if pin is not None else None, by),
            checkpoint=session.compaction,
            is_after_overflow=session.fit_ratio > 1,
            is_history_trimmed=memory.is_history_trimmed,
        )
        answer = await self._asked(self._handover, action, by.moment.record, question, left_s)
        metrics.COMPACTIONS.labels(answer.outcome.value if answer else _NO_ANSWER).inc()
        if answer is None:
            metrics.DEGRADED.labels("handover").inc()
        if answer is None or answer.outcome is CompactionOutcome.EXCEEDED:
            _pass_or_refuse(action, limits)
            return None
        changed = rewritten(action, answer.body)
        if changed is None:
            return None
        return Compacted(changed, answer.checkpoint or None)

    def _reached(self, ground: Ground) -> tuple[CompactionLimits, Compacting] | None:
        """Return the limits that a conversation has reached; None: it has not."""
        action, ratio = ground.action, self._rules.compaction_ratio
        reserve = max(LEAST_RESERVE_TOKENS, action.features.max_output_tokens)
        is_small = action.overflow_tokens + reserve < int(self._smallest_window * ratio)
        if self._handover is None or is_small:
            return None
        by = Compacting(self._decider.unsized(ground), self._rules, self._dialects_at)
        limits = limits_of(action, by)
        return (limits, by) if limits is not None else None

    async def _asked(
        self,
        handover: Handover,
        action: Action,
        record: EligibilityRecord,
        question: CompactionQuestion,
        left_s: float,
    ) -> CompactionAnswer | None:
        """Ask, with an account for the calls that handover may make."""
        if not question.summarizers:
            return await handover.compact(action, record, question, left_s)
        writer: BindingRef = question.summarizers[0]
        account = self._ledger.open(action, writer, None, AttemptKind.COMPACTION_SUMMARY)
        try:
            answer = await handover.compact(action, record, question, left_s)
            if answer is not None:
                account.settle(answer.attempts)
        finally:
            account.close()
        return answer


def _pass_or_refuse(action: Action, limits: CompactionLimits) -> None:
    """Let a conversation that could not be shortened go on as it is where it fits by itself.

    Raises:
        RouterError: it fits no window.
    """
    tokens, window = action.features.overflow_tokens, limits.window_tokens
    facts = {"action_id": action.id, "overflow_tokens": tokens, "window_tokens": window}
    if tokens <= window:
        _log.warning("not_compacted", **facts)
        return
    _log.warning("context_window_exceeded", **facts)
    raise RouterError(
        Reason.CONTEXT_WINDOW_EXCEEDED,
        f"the conversation is larger than the largest window at hand ({window} tokens), even after"
        " it was compacted: compact it, or begin a new session",
        metadata={"layer": "context_window"},
    )
