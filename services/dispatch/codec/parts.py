"""Parts of an answer as messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.dispatch.v1 import dispatch_pb2 as pb

from services.dispatch.codec import enums as tables
from services.dispatch.codec.common import (
    attribution_fields,
    binding_fields,
    duration,
    header_fields,
    timestamp,
)
from services.dispatch.codec.requests import page_token
from services.dispatch.model.outcome import Head, Missed, Started, Tail, Unserved
from services.dispatch.policy.mask import masked_body
from services.domain.vocab import FailureClass
from services.domain.wire.errors import mask_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.dispatch.model.outcome import AttemptRecord, Broken, Effect, Measured, Part
    from services.dispatch.model.plan import BindingRef
    from services.dispatch.policy.upstream_models import UpstreamModel
    from services.domain.fields import Fields


def message_of(part: Part, *others: Part) -> pb.DispatchResponse:
    """Return one part as its message; ``others`` are those that are ready together with it."""
    if isinstance(part, bytes) and not others:
        return pb.DispatchResponse(chunk=part)
    more = [_fields(other) for other in others]
    return pb.DispatchResponse(more=more, **_fields(part))  # type: ignore[arg-type]  # one, by its name


def _fields(part: Part) -> Fields:
    match part:
        case bytes():
            return {"chunk": part}
        case Started():
            return {"attempt_started": _started(part)}
        case Missed():
            return {"attempt_failed": _missed(part)}
        case Head():
            return {"head": _head(part)}
        case Tail():
            return {"tail": _tail(part)}
        case Unserved():
            return {"failed": _failed(part)}


def _started(part: Started) -> Fields:
    return {
        "attempt_number": part.number,
        "plan_index": part.plan_index,
        "binding": binding_fields(part.binding),
        "wire_family": tables.FAMILY.number(part.family),
        "cause": tables.CAUSE.number(part.cause),
        "context_window_token_count": part.context_window_tokens,
        "credential": attribution_fields(part.credential),
        "wait": duration(part.wait_s) if part.wait_s else None,
    }


def _missed(part: Missed) -> Fields:
    return {
        "attempt": _record(part.record),
        "next_step": tables.STEP.number(part.step),
        "wait": duration(part.wait_s) if part.wait_s else None,
        "retry_delay": duration(part.retry_after_s),
        "vendor_type": part.vendor_type,
        "effect_if_rescued": _effect(part.if_rescued),
        "effect_if_unserved": _effect(part.if_unserved),
        "dropped_feature": part.dropped_feature,
    }


def _effect(effect: Effect | None) -> Fields | None:
    if effect is None:
        return None
    return {
        "kind": tables.EFFECT.number(effect.kind),
        "model_id": effect.binding.model_id,
        "provider": effect.binding.provider,
    }


def _head(part: Head) -> Fields:
    return {
        "attempt_number": part.number,
        "binding": binding_fields(part.binding),
        "wire_family": tables.FAMILY.number(part.family),
        "http_status": part.http_status,
        "headers": header_fields(part.headers),
        "is_stream": part.body_bytes is None,
        "body_bytes": part.body_bytes,
        "context_window_token_count": part.context_window_tokens,
        "plan_index": part.plan_index,
        "planned_provider": part.planned_provider,
        "cause": tables.CAUSE.number(part.cause),
        "credential": attribution_fields(part.credential),
        "is_model_aliased": part.is_model_aliased,
        "is_fast_tier": part.is_fast_tier,
        "transforms": [
            {
                "code": row.code,
                "action": tables.TRANSFORM.number(row.action),
                "path": row.path,
            }
            for row in part.transforms
        ],
    }


def _tail(part: Tail) -> Fields:
    return {
        "attempt": _record(part.record),
        "stop_reason": tables.STOP.number(part.stop),
        "failure": _broken(part.broken),
        "refusal_seen": part.refusal_seen,
        "attempt_count": part.attempt_count,
        "tool_call_count": part.tool_calls,
        "sent_bytes": part.sent_bytes,
        "max_gap": duration(part.max_gap_s),
        "pre_commit_duration": duration(part.pre_commit_s),
        "rescue_cause": tables.CAUSE.number(part.rescue),
        "effect": _effect(part.effect),
        "dropped_feature": part.dropped_feature,
    }


def _broken(broken: Broken | None) -> Fields | None:
    if broken is None:
        return None
    return {
        "http_status": broken.http_status,
        "vendor_type": broken.vendor_type,
        "message": mask_keys(broken.message),
        "is_error_frame_sent": broken.is_error_frame_sent,
    }


def _failed(part: Unserved) -> Fields:
    fault = part.fault
    return {
        "failure_class": tables.FAILURE.number(fault.failure_class),
        "upstream_status": fault.http_status,
        "body": masked_body(fault.body),
        "is_body_truncated": fault.is_body_truncated,
        "headers": header_fields(part.headers),
        "retry_delay": duration(part.retry_after_s),
        "attempts": [_record(record) for record in part.records],
        "rendered_attempt_number": part.rendered_number,
        "wire_family": tables.FAMILY.number(part.family),
        "vendor_type": fault.vendor_type,
        "is_caller_credential": part.is_caller_credential,
        "walk_end": tables.WALK_END.number(part.end),
        "rescue_cause": tables.CAUSE.number(part.rescue),
        "unbuildable_reason": (
            fault.message if fault.failure_class is FailureClass.UNBUILDABLE else ""
        ),
    }


def _record(record: AttemptRecord) -> Fields:
    timing = record.timing
    return {
        "attempt_number": record.number,
        "kind": tables.KIND.number(record.kind),
        "binding": binding_fields(record.binding),
        "plan_index": record.plan_index,
        "cause": tables.CAUSE.number(record.cause),
        "wire_family": tables.FAMILY.number(record.family),
        "credential": attribution_fields(record.credential),
        "outcome": tables.OUTCOME.number(record.outcome),
        "http_status": record.http_status,
        "usage": _usage(record.measured),
        "start_time": timestamp(timing.start_unix_s),
        "header_latency": duration(timing.header_s),
        "first_output_latency": duration(timing.first_output_s),
        "total_latency": duration(timing.total_s),
        "send_count": record.send_count,
        "upstream_request_id": record.upstream_request_id,
        "failure_class": tables.FAILURE.number(record.failure_class),
        "is_fast_tier": record.is_fast_tier,
    }


def _usage(measured: Measured | None) -> Fields | None:
    if measured is None:
        return None
    usage = measured.usage
    return {
        "fresh_input_token_count": usage.fresh_input,
        "cache_read_token_count": usage.cache_read,
        "cache_write_token_count": usage.cache_write,
        "cache_write_one_hour_token_count": usage.cache_write_1h,
        "output_token_count": usage.output,
        "reasoning_token_count": usage.reasoning,
        "server_tool_call_count": usage.server_tool_calls,
        "source": tables.USAGE_SOURCE.number(measured.source),
    }


def count_message(tokens: int, binding: BindingRef | None) -> pb.CountTokensResponse:
    """Return a token count; without a binding it is an estimate."""
    is_counted = binding is not None
    return pb.CountTokensResponse(
        input_token_count=tokens,
        source=pb.COUNT_SOURCE_UPSTREAM if is_counted else pb.COUNT_SOURCE_ESTIMATE,
        binding=binding_fields(binding) if binding else None,
    )


def models_message(models: Sequence[UpstreamModel], after: str) -> pb.ListUpstreamModelsResponse:
    """Return one page of a provider's models."""
    return pb.ListUpstreamModelsResponse(
        models=[
            pb.UpstreamModel(
                upstream_id=model.upstream_id,
                display_name=model.display_name,
                context_window_token_count=model.context_window_tokens,
                max_output_token_count=model.max_output_tokens,
                model_id=model.model_id,
            )
            for model in models
        ],
        next_page_token=page_token(after),
    )
