"""Values of one selection: what is asked, the verdict on each candidate, what was picked."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from services.credentials.model.grant import Bucket

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.credentials.model.credential import Credential
    from services.credentials.model.eligibility import Eligibility
    from services.credentials.model.grant import Grant, PresentedIdentity
    from services.credentials.model.mark import Subject
    from services.domain.vocab import CredentialKind, CredentialOwner


class Strategy(enum.StrEnum):
    """Names how one of several equal candidates is chosen."""

    ROUND_ROBIN = "round_robin"
    FILL_FIRST = "fill_first"
    WEIGHTED = "weighted"
    SOLE = "sole"
    """There was only one."""


class Purpose(enum.StrEnum):
    """Names what a credential is wanted for."""

    SERVE = "serve"
    AUXILIARY = "auxiliary"
    COUNT_TOKENS = "count_tokens"
    LIST_MODELS = "list_models"

    @property
    def holds_slot(self) -> bool:
        """Whether a grant for it counts as an attempt in flight."""
        return self in (Purpose.SERVE, Purpose.AUXILIARY)


class Verdict(enum.StrEnum):
    """Names what selection says about one candidate."""

    PICKED = "picked"
    LOWER_PRIORITY = "lower_priority"
    NOT_THIS_TURN = "not_this_turn"
    WARNED = "warned"
    OVERAGE = "overage"
    COOLING = "cooling"
    EXHAUSTED = "exhausted"
    UNSUPPORTED = "unsupported"
    AUTH = "auth"
    DISABLED = "disabled"
    EXCLUDED = "excluded"
    PREFIX = "prefix"
    PLAN = "plan"
    BUSY = "busy"
    TRIED = "tried"
    EDGE = "edge"
    SUPPRESSED = "suppressed"


@dataclass(frozen=True, slots=True)
class BindingRef:
    """One model at one provider; ``model_id`` is empty where models do not matter."""

    model_id: str
    provider: str
    upstream_id: str = ""
    binding_index: int = 0


@dataclass(frozen=True, slots=True)
class SuppressedPlan:
    """Plan tokens of one kind and owner that may not be used for this action."""

    kind: CredentialKind
    owner: CredentialOwner


@dataclass(frozen=True, slots=True)
class Query:
    """What a selection is asked."""

    action_id: str
    installation_id: str
    idempotency_key: str
    bindings: tuple[BindingRef, ...]
    session_key: bytes = b""
    purpose: Purpose = Purpose.SERVE
    eligibility: Eligibility | None = None
    presented: tuple[PresentedIdentity, ...] = ()
    tried: frozenset[str] = frozenset()
    suppressed: frozenset[SuppressedPlan] = frozenset()
    required_credential_id: str = field(default="", repr=False)
    max_wait_s: float = 0.0


class CursorKey(NamedTuple):
    """Names one rotation: equal candidates share one."""

    installation_id: str
    provider: str
    model_id: str
    bucket: Bucket
    priority: int


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a rotation stands."""

    last_id: str = field(default="", repr=False)
    current_weights: tuple[tuple[str, int], ...] = field(default=(), repr=False)
    """Smooth weights by credential id."""


class InFlight(NamedTuple):
    """Attempts in flight, by credential and by (credential, canonical model)."""

    by_credential: Mapping[str, int]
    by_model: Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Slot:
    """One attempt that counts against the limits of a credential, by the id of its grant."""

    grant_id: str
    credential_id: str = field(repr=False)
    model_id: str
    limit: int
    """Most attempts at once on the credential; 0: no limit."""
    model_limit: int
    """The same for the model."""

    def shared_by(self, count: int) -> Slot:
        """Return the slot with the share of its limits that one of so many replicas may use alone;
        1 at least, so that nobody is shut out. 0: nobody knows how many there are."""
        return replace(
            self,
            limit=_share(self.limit, count),
            model_limit=_share(self.model_limit, count),
        )

    def without_limits(self) -> Slot:
        """Return the slot as an attempt has it that runs already."""
        return replace(self, limit=0, model_limit=0)


def _share(limit: int, count: int) -> int:
    return min(limit, max(1, limit // count if count else 1))


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on one candidate."""

    credential: Credential
    verdict: Verdict
    until_unix_s: float | None = None
    """When the verdict lapses; None: not by itself."""
    window: str = ""


@dataclass(frozen=True, slots=True)
class Pick:
    """A credential and how it was chosen."""

    credential: Credential
    bucket: Bucket
    priority: int
    strategy: Strategy
    is_affinity_hit: bool
    cursor_key: CursorKey
    cursor: Cursor
    is_trial: bool = False
    """Whether it is blocked by quota and may be tried all the same."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome of one binding: a pick or none, and what stands against the others."""

    binding: BindingRef
    subject: Subject
    revision: int
    now_unix_s: float
    barred: tuple[Judged, ...]
    """Candidates that something stands against."""
    free: tuple[Credential, ...] = ()
    """Candidates that nothing stands against; the pick is one of them."""
    pick: Pick | None = None
    is_gateway_exclusive: bool = False
    """Whether only the tenant's gateway keys could have served."""

    @property
    def candidate_count(self) -> int:
        """Candidates after tenant, model and provider rules."""
        return len(self.free) + sum(one.verdict not in NOT_CANDIDATES for one in self.barred)

    @property
    def eligible_count(self) -> int:
        """Candidates free of hard marks."""
        return len(self.free) + sum(one.verdict is Verdict.BUSY for one in self.barred)


@dataclass(frozen=True, slots=True)
class Selected:
    """A grant, which of the asked bindings it is for, and how it came about."""

    grant: Grant
    index: int
    decision: Decision | None
    """None: a presented credential, which nothing is chosen for."""


NOT_CANDIDATES = frozenset(
    {Verdict.EXCLUDED, Verdict.PREFIX, Verdict.PLAN, Verdict.SUPPRESSED, Verdict.UNSUPPORTED}
)
