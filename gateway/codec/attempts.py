"""Records of attempts to values: what dispatch, and handover through it, say became of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.codec.enums import CAUSE_OF, FAILURE_OF, KIND_OF, OUTCOME_OF, OWNER_OF, SOURCE_OF
from gateway.model.attempt import BindingRef
from gateway.model.record import AttemptOutcome, AttemptRecord, Attribution, UsageSource
from services.domain.vocab import FailureClass
from services.domain.wire.model import Usage

if TYPE_CHECKING:
    from pointsman.common.v1 import attempt_pb2, binding_pb2, grant_pb2, usage_pb2

_WITH_OUTPUT = frozenset({AttemptOutcome.SERVED, AttemptOutcome.BROKEN})


def record_of(message: attempt_pb2.AttemptRecord) -> AttemptRecord:
    """Return one attempt; an outcome that is not known is a failure."""
    outcome = OUTCOME_OF.get(message.outcome, AttemptOutcome.FAILED)
    usage = message.usage if message.HasField("usage") else None
    has_output = outcome in _WITH_OUTPUT or message.HasField("first_output_latency")
    return AttemptRecord(
        number=message.attempt_number,
        binding=binding_of(message.binding),
        outcome=outcome,
        attribution=attribution_of(message.credential),
        usage=usage_of(usage) if usage is not None else None,
        source=SOURCE_OF.get(usage.source, UsageSource.ESTIMATED)
        if usage is not None
        else UsageSource.REPORTED,
        has_output=has_output,
        is_fast_tier=message.is_fast_tier,
        cause=CAUSE_OF.get(message.cause, ""),
        failure=_failure_name(message),
        http_status=message.http_status if message.HasField("http_status") else None,
    )


def attribution_of(message: grant_pb2.CredentialAttribution) -> Attribution:
    """Return which credential served, and who pays."""
    kind = KIND_OF.get(message.kind)
    return Attribution(
        fingerprint=message.fingerprint,
        kind=kind.value if kind is not None else "",
        owner=OWNER_OF.get(message.owner, "operator"),
        is_subscription_served=message.is_subscription_served,
    )


def binding_of(message: binding_pb2.BindingRef, context_window_tokens: int = 0) -> BindingRef:
    """Return one model at one provider."""
    return BindingRef(
        message.model_id,
        message.provider,
        message.upstream_id,
        message.binding_index,
        context_window_tokens,
    )


def usage_of(usage: usage_pb2.Usage) -> Usage:
    """Return the tokens of one call; absent cache counts say nothing."""
    return Usage(
        fresh_input=usage.fresh_input_token_count,
        cache_read=(
            usage.cache_read_token_count if usage.HasField("cache_read_token_count") else None
        ),
        cache_write=(
            usage.cache_write_token_count if usage.HasField("cache_write_token_count") else None
        ),
        cache_write_1h=usage.cache_write_one_hour_token_count,
        output=usage.output_token_count,
        reasoning=usage.reasoning_token_count,
        server_tool_calls=usage.server_tool_call_count,
    )


def _failure_name(message: attempt_pb2.AttemptRecord) -> str:
    if not message.failure_class:
        return ""
    return FAILURE_OF.get(message.failure_class, FailureClass.UPSTREAM_STATUS).value
