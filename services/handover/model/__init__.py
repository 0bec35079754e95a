"""Values of handover: what is asked, what a model was asked for it, and what came of it."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.vocab import WireFamily

Sealed = NewType("Sealed", bytes)
"""A message of the contract that is passed on as it came."""


class SummaryKind(enum.StrEnum):
    """Names why a summary is wanted."""

    SWITCH = "switch"
    CLIENT_TRIM = "client_trim"
    COMPACTION = "compaction"


class Scope(enum.StrEnum):
    """Names whose credentials an action runs on."""

    DEPLOYMENT = "deployment"
    TENANT = "tenant"
    CALLER = "caller"


class Outcome(enum.StrEnum):
    """Names what came of a request; only the first two carry a body."""

    SUMMARIZED = "summarized"
    REUSED = "reused"
    TIMEOUT = "timeout"
    EMPTY = "empty"
    UPSTREAM_FAILED = "upstream_failed"
    TENANT_BOUNDARY = "tenant_boundary"
    NO_MODEL = "no_model"
    NOT_CONFIGURED = "not_configured"
    TOO_SMALL = "too_small"
    NO_USER_MESSAGE = "no_user_message"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class BindingRef:
    """One model at one provider, as the catalog names it."""

    model_id: str
    provider: str
    upstream_id: str = ""
    index: int = 0


@dataclass(frozen=True, slots=True)
class Summarizer:
    """A binding that may write a summary; a window of 0 tokens is not known."""

    binding: BindingRef
    window_tokens: int = 0
    family: WireFamily | None = None
    """Dialect to speak; None: the provider's own."""


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """A summary that the gateway keeps, and the messages that it stands for."""

    text: str
    prefix_digest: bytes
    message_count: int
    """Number of those messages, instructions not counted."""
    summarizer: BindingRef
    instruction_version: str
    expire_unix_s: float


@dataclass(frozen=True, slots=True)
class Permit:
    """What may serve an action: the eligibility record, as far as a summary needs it."""

    providers: Mapping[str, frozenset[str]] | None = None
    """Owners of the credentials of each provider that may serve; None: unrestricted."""
    excluded_providers: frozenset[str] = frozenset()
    excluded_models: frozenset[str] = frozenset()
    excluded_bindings: frozenset[tuple[str, str]] = frozenset()
    is_gateway_exclusive: bool = False
    gateway_models: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Context:
    """What travels on with every call of one action."""

    action_id: str
    session_hash: str
    installation_id: str
    action: Sealed
    eligibility: Sealed
    eligibility_id: str
    catalog_version: str
    config_version: str


@dataclass(frozen=True, slots=True)
class Question:
    """A request for a summary."""

    context: Context
    family: WireFamily
    body: bytes
    path_model: str
    is_history_trimmed: bool
    kind: SummaryKind
    to_binding: BindingRef
    permit: Permit
    scope: Scope
    summarizers: tuple[Summarizer, ...]
    max_summary_tokens: int
    """0: the service's own limit."""
    first_attempt_number: int
    stored: StoredSummary | None = None


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One upstream attempt of a call, as dispatch recorded it."""

    number: int
    record: Sealed


@dataclass(frozen=True, slots=True)
class Call:
    """One question to a model, made through dispatch; its time limit bounds everything in it."""

    context: Context
    kind: SummaryKind
    summarizer: Summarizer
    body: bytes
    estimated_tokens: int
    first_attempt_number: int
    budget_s: float


class CallEnd(enum.StrEnum):
    """Names how a question to a model ended."""

    ANSWERED = "answered"
    REFUSED = "refused"
    """The upstream refused, failed or broke off."""
    LATE = "late"
    UNREACHABLE = "unreachable"
    """Dispatch does not answer, or did not take the question."""


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a question to a model; ``family`` and ``body`` belong to an answer."""

    end: CallEnd
    attempts: tuple[AttemptRow, ...] = ()
    family: WireFamily | None = None
    body: bytes = b""
    is_stream: bool = False
    """Whether the body is server-sent events."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A conversation with a summary in the place of its beginning."""

    body: bytes
    removed_messages: int
    """Original messages that are no longer there."""
    overflow_tokens: int
    """Overflow estimate of the body."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a request. Without ``rewritten`` the full history is kept."""

    outcome: Outcome
    attempts: tuple[AttemptRow, ...] = ()
    rewritten: Rewritten | None = None
    stored: StoredSummary | None = None
    """What is worth keeping; None: nothing new."""
    summary_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a summary may take and be, and who writes it where the question names nobody."""

    timeout_s: float
    max_summary_tokens: int
    trim_timeout_s: float = 90.0
    """The time for a summary of a history that its client cut."""
    default: Summarizer | None = None
    """None: nobody; such questions are not configured."""
