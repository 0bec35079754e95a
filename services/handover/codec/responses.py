"""What came of a summary as a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf import timestamp_pb2
from pointsman.common.v1 import attempt_pb2, binding_pb2, conversation_pb2
from pointsman.handover.v1 import handover_pb2 as pb

from services.handover.codec.enums import FAMILIES, OUTCOMES

if TYPE_CHECKING:
    from services.handover.model import BindingRef, Context, Question, Result, StoredSummary

_NANOS = 1_000_000_000


def response_of(question: Question, result: Result, service_version: str) -> pb.SummarizeResponse:
    """Return the answer; without a rewritten body the gateway keeps the full history."""
    context, rewritten = question.context, result.rewritten
    message = pb.SummarizeResponse(
        outcome=OUTCOMES[result.outcome],
        stored=stored_message(result.stored) if result.stored else None,
        summary_token_count=result.summary_tokens,
        attempts=[attempt_pb2.AttemptRecord.FromString(row.record) for row in result.attempts],
        versions=versions_of(context, service_version),
    )
    if rewritten is not None:
        message.body.CopyFrom(
            conversation_pb2.RequestBody(
                wire_family=FAMILIES[question.family],
                body=rewritten.body,
                path_model=question.path_model,
            )
        )
        message.removed_message_count = rewritten.removed_messages
        message.overflow_token_count = rewritten.overflow_tokens
    return message


def binding_message(ref: BindingRef) -> binding_pb2.BindingRef:
    """Return a binding as a message."""
    return binding_pb2.BindingRef(
        model_id=ref.model_id,
        provider=ref.provider,
        upstream_id=ref.upstream_id,
        binding_index=ref.index,
    )


def timestamp(unix_s: float) -> timestamp_pb2.Timestamp:
    """Return an instant as a message."""
    nanos = round(unix_s * _NANOS)
    return timestamp_pb2.Timestamp(seconds=nanos // _NANOS, nanos=nanos % _NANOS)


def versions_of(context: Context, service_version: str) -> binding_pb2.Versions:
    """Return what an answer was made with."""
    return binding_pb2.Versions(
        service_version=service_version,
        catalog_version=context.catalog_version,
        config_version=context.config_version,
        eligibility_id=context.eligibility_id,
    )


def stored_message(stored: StoredSummary) -> pb.StoredSummary:
    """Return a summary to keep as a message."""
    return pb.StoredSummary(
        text=stored.text,
        prefix_digest=stored.prefix_digest,
        message_count=stored.message_count,
        summarizer=binding_message(stored.summarizer),
        instruction_version=stored.instruction_version,
        expire_time=timestamp(stored.expire_unix_s),
    )
