"""What came of attempts and walks: the parts of the answer, before they are encoded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.dispatch.model.access import Attribution
    from services.dispatch.model.enums import (
        AttemptCause,
        AttemptKind,
        AttemptOutcome,
        EffectKind,
        UsageSource,
        WalkEnd,
        WalkStep,
    )
    from services.dispatch.model.plan import BindingRef, HeaderPairs
    from services.domain.vocab import FailureClass, WireFamily
    from services.domain.wire.model import StopReason, Transform, Usage

MAX_ERROR_BODY_BYTES = 64 * 1024
"""Most bytes of an upstream's error body that are kept."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why one attempt did not answer, with all that rendering its error needs."""

    failure_class: FailureClass
    http_status: int | None = None
    """The upstream's, or the one that its in-stream error stands for."""
    body: bytes = field(default=b"", repr=False)
    is_body_truncated: bool = False
    headers: HeaderPairs = ()
    retry_after_s: float | None = None
    vendor_type: str = ""
    message: str = ""
    """For people and in-stream errors; masked by who shows it."""
    stall_kind: str = ""
    """Which watchdog fired: ``byte_idle`` or ``output_idle``; empty: none."""


class AttemptFault(Exception):  # noqa: N818 - an outcome that unwinds an attempt, not a defect
    """Unwinds an attempt that failed before the commit point."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.failure_class.value)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Measured:
    """Tokens of one call, and where the figures come from."""

    usage: Usage
    source: UsageSource


@dataclass(frozen=True, slots=True)
class Timing:
    """When an attempt was sent and how long its parts took, in seconds; None: never came."""

    start_unix_s: float | None = None
    header_s: float | None = None
    first_output_s: float | None = None
    total_s: float | None = None


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One attempt, whatever became of it."""

    number: int
    kind: AttemptKind
    binding: BindingRef
    plan_index: int
    cause: AttemptCause
    family: WireFamily | None
    outcome: AttemptOutcome
    credential: Attribution | None = None
    http_status: int | None = None
    measured: Measured | None = None
    timing: Timing = Timing()
    send_count: int = 0
    upstream_request_id: str = ""
    failure_class: FailureClass | None = None
    is_fast_tier: bool = False


@dataclass(frozen=True, slots=True)
class Started:
    """An attempt begins."""

    number: int
    plan_index: int
    binding: BindingRef
    family: WireFamily | None
    cause: AttemptCause
    context_window_tokens: int
    credential: Attribution | None
    wait_s: float


@dataclass(frozen=True, slots=True)
class Effect:
    """What a session should remember of a model at a provider."""

    kind: EffectKind
    binding: BindingRef


@dataclass(frozen=True, slots=True)
class Missed:
    """The attempt just begun failed before the commit point, or was passed over."""

    record: AttemptRecord
    step: WalkStep
    wait_s: float
    retry_after_s: float | None
    vendor_type: str
    if_rescued: Effect | None = None
    """To remember once the walk goes on from here to an answer."""
    if_unserved: Effect | None = None
    """To remember when nothing serves."""
    dropped_feature: str = ""
    """What the attempt gave up; empty: nothing."""


@dataclass(frozen=True, slots=True)
class Head:
    """The answer begins."""

    number: int
    binding: BindingRef
    family: WireFamily
    http_status: int
    headers: HeaderPairs
    body_bytes: int | None
    """None: a stream."""
    context_window_tokens: int
    plan_index: int
    planned_provider: str
    cause: AttemptCause
    credential: Attribution | None
    is_model_aliased: bool
    transforms: tuple[Transform, ...]
    is_fast_tier: bool = False


@dataclass(frozen=True, slots=True)
class Broken:
    """An error after the commit point."""

    http_status: int
    vendor_type: str
    message: str
    is_error_frame_sent: bool


@dataclass(frozen=True, slots=True)
class Tail:
    """The answer ended."""

    record: AttemptRecord
    stop: StopReason | None
    broken: Broken | None
    refusal_seen: bool
    attempt_count: int
    tool_calls: int
    sent_bytes: int
    max_gap_s: float
    pre_commit_s: float
    rescue: AttemptCause | None = None
    """The rescue that ran last, whether it served or not."""
    effect: Effect | None = None
    dropped_feature: str = ""


@dataclass(frozen=True, slots=True)
class Unserved:
    """No attempt serves."""

    fault: Fault
    headers: HeaderPairs
    """Those of the fault that may go on to the client."""
    retry_after_s: float | None
    """The shortest wait of the whole walk."""
    records: tuple[AttemptRecord, ...]
    rendered_number: int
    family: WireFamily | None
    is_caller_credential: bool
    end: WalkEnd
    rescue: AttemptCause | None = None


Part = Started | Missed | Head | bytes | Tail | Unserved
"""One part of an answer; bytes are a chunk."""
