"""Values of attempts: what is tried, and the parts of what dispatch answers."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.model.action import Presented, PresentedIdentity
    from gateway.model.record import AttemptRecord, Attribution
    from services.domain.catalog import Binding
    from services.domain.vocab import FailureClass, WireFamily
    from services.domain.wire.model import StopReason, Usage


@dataclass(frozen=True, slots=True)
class BindingRef:
    """One model at one provider, as services name it to each other."""

    model_id: str
    provider: str
    upstream_id: str
    index: int
    context_window_tokens: int = 0

    @staticmethod
    def of(binding: Binding) -> BindingRef:
        """Return the name of a binding of the catalog."""
        return BindingRef(
            model_id=binding.model_id,
            provider=binding.provider,
            upstream_id=binding.upstream_id,
            index=binding.index,
            context_window_tokens=binding.context_window_tokens,
        )


class RescueCause(enum.StrEnum):
    """Why another target than the planned bindings may be tried; in the order of the walk."""

    CYBER_REFUSAL = "cyber_refusal"
    BASELINE = "baseline"
    CLAUDE_PLAN = "claude_plan"
    CODEX_PLAN = "codex_plan"
    LARGER_WINDOW = "larger_window"
    SIBLING = "sibling"


@dataclass(frozen=True, slots=True)
class Rescue:
    """A target that policy allows beside the planned model, and what it is for."""

    cause: RescueCause
    bindings: tuple[BindingRef, ...]
    """At least one, in the order to try them."""
    cooldown_end_unix_s: float | None = None
    """None: nothing is held against it in this session."""
    is_other_provider: bool = False


class EffectKind(enum.StrEnum):
    """What a session should remember of an attempt."""

    COOLDOWN = "cooldown"
    DEMOTE = "demote"
    COUNT_REFUSAL = "count_refusal"
    EVICT_PIN = "evict_pin"
    COUNT_OVERLOAD = "count_overload"
    CLEAR_COUNTS = "clear_counts"
    CORRECT_ESTIMATE = "correct_estimate"


@dataclass(frozen=True, slots=True)
class Effect:
    """What dispatch asks a session to remember of a model at a provider."""

    kind: EffectKind
    model_id: str
    provider: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is tried, in order, and what the walk has to know of the action."""

    bindings: tuple[BindingRef, ...]
    presented: tuple[tuple[Presented, PresentedIdentity], ...] = ()
    is_user_forced: bool = False
    is_hard_pinned: bool = False
    is_model_switched: bool = False
    """Whether signed reasoning in the history may belong to another model."""
    is_stream_usage_wanted: bool = False
    affinity_key: str = ""
    effort: str = ""
    """Level of reasoning that is forced; empty: what the request asks for."""
    rescues: tuple[Rescue, ...] = ()
    is_cyber_retry_enabled: bool = False
    is_throttle_wait_enabled: bool = True
    """Whether a short Retry-After is waited for where there is nowhere else to go."""
    is_transient_cooling_enabled: bool = False
    """Whether a model that answered 502, 503 or 504 rests for the session's while, not for good."""
    is_overload_struck: bool = False
    """Whether overloads are held against a model as other faults are."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A grant passed on as it came; ``wire`` is its message, ``binding_index`` what it is for."""

    binding_index: int
    attribution: Attribution
    wire: bytes
    credential_id: str = field(default="", repr=False)
    """Identity of a stored credential, never shown; empty: none of ours."""

    @property
    def fingerprint(self) -> str:
        """Which credential it is of, without naming it."""
        return self.attribution.fingerprint


@dataclass(frozen=True, slots=True)
class AttemptStarted:
    """An attempt begins."""

    number: int
    provider: str
    model_id: str
    binding_index: int = 0
    attribution: Attribution | None = None
    cause: str = ""
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """An attempt did not answer."""

    provider: str
    failure: FailureClass
    attempt: AttemptRecord | None = None
    if_rescued: Effect | None = None
    if_unserved: Effect | None = None
    next_step: str = ""
    """What the walk does next; empty: not said."""
    wait_s: float = 0.0
    retry_after_s: float | None = None
    """What the upstream asked to be waited."""
    vendor_type: str = ""
    dropped_feature: str = ""
    """What was given up inside the attempt."""


@dataclass(frozen=True, slots=True)
class Head:
    """An answer begins: all that the response headers need."""

    binding: BindingRef
    wire_family: WireFamily
    http_status: int
    headers: tuple[tuple[str, str], ...]
    is_stream: bool
    plan_index: int = 0
    planned_provider: str = ""
    fingerprint: str = ""
    is_model_aliased: bool = False
    number: int = 0
    """Number of the attempt that answers; 0: the one begun last."""
    attribution: Attribution | None = None
    is_fast_tier: bool = False


@dataclass(frozen=True, slots=True)
class StreamFailure:
    """An error after the commit point."""

    http_status: int
    message: str = ""
    is_error_frame_sent: bool = False


@dataclass(frozen=True, slots=True)
class Tail:
    """An answer ended."""

    usage: Usage | None
    stop_reason: StopReason | None
    failure: StreamFailure | None = None
    attempt_count: int = 1
    refusal_seen: bool = False
    attempt: AttemptRecord | None = None
    effect: Effect | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """No attempt served."""

    failure: FailureClass
    upstream_status: int | None = None
    body: bytes = b""
    is_body_truncated: bool = False
    headers: tuple[tuple[str, str], ...] = ()
    retry_after_s: float | None = None
    attempt_count: int = 0
    wire_family: WireFamily | None = None
    is_caller_credential: bool = False
    attempts: tuple[AttemptRecord, ...] = ()
    unbuildable_reason: str = ""
    """What of the request cannot be said to the target, and where it stands."""


Part = AttemptStarted | AttemptFailed | Head | bytes | Tail | Failed
"""One part of what dispatch answers; a chunk is plain bytes."""
