"""Values of a compaction: what handover is asked, and what came of it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.model.attempt import BindingRef
    from gateway.model.decision import CredentialScope
    from gateway.model.record import AttemptRecord


class BudgetEvidence(enum.StrEnum):
    """Names how sure a client's budget is."""

    UNKNOWN = "unknown"
    AMBIGUOUS_LONG_CONTEXT = "ambiguous_long_context"
    HARNESS_DEFAULT = "harness_default"


class CompactionOutcome(enum.StrEnum):
    """Names what came of a compaction."""

    NOT_ENGAGED = "not_engaged"
    DEFERRED = "deferred"
    APPLIED = "applied"
    EXCEEDED = "context_window_exceeded"


@dataclass(frozen=True, slots=True)
class ClientBudget:
    """What is known of the client's own compaction."""

    evidence: BudgetEvidence = BudgetEvidence.UNKNOWN
    threshold_tokens: int = 0
    """Size at which the client compacts; 0: not known."""
    may_defer: bool = False
    """Whether the client may be waited for."""


NO_BUDGET = ClientBudget()


@dataclass(frozen=True, slots=True)
class CompactionLimits:
    """How large a conversation may be, in tokens as its own estimate counts them."""

    window_tokens: int
    """Largest window among what may serve."""
    trigger_ratio: float
    reserve_tokens: int
    """Room for the answer."""

    @property
    def trigger_tokens(self) -> int:
        """Tokens from which on a conversation is compacted."""
        return int(self.window_tokens * self.trigger_ratio)


@dataclass(frozen=True, slots=True)
class CompactionQuestion:
    """What handover is asked for a conversation that outgrew the windows."""

    limits: CompactionLimits
    budget: ClientBudget
    scope: CredentialScope
    summarizers: tuple[BindingRef, ...] = ()
    checkpoint: bytes = b""
    """What an earlier action of the session left; empty: nothing."""
    is_after_overflow: bool = False
    """Whether a provider refused the session for its length before."""
    is_history_trimmed: bool = False


@dataclass(frozen=True, slots=True)
class CompactionAnswer:
    """What came of it; an empty body means: go on with what there is."""

    outcome: CompactionOutcome
    body: bytes = b""
    checkpoint: bytes = b""
    """What to keep for later actions; empty: nothing new."""
    attempts: tuple[AttemptRecord, ...] = ()
