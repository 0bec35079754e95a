"""Values of a compaction: what is asked, under which limits, and what came of it."""

from __future__ import annotations

import enum
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.domain.vocab import WireFamily
    from services.handover.model import (
        AttemptRow,
        Context,
        Outcome,
        Permit,
        Scope,
        StoredSummary,
        Summarizer,
    )

KEPT_RESULTS = 5
"""Newest outputs of tools that are never cleared."""
KEPT_MESSAGES = 12
"""Newest messages that a summary leaves as they are."""
CLEAR_STEP = 10
"""Outputs that gather before the boundary of the cleared ones moves on."""


class CompactionOutcome(enum.StrEnum):
    """Names what came of a compaction; only ``APPLIED`` carries a body."""

    NOT_ENGAGED = "not_engaged"
    DEFERRED = "deferred"
    APPLIED = "applied"
    EXCEEDED = "context_window_exceeded"


@dataclass(frozen=True, slots=True)
class CompactionLimits:
    """How large a conversation may be, in tokens, and what is kept of it."""

    max_window_tokens: int
    """Largest window among the models that may serve; 0: not known."""
    trigger_ratio: float
    """Share of it at which a conversation is compacted; 0: never."""
    output_reserve_tokens: int
    kept_results: int = KEPT_RESULTS
    kept_messages: int = KEPT_MESSAGES
    max_summary_tokens: int = 0
    """0: the service's own limit."""
    clear_step: int = CLEAR_STEP

    @property
    def trigger_tokens(self) -> int:
        """Tokens from which on a conversation is compacted; 0: never."""
        return int(self.max_window_tokens * self.trigger_ratio)

    def is_below_trigger(self, tokens: int) -> bool:
        """Return whether a conversation of this size leaves itself room to grow."""
        return tokens + self.output_reserve_tokens < self.trigger_tokens

    def is_fitting(self, tokens: int) -> bool:
        """Return whether a conversation of this size and its answer fit the largest window."""
        return tokens + self.output_reserve_tokens <= self.max_window_tokens

    @property
    def digest(self) -> bytes:
        """What a checkpoint made under these limits is known by; the reserve may vary."""
        parts = (
            self.max_window_tokens,
            self.trigger_ratio,
            self.kept_results,
            self.kept_messages,
            self.max_summary_tokens,
        )
        return hashlib.sha256(repr(parts).encode()).digest()


@dataclass(frozen=True, slots=True)
class ClientBudget:
    """What is known of the client's own compaction."""

    is_harness_default: bool
    """Whether the client is a verified program at its defaults."""
    compact_threshold_tokens: int
    """Size at which it compacts by itself; 0: not known."""
    is_deferral_allowed: bool


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What is kept of a compaction for the session's next actions."""

    limits_digest: bytes
    cleared_results: int
    summary: StoredSummary | None = None
    kept_messages: int = 0


@dataclass(frozen=True, slots=True)
class CompactionQuestion:
    """A request for a conversation that fits."""

    context: Context
    family: WireFamily
    body: bytes
    path_model: str
    is_history_trimmed: bool
    permit: Permit
    limits: CompactionLimits
    budget: ClientBudget
    summarizers: tuple[Summarizer, ...]
    scope: Scope
    is_authoritative_policy: bool
    is_after_overflow: bool
    first_attempt_number: int
    checkpoint: Checkpoint | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A conversation as it would go on, and how it came about."""

    body: bytes
    tokens: int
    """Its overflow estimate."""
    cleared_results: int = 0
    is_summarized: bool = False
    trimmed_messages: int = 0
    """Messages that trimming kept; 0: it was not trimmed."""


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """What came of a compaction; ``draft`` is the conversation to go on with."""

    outcome: CompactionOutcome
    draft: Draft
    attempts: tuple[AttemptRow, ...] = ()
    summary_outcome: Outcome | None = None
    """None: no summary was asked for."""
    is_summary_reverted: bool = False
    checkpoint: Checkpoint | None = None
    """What is worth keeping; None: nothing new."""
