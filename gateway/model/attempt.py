"""Values of attempts: what is tried, and the parts of what dispatch answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.model.action import Presented, PresentedIdentity
    from gateway.model.record import AttemptRecord, Attribution
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


@dataclass(frozen=True, slots=True)
class Grant:
    """A grant passed on as it came; ``wire`` is its message, ``binding_index`` what it is for."""

    binding_index: int
    attribution: Attribution
    wire: bytes

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


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """An attempt did not answer."""

    provider: str
    failure: FailureClass
    attempt: AttemptRecord | None = None


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
    vendor_type: str = ""
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
    vendor_type: str = ""
    is_caller_credential: bool = False
    attempts: tuple[AttemptRecord, ...] = ()


Part = AttemptStarted | AttemptFailed | Head | bytes | Tail | Failed
"""One part of what dispatch answers; a chunk is plain bytes."""
