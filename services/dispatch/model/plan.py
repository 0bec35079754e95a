"""What dispatch is asked: the action, its body, what may serve it, what to try in which order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.dispatch.model.access import Grant, Presented
    from services.dispatch.model.enums import AttemptCause, AttemptKind
    from services.domain.vocab import WireFamily
    from services.domain.wire.model import Address
    from services.domain.wire.state.kept import Restored

HeaderPairs = tuple[tuple[str, str], ...]
"""HTTP headers in order, names in lower case, repeats kept."""

Sealed = NewType("Sealed", bytes)
"""A message of the contract that only passes through on its way to a peer."""


@dataclass(frozen=True, slots=True)
class BindingRef:
    """One model at one provider; an empty ``upstream_id`` means the catalog's."""

    model_id: str
    provider: str
    upstream_id: str = ""
    binding_index: int = 0


@dataclass(frozen=True, slots=True)
class PlannedBinding:
    """One binding of a plan; a ``family`` of None is the provider's own."""

    ref: BindingRef
    family: WireFamily | None = None
    context_window_tokens: int = 0
    effort: str = ""
    """Level of reasoning that is forced; empty: what the client asks for."""
    is_fast_allowed: bool = False
    """Whether the fast tier may be asked for, where the binding has one."""


@dataclass(frozen=True, slots=True)
class ActionRef:
    """The action that a call belongs to."""

    action_id: str
    installation_id: str
    session_key: bytes = b""
    sealed: Sealed = Sealed(b"")


@dataclass(frozen=True, slots=True)
class Eligibility:
    """What may serve an action; ``providers`` of None restricts none."""

    installation_id: str
    providers: frozenset[str] | None = None
    excluded_providers: frozenset[str] = frozenset()
    excluded_models: frozenset[str] = frozenset()
    """The union of all hard layers."""
    excluded_bindings: frozenset[tuple[str, str]] = frozenset()
    """Pairs of model and provider."""
    is_gateway_exclusive: bool = False
    gateway_models: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Models that the tenant's own endpoints alias, by provider."""
    sealed: Sealed = Sealed(b"")


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits on one walk. Times in seconds."""

    max_attempts: int = 6
    """Rotations are not counted."""
    same_binding_retries: int = 2
    same_binding_s: float = 10.0
    pre_commit_s: float = 120.0
    max_throttle_wait_s: float = 10.0
    max_throttle_waits: int = 2
    """Over the whole walk; at most one per binding."""
    max_rescues: int = 3
    """Rescue targets to try."""
    backoff_base_s: float = 0.25
    throttle_backoff_s: tuple[float, ...] = (0.5, 1.5)


@dataclass(frozen=True, slots=True)
class Rescue:
    """One target beside the planned model, and the rescue that may use it."""

    cause: AttemptCause
    bindings: tuple[PlannedBinding, ...]
    """At least one, in the order to try them."""
    is_cooling: bool = False
    cooldown_end_unix_s: float = 0.0
    is_other_provider: bool = False


@dataclass(frozen=True, slots=True)
class RescueFlags:
    """Facts of the action that bar rescues."""

    is_shadow: bool = False
    """Recorded only: no rescue at all."""
    is_hard_pinned: bool = False
    is_authoritative: bool = False
    """A sidecar decides every action: no baseline for mere outages."""
    is_subscription_only: bool = False
    """Only a plan may pay."""
    is_cyber_retry_enabled: bool = False


@dataclass(frozen=True, slots=True)
class Conduct:
    """What is held against a model in its session, as the caller wants it."""

    is_throttle_cooling: bool = False
    """A throttled model cools for a while; else it is struck like others."""
    is_transient_cooling: bool = False
    """So does one that answered 502, 503 or 504."""
    is_overload_struck: bool = False
    """An overload is struck like other faults; else nothing is held against the model."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to try, in which order. ``bindings`` starts at the one to try first."""

    bindings: tuple[PlannedBinding, ...]
    start_index: int
    """Place of the first binding in the caller's list."""
    planned_provider: str
    """Provider of the first binding of the caller's list."""
    budget: Budget
    grant: Grant | None = None
    presented: tuple[Presented, ...] = ()
    first_attempt_number: int = 1
    affinity_key: str = ""
    is_throttle_wait_enabled: bool = False
    is_model_switched: bool = False
    is_user_forced: bool = False
    restored: tuple[Restored, ...] = ()
    """Opaque state that the client lost and the session kept."""
    rescues: tuple[Rescue, ...] = ()
    rescue_flags: RescueFlags = RescueFlags()
    is_transient_cooling_enabled: bool = False
    is_overload_struck: bool = False
    required_credential_id: str = field(default="", repr=False)
    """Stored credential whose account keeps the conversation's state; empty: any may serve."""

    @property
    def conduct(self) -> Conduct:
        """What is held against a model that fails."""
        return Conduct(
            is_throttle_cooling=self.is_throttle_wait_enabled,
            is_transient_cooling=self.is_transient_cooling_enabled,
            is_overload_struck=self.is_overload_struck,
        )


@dataclass(frozen=True, slots=True)
class Order:
    """One request for an answer."""

    action: ActionRef
    family: WireFamily
    """The client's dialect, which ``body`` is written in."""
    body: bytes = field(repr=False)
    eligibility: Eligibility
    plan: Plan
    kind: AttemptKind
    estimated_input_tokens: int = 0
    max_output_tokens: int = 0
    """Longest answer that the client asks for; 0: it does not say."""
    relayed_headers: HeaderPairs = ()
    address: Address | None = None
    """What the path said beside the body; None: the dialect says all in the body."""


@dataclass(frozen=True, slots=True)
class CountOrder:
    """One request for a token count; without a binding only an estimate is wanted."""

    action: ActionRef
    family: WireFamily
    body: bytes = field(repr=False)
    binding: PlannedBinding | None = None
    eligibility: Eligibility | None = None
    grant: Grant | None = None
    relayed_headers: HeaderPairs = ()
    address: Address | None = None


@dataclass(frozen=True, slots=True)
class ListOrder:
    """One request for a page of a provider's own model list."""

    action: ActionRef
    """No action of a client's: it names the tenant whose credential asks, if any."""
    provider: str
    page_size: int
    after: str = ""
    """Upstream id after which the page begins; empty: at the start."""
