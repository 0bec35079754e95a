"""Values of money: what became of each attempt, and the ledger's row about it.

These are written to the journal and read back, so their annotations are there at run time.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from gateway.model.attempt import BindingRef
from services.domain.pricing import Cost
from services.domain.wire.model import Usage


class AttemptKind(enum.StrEnum):
    """What an attempt was made for."""

    SERVE = "serve"
    SWITCH_SUMMARY = "switch_summary"
    COMPACTION_SUMMARY = "compaction_summary"
    TRIM_SUMMARY = "trim_summary"


REQUEST_SUFFIXES = {
    AttemptKind.SERVE: "",
    AttemptKind.SWITCH_SUMMARY: "_summary",
    AttemptKind.COMPACTION_SUMMARY: "_precompaction_summary",
    AttemptKind.TRIM_SUMMARY: "_compaction_summary",
}
"""What calls of the router's own add to the id of their request."""


class AttemptOutcome(enum.StrEnum):
    """What became of an attempt; one whose end nobody told is aborted."""

    SERVED = "served"
    FAILED = "failed"
    BROKEN = "broken"
    SKIPPED = "skipped"
    ABORTED = "aborted"


class UsageSource(enum.StrEnum):
    """Where token counts come from."""

    REPORTED = "reported"
    PARTIAL = "partial"
    ESTIMATED = "estimated"


@dataclass(frozen=True, slots=True)
class Attribution:
    """Which credential served, without naming it, and whose it is."""

    fingerprint: str = ""
    kind: str = ""
    owner: str = "operator"
    is_subscription_served: bool = False


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One attempt, as far as it is known; the newest of a number holds."""

    number: int
    binding: BindingRef
    outcome: AttemptOutcome
    attribution: Attribution = Attribution()
    usage: Usage | None = None
    source: UsageSource = UsageSource.REPORTED
    has_output: bool = False
    """Whether something of it was on its way to the client."""
    output_chars: int = 0
    """Characters of output that passed, for estimates."""
    is_fast_tier: bool = False
    cause: str = ""
    failure: str = ""
    http_status: int | None = None


@dataclass(frozen=True, slots=True)
class Opening:
    """What is known of the attempts of one (action, kind) before the first of them is made."""

    action_id: str
    kind: AttemptKind
    installation_id: str
    key_id: str
    client_request_id: str
    surface: str
    requested_model: str
    estimated_input_tokens: int
    binding: BindingRef
    """The binding planned first."""
    opened_unix_s: float
    attribution: Attribution = Attribution()

    @property
    def key(self) -> tuple[str, str]:
        """The action and what its attempts are for."""
        return (self.action_id, self.kind.value)


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One attempt in the ledger. ``(action_id, attempt, kind)`` is unique for ever.

    The rates are those that were applied, so that a row can be recomputed from itself; without
    rates the price is not known and there is no cost. Money is in micro-USD.
    """

    action_id: str
    attempt: int
    kind: str
    installation_id: str
    key_id: str
    client_request_id: str
    surface: str
    requested_model: str
    model: str
    provider: str
    outcome: str
    source: str
    """Where the tokens come from; empty: there are none."""
    fresh_input_tokens: int
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    """All that was written to a cache, that of one hour included."""
    cache_write_1h_tokens: int
    output_tokens: int
    """Reasoning included."""
    reasoning_tokens: int
    input_rate: int | None
    output_rate: int | None
    read_millionths: int | None
    write_millionths: int | None
    write_1h_millionths: int | None
    cost_micros: int | None
    is_charged: bool
    charged_micros: int
    fingerprint: str
    credential_kind: str
    credential_owner: str
    is_subscription_served: bool
    is_fast_tier: bool
    cause: str
    failure: str
    http_status: int | None
    opened_unix_s: float
    settled_unix_s: float

    @property
    def key(self) -> tuple[str, int, str]:
        """What no other row has."""
        return (self.action_id, self.attempt, self.kind)

    @property
    def attribution(self) -> Attribution:
        """Which credential served, and whose it is."""
        return Attribution(
            self.fingerprint,
            self.credential_kind,
            self.credential_owner,
            self.is_subscription_served,
        )

    @property
    def request_id(self) -> str:
        """The action's id, with the suffix of calls that the router made itself."""
        return self.action_id + REQUEST_SUFFIXES.get(AttemptKind(self.kind), "")


@dataclass(frozen=True, slots=True)
class Bill:
    """What the serving attempt of an action used and costs."""

    usage: Usage
    cost: Cost
