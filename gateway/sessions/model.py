"""What a session is known by: one frozen value per thread and role, with bounded parts.

Times are wall time in seconds since 1970. Every part is small, so that a session costs one row.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from gateway.model import InstallationId
from services.domain.copying import replace
from services.domain.wire.state.kept import Kept

TTL_S = 3600.0
"""How long a pin lives after its last use."""

FOREVER_UNIX_S = 253_402_300_799.0
"""End of the year 9999: until when a forced pin holds."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a session is kept. Without an installation nothing is pinned."""

    key: bytes
    role: str
    installation_id: InstallationId


@dataclass(frozen=True, slots=True)
class Choice:
    """A model at a provider that an action chose, and why."""

    model_id: str
    provider: str
    strategy: str
    reason: str = ""
    effort: str = ""
    paired_model_id: str = ""
    paired_provider: str = ""


@dataclass(frozen=True, slots=True)
class Pin:
    """What a session is pinned to. A blank model: it was cleared on purpose."""

    choice: Choice
    until_unix_s: float
    first_unix_s: float
    turn_count: int = 1

    @property
    def is_named(self) -> bool:
        """Whether it names a model, live or not."""
        return bool(self.choice.model_id)

    @property
    def is_forced(self) -> bool:
        """Whether a person forced it: it never expires."""
        return self.is_named and self.until_unix_s >= FOREVER_UNIX_S

    def is_live_at(self, now_unix_s: float) -> bool:
        """Return whether it may serve now."""
        return self.is_named and now_unix_s < self.until_unix_s


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens of one answer; the prompt is fresh + read + written."""

    fresh: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    @property
    def cached(self) -> int:
        """Tokens that the provider's cache holds afterwards."""
        return self.cache_read + self.cache_write

    @property
    def is_empty(self) -> bool:
        """Whether nothing was counted."""
        return not (self.fresh or self.cached or self.output)


@dataclass(frozen=True, slots=True)
class BindingUse:
    """The last answer that one model at one provider gave through one credential."""

    model_id: str
    provider: str
    fingerprint: str
    tokens: TokenCounts
    started_unix_s: float
    ended_unix_s: float
    cache_ttl_s: float
    history_epoch: int = 0
    """The session's history when it was given; another one means that the cache is of no use."""
    estimated_tokens: int = 0
    """What its prompt was estimated at before it was counted; 0: not known."""
    is_output_limited: bool = False
    """Whether the provider said that it stopped at the output limit."""


@dataclass(frozen=True, slots=True)
class Strike:
    """Evidence against a model. Without an end it holds as long as the session is kept."""

    model_id: str
    reason: str
    until_unix_s: float | None = None


@dataclass(frozen=True, slots=True)
class Strikes:
    """All evidence that outlives one action."""

    upstream_errors: int = 0
    """Refusals in a row."""
    overloads: int = 0
    """Overloaded answers in a row that the client saw."""
    disabled_providers: tuple[str, ...] = ()
    models: tuple[Strike, ...] = ()

    def without_counts(self) -> Strikes:
        """Return what is left when a row of errors ends: itself where there was none."""
        if not self.upstream_errors and not self.overloads:
            return self
        return replace(self, upstream_errors=0, overloads=0)


@dataclass(frozen=True, slots=True)
class MeanRisk:
    """The running mean of one model's risk in this session, [0, 1]."""

    model_id: str
    mean: float


@dataclass(frozen=True, slots=True)
class Risks:
    """Means of the models scored so far, latest first, and which actions they hold."""

    means: tuple[MeanRisk, ...] = ()
    action_count: int = 0
    counted_actions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """How long the client's history was when it was last seen."""

    message_count: int
    tool_call_count: int
    seen_unix_s: float


@dataclass(frozen=True, slots=True)
class Round:
    """One request that was answered, known by a digest, and who answered it."""

    digest: bytes
    model_id: str
    provider: str
    seen_unix_s: float


@dataclass(frozen=True, slots=True)
class Alias:
    """The latest thread of a conversation in one role."""

    role: str
    key: bytes
    seen_unix_s: float


@dataclass(frozen=True, slots=True)
class Issued:
    """An answer that a provider keeps, and who gave it."""

    answer_id: str
    model_id: str
    provider: str
    credential_id: str = ""
    """Empty: not known, or none of ours."""


@dataclass(frozen=True, slots=True)
class Session:
    """All that is remembered of one thread in one role."""

    address: Address
    version: int = 0
    """Version in the store; 0: it was never stored."""
    pin: Pin | None = None
    pin_epoch: int = 0
    """Counts clears and expiries; a pin decided before one is not written after it."""
    uses: tuple[BindingUse, ...] = ()
    """Latest first, one per model, provider and credential."""
    has_ever_switched: bool = False
    last_output_limit_unix_s: float | None = None
    strikes: Strikes = field(default_factory=Strikes)
    risks: Risks = field(default_factory=Risks)
    history: History | None = None
    history_epoch: int = 0
    """Counts the times that prompts began otherwise: cut by the client, or shortened anew."""
    rounds: tuple[Round, ...] = ()
    """The requests answered last, latest first; none where the client names no session."""
    escalation: str = ""
    """What was done about the first loop that was seen; empty: there was none."""
    summary: bytes = b""
    """A kept summary, opaque to the session."""
    compaction: bytes = b""
    """What the last compaction left to be used again, opaque too."""
    aliases: tuple[Alias, ...] = ()
    answers: tuple[Issued, ...] = ()
    """Answers that providers keep, latest first."""
    states: tuple[Kept, ...] = ()
    """Opaque state of vendors that the client may lose, oldest first."""
    fit_ratio: float = 1.0
    """What estimates of prompts are to be multiplied by before they are held against windows."""
    last_seen_unix_s: float = 0.0

    @property
    def last_use(self) -> BindingUse | None:
        """The latest answer."""
        return self.uses[0] if self.uses else None

    @property
    def last_served_model(self) -> str:
        """Model of the latest answer; empty: none yet."""
        return self.uses[0].model_id if self.uses else ""

    @property
    def expires_unix_s(self) -> float:
        """From when on it is of no use."""
        pinned = self.pin.until_unix_s if self.pin is not None else 0.0
        return max(pinned, self.last_seen_unix_s + TTL_S)


class CacheState(enum.StrEnum):
    """How warm the prompt cache of a pin is, spelled as the planner's contract has it."""

    WARM = "warm"
    COLD = "cold"
    BROKEN = "broken"
