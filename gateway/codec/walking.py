"""Messages of RouterService about a walk as it goes on: attempts that begin and that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf import duration_pb2
from pointsman.common.v1 import attempt_pb2, binding_pb2
from pointsman.router.v1 import router_pb2

from gateway.codec.attempts import binding_ref, credential
from gateway.codec.enums import (
    CAUSES,
    FAILURES,
    OUTCOMES,
    STEPS,
)

if TYPE_CHECKING:
    from gateway.model.explained import Began, Lost
    from gateway.model.record import AttemptRecord


def begin_notice(began: Began) -> router_pb2.AttemptBegin:
    """Return what tells that an attempt begins."""
    started = began.started
    return router_pb2.AttemptBegin(
        action_id=began.action_id,
        attempt_number=started.number,
        binding=binding_pb2.BindingRef(
            model_id=started.model_id,
            provider=started.provider,
            binding_index=started.binding_index,
        ),
        cause=CAUSES.get(started.cause),
        credential=credential(started.attribution) if started.attribution is not None else None,
        wait=_duration(started.wait_s) if started.wait_s else None,
        installation_id=began.installation_id,
    )


def lost_notice(lost: Lost) -> router_pb2.AttemptNotice:
    """Return what became of an attempt that did not answer, and what follows."""
    failed = lost.failed
    return router_pb2.AttemptNotice(
        action_id=lost.action_id,
        attempt=_record(failed.attempt) if failed.attempt is not None else None,
        installation_id=lost.installation_id,
        next_step=STEPS.get(failed.next_step),
        wait=_duration(failed.wait_s) if failed.wait_s else None,
        retry_delay=_duration(failed.retry_after_s) if failed.retry_after_s is not None else None,
        vendor_type=failed.vendor_type,
        dropped_feature=failed.dropped_feature,
    )


def _record(record: AttemptRecord) -> attempt_pb2.AttemptRecord:
    return attempt_pb2.AttemptRecord(
        attempt_number=record.number,
        kind=attempt_pb2.ATTEMPT_KIND_SERVE,
        binding=binding_ref(record.binding),
        cause=CAUSES.get(record.cause),
        credential=credential(record.attribution),
        outcome=OUTCOMES[record.outcome],
        http_status=record.http_status,
        is_fast_tier=record.is_fast_tier,
        failure_class=FAILURES.get(record.failure),
    )


def _duration(seconds: float) -> duration_pb2.Duration:
    span = duration_pb2.Duration()
    span.FromMilliseconds(round(seconds * 1000))
    return span
