"""Values of explained decisions and of what is told about running actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from gateway.model.action import Action, ActionId, InstallationId
    from gateway.model.attempt import AttemptFailed, AttemptStarted, BindingRef
    from gateway.model.decision import Decision
    from gateway.model.record import LedgerRow
    from gateway.sessions.model import CacheState


@dataclass(frozen=True, slots=True)
class AssumedPin:
    """A pin that a caller wants to be assumed; what it does not say is None."""

    model_id: str
    provider: str
    has_completed_action: bool = True
    cache: CacheState | None = None
    wire: bytes = b""
    """Its message, as it came."""


@dataclass(frozen=True, slots=True)
class Working:
    """The messages in which scorer and planner answered; empty: not asked, or no answer."""

    score: bytes = b""
    plan: bytes = b""


@dataclass(frozen=True, slots=True)
class CredentialPreview:
    """Which credential would be chosen now."""

    fingerprint: str = ""
    plan_index: int = -1
    """Place in the plan of the binding that it is for; -1: there is none."""
    denial: str = ""
    """Reason why none could be chosen; empty: one could."""


@dataclass(frozen=True, slots=True)
class ExpectedCosts:
    """What an action is expected to cost, in micro-USD; None: unpriced."""

    served: int | None = None
    requested: int | None = None
    """On the model that was asked for."""


@dataclass(frozen=True, slots=True)
class ShadowPick:
    """What a shadow strategy would have picked; a cost of None: unpriced."""

    strategy: str
    binding: BindingRef
    reason: str
    expected_cost_micros: int | None = None


@dataclass(frozen=True, slots=True)
class Explained:
    """A decision with everything it rests on."""

    action: Action
    decision: Decision
    strategy: str
    decide_unix_s: float
    costs: ExpectedCosts = ExpectedCosts()
    working: Working = Working()
    pin: AssumedPin | None = None
    credential: CredentialPreview | None = None
    shadow: ShadowPick | None = None


@dataclass(frozen=True, slots=True)
class Completed:
    """What an action came to."""

    action_id: ActionId
    installation_id: InstallationId
    session_key: bytes
    http_status: int
    served: BindingRef | None = None
    rows: tuple[LedgerRow, ...] = ()
    """What the ledger has of it so far."""
    failure: str = ""
    attempt_count: int = 0
    saved_micros: int | None = None
    """What the model that was asked for would have cost besides; None: one side is unpriced."""

    @property
    def serving_row(self) -> LedgerRow | None:
        """The row of the attempt that answered."""
        return next((row for row in self.rows if row.outcome in ("served", "broken")), None)

    @property
    def charged_micros(self) -> int | None:
        """The charge over all attempts and summaries; None: something is unpriced."""
        if not self.rows or any(row.cost_micros is None and row.source for row in self.rows):
            return None
        return sum(row.charged_micros for row in self.rows)


@dataclass(frozen=True, slots=True)
class Began:
    """An attempt of an action that begins."""

    action_id: ActionId
    installation_id: InstallationId
    started: AttemptStarted


@dataclass(frozen=True, slots=True)
class Lost:
    """An attempt of an action that failed, or was passed over."""

    action_id: ActionId
    installation_id: InstallationId
    failed: AttemptFailed


@dataclass(frozen=True, slots=True)
class Shadowed:
    """An action that a shadow strategy decided once more."""

    action_id: ActionId
    installation_id: InstallationId
    shadow: ShadowPick


Event: TypeAlias = "Explained | Shadowed | Began | Lost | LedgerRow | Completed"
"""Something that was decided, by the strategy or its shadow, an attempt that begins or ended, or an
action that is over."""
