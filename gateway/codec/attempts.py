"""Attempts both ways: what may be tried, and what dispatch, or handover, say became of each."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pointsman.common.v1 import attempt_pb2, binding_pb2, grant_pb2
from pointsman.dispatch.v1 import dispatch_pb2

from gateway.codec.eligibility import timestamp
from gateway.codec.enums import (
    CAUSE_OF,
    CREDENTIAL_KINDS,
    EFFECT_OF,
    FAILURE_OF,
    KIND_OF,
    OUTCOME_OF,
    OWNER_OF,
    OWNERS,
    RESCUE_CAUSES,
    SOURCE_OF,
)
from gateway.model.attempt import BindingRef, Effect
from gateway.model.record import AttemptOutcome, AttemptRecord, Attribution, UsageSource
from services.domain.vocab import CredentialKind, FailureClass
from services.domain.wire.model import Usage

if TYPE_CHECKING:
    from pointsman.common.v1 import usage_pb2

    from gateway.model.attempt import Rescue
    from services.domain.catalog import Binding
    from services.domain.fields import Fields

MOST_KEPT = 1024
"""Bindings, credentials and effects that are kept of each kind: attempts name the same few."""
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


def effect_of(message: dispatch_pb2.SessionEffect) -> Effect | None:
    """Return what a session is to remember; None where that is nothing, or not known here."""
    return _effect(message.SerializeToString())


@lru_cache(maxsize=MOST_KEPT)
def _effect(sealed: bytes) -> Effect | None:
    message = dispatch_pb2.SessionEffect.FromString(sealed)
    kind = EFFECT_OF.get(message.kind)
    return Effect(kind, message.model_id, message.provider) if kind is not None else None


def rescue_candidate(rescue: Rescue, effort: str = "") -> Fields:
    """Return a target beside the planned bindings."""
    end_unix_s = rescue.cooldown_end_unix_s
    return {
        "cause": RESCUE_CAUSES[rescue.cause],
        "bindings": [planned_binding(binding, effort) for binding in rescue.bindings],
        "health": (
            dispatch_pb2.RESCUE_HEALTH_HEALTHY
            if end_unix_s is None
            else dispatch_pb2.RESCUE_HEALTH_COOLING
        ),
        "is_other_provider": rescue.is_other_provider,
        "cooldown_end_time": None if end_unix_s is None else timestamp(end_unix_s),
    }


def binding_ref(binding: BindingRef | Binding) -> Fields:
    """Return the name of a binding."""
    return {
        "model_id": binding.model_id,
        "provider": binding.provider,
        "upstream_id": binding.upstream_id,
        "binding_index": binding.index,
    }


@lru_cache(maxsize=MOST_KEPT)
def planned_binding(binding: BindingRef, effort: str = "") -> attempt_pb2.PlannedBinding:
    """Return a binding to try, perhaps with a forced effort; dispatch knows its dialect.

    The same each time: what takes it into a larger message copies it.
    """
    return attempt_pb2.PlannedBinding(
        binding=binding_ref(binding),
        context_window_token_count=binding.context_window_tokens,
        effort=effort,
    )


def attribution_of(message: grant_pb2.CredentialAttribution) -> Attribution:
    """Return which credential served, and who pays."""
    return _attribution(message.SerializeToString())


@lru_cache(maxsize=MOST_KEPT)
def _attribution(sealed: bytes) -> Attribution:
    message = grant_pb2.CredentialAttribution.FromString(sealed)
    kind = KIND_OF.get(message.kind)
    return Attribution(
        fingerprint=message.fingerprint,
        kind=kind.value if kind is not None else "",
        owner=OWNER_OF.get(message.owner, "operator"),
        is_subscription_served=message.is_subscription_served,
    )


def credential(attribution: Attribution) -> Fields:
    """Return what is told of the credential that served."""
    kind = attribution.kind
    return {
        "fingerprint": attribution.fingerprint,
        "kind": CREDENTIAL_KINDS[CredentialKind(kind)] if kind else None,
        "owner": OWNERS.get(attribution.owner),
        "is_subscription_served": attribution.is_subscription_served,
    }


def binding_of(message: binding_pb2.BindingRef, context_window_tokens: int = 0) -> BindingRef:
    """Return one model at one provider."""
    return _binding(message.SerializeToString(), context_window_tokens)


@lru_cache(maxsize=MOST_KEPT)
def _binding(sealed: bytes, context_window_tokens: int) -> BindingRef:
    message = binding_pb2.BindingRef.FromString(sealed)
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
