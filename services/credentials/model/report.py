"""What dispatch reports about an attempt, and what came of it."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.credentials.model.mark import Mark


class Phase(enum.StrEnum):
    """Names an event of an attempt."""

    HEADERS = "headers"
    ALIVE = "alive"
    ENDED = "ended"


class EndKind(enum.StrEnum):
    """Names how an attempt ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CALLER_GONE = "caller_gone"
    EMPTY_STREAM = "empty_stream"
    NOT_SENT = "not_sent"


class ReportOutcome(enum.StrEnum):
    """Names what came of one report."""

    APPLIED = "applied"
    DUPLICATE = "duplicate"
    STALE = "stale"
    GRANT_UNKNOWN = "grant_unknown"
    INVALID = "invalid"
    NOT_STORED = "not_stored"


@dataclass(frozen=True, slots=True)
class Report:
    """One event of one attempt; its identity is (grant, attempt number, sequence number)."""

    grant_id: str
    action_id: str
    attempt_number: int
    sequence_number: int
    phase: Phase
    credential_id: str = field(default="", repr=False)
    credential_version: int = 0
    presented_hash: str = ""
    model_id: str = ""
    send_unix_s: float | None = None
    observe_unix_s: float = 0.0
    end_kind: EndKind | None = None
    http_status: int | None = None
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    error_body: bytes = field(default=b"", repr=False)
    is_challenge_page: bool = False
    refused_feature: str = ""
    is_model_not_found: bool = False

    @property
    def identity(self) -> tuple[str, int, int]:
        """What makes a repeat the same report."""
        return (self.grant_id, self.attempt_number, self.sequence_number)


class Cause(enum.StrEnum):
    """Names why a mark changed."""

    OWN_STATUS = "own_status"
    AGGREGATE = "aggregate"
    RESET = "reset"
    MANUAL = "manual"
    REJECTION = "rejection"
    SUCCESS = "success"
    EVIDENCE = "evidence"
    LOGIN = "login"


@dataclass(frozen=True, slots=True)
class Transition:
    """A mark that was set, moved or cleared."""

    fingerprint: str
    mark: Mark
    is_cleared: bool
    cause: Cause
    is_moved: bool = False
    """Whether it stood before and stands on with another end: no news for the log."""
    state_version: int = 0
