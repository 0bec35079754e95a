"""Questions to models as orders to dispatch, and its parts as what came of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf import duration_pb2
from pointsman.common.v1 import (
    action_pb2,
    attempt_pb2,
    binding_pb2,
    conversation_pb2,
    eligibility_pb2,
    header_pb2,
    usage_pb2,
)
from pointsman.dispatch.v1 import dispatch_pb2 as pb

from services.handover.codec.enums import ATTEMPT_KINDS, FAMILIES, FAMILY_OF
from services.handover.codec.responses import binding_message, timestamp
from services.handover.model import AttemptRow, CallEnd, Sealed, Told

if TYPE_CHECKING:
    from services.domain.vocab import WireFamily
    from services.handover.model import Call

ANTHROPIC_VERSION = "2023-06-01"
RETRIES = 1
"""A summary is worth one more try in place, not a series of them."""
MAX_ANSWER_BYTES = 8 * 1024 * 1024
"""An answer beyond it is cut, and then cannot be read."""


def order_of(call: Call, service_version: str) -> pb.DispatchRequest:
    """Return the order for one call: one binding, no grant, nothing presented, no rescue."""
    context = call.context
    return pb.DispatchRequest(
        action=action_pb2.ActionContext.FromString(context.action),
        body=conversation_pb2.RequestBody(
            wire_family=action_pb2.WIRE_FAMILY_ANTHROPIC, body=call.body
        ),
        features=_features(call),
        eligibility=eligibility_pb2.EligibilityRecord.FromString(context.eligibility),
        plan=pb.AttemptPlan(
            bindings=[_planned(call)],
            budget=_budget(call.budget_s),
            flags=pb.PlanFlags(is_hard_pinned=True, is_throttle_wait_enabled=True),
            first_attempt_number=call.first_attempt_number,
            versions=binding_pb2.Versions(
                service_version=service_version,
                catalog_version=context.catalog_version,
                config_version=context.config_version,
                eligibility_id=context.eligibility_id,
            ),
        ),
        relayed_headers=[header_pb2.HeaderField(name="anthropic-version", value=ANTHROPIC_VERSION)],
        kind=ATTEMPT_KINDS[call.kind],
    )


def _planned(call: Call) -> attempt_pb2.PlannedBinding:
    family = call.summarizer.family
    return attempt_pb2.PlannedBinding(
        binding=binding_message(call.summarizer.binding),
        wire_family=FAMILIES[family] if family is not None else None,
        context_window_token_count=call.summarizer.window_tokens,
    )


def _budget(budget_s: float) -> pb.AttemptBudget:
    whole = duration_pb2.Duration()
    whole.FromMilliseconds(max(0, int(budget_s * 1000)))
    return pb.AttemptBudget(
        max_attempt_count=RETRIES + 1,
        same_binding_retry_count=RETRIES,
        same_binding_duration=whole,
        pre_commit_duration=whole,
        max_throttle_wait=duration_pb2.Duration(),
        max_rescue_count=0,
    )


def _features(call: Call) -> action_pb2.RequestFeatures:
    size = len(call.body)
    return action_pb2.RequestFeatures(
        requested_model=call.summarizer.binding.model_id,
        input_token_count=call.estimated_tokens,
        text_token_count=size // 4,
        overflow_token_count=size // 4,
        full_token_count=size // 6,
        last_kind=action_pb2.LAST_KIND_USER_PROMPT,
        message_count=1,
        body_bytes=size,
    )


class Answer:
    """Collects the parts of one answer; belongs to one reader."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._rows: dict[int, AttemptRow] = {}
        self._running: pb.AttemptStarted | None = None
        self._began_unix_s = 0.0
        self._family: WireFamily | None = None
        self._is_stream = False
        self._body = bytearray()
        self._end: CallEnd | None = None

    def take(self, part: pb.DispatchResponse, now_unix_s: float) -> None:
        """Take the next part; one that is not known is skipped."""
        match part.WhichOneof("part"):
            case "attempt_started":
                self._running, self._began_unix_s = part.attempt_started, now_unix_s
            case "attempt_failed":
                self._add(part.attempt_failed.attempt)
            case "head":
                self._family = FAMILY_OF.get(part.head.wire_family)
                self._is_stream = part.head.is_stream
            case "chunk":
                self._body += part.chunk[: MAX_ANSWER_BYTES - len(self._body)]
            case "tail":
                tail = part.tail
                self._add(tail.attempt)
                is_bad = tail.HasField("failure") or tail.refusal_seen
                self._end = CallEnd.REFUSED if is_bad else CallEnd.ANSWERED
            case "failed":
                for record in part.failed.attempts:
                    self._add(record)
                # A walk waits for headers to its end: one that ran out of them ran out of time.
                is_late = part.failed.failure_class == attempt_pb2.FAILURE_CLASS_HEADER_TIMEOUT
                self._end = CallEnd.LATE if is_late else CallEnd.REFUSED
            case _:
                return

    def told(self) -> Told:
        """Return what came of the call that ended by itself."""
        if self._end is None:
            return self.lost(CallEnd.UNREACHABLE)
        body = bytes(self._body)
        return Told(self._end, self._attempts(), self._family, body, is_stream=self._is_stream)

    def lost(self, end: CallEnd) -> Told:
        """Return what came of a call that broke off; its running attempt is estimated."""
        started = self._running
        if started is not None and started.attempt_number not in self._rows:
            self._add(self._estimated(started))
        return Told(end, self._attempts())

    def _attempts(self) -> tuple[AttemptRow, ...]:
        return tuple(self._rows[number] for number in sorted(self._rows))

    def _add(self, record: attempt_pb2.AttemptRecord) -> None:
        number = record.attempt_number
        self._rows[number] = AttemptRow(number, Sealed(record.SerializeToString()))

    def _estimated(self, started: pb.AttemptStarted) -> attempt_pb2.AttemptRecord:
        return attempt_pb2.AttemptRecord(
            attempt_number=started.attempt_number,
            kind=ATTEMPT_KINDS[self._call.kind],
            binding=started.binding,
            plan_index=started.plan_index,
            cause=started.cause,
            wire_family=started.wire_family,
            credential=started.credential if started.HasField("credential") else None,
            outcome=attempt_pb2.ATTEMPT_OUTCOME_ABORTED,
            usage=usage_pb2.Usage(
                fresh_input_token_count=self._call.estimated_tokens,
                output_token_count=len(self._body) // 4,
                source=usage_pb2.USAGE_SOURCE_ESTIMATED,
            ),
            start_time=timestamp(self._began_unix_s),
            send_count=1,
            failure_class=attempt_pb2.FAILURE_CLASS_CANCELLED,
        )
