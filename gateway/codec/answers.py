"""Messages that the gateway receives to its values.

Unknown enum values map to the documented safe choice, so that an older gateway lives with a newer
service.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.common.v1 import eligibility_pb2

from gateway.codec.attempts import attribution_of, binding_of, effect_of, record_of
from gateway.codec.enums import (
    AVAILABILITY_OF,
    CAUSE_OF,
    FAILURE_OF,
    FAMILY_OF,
    KIND_OF,
    OWNER_OF,
    STEP_OF,
    STOP_OF,
)
from gateway.model import (
    AttemptFailed,
    AttemptStarted,
    Availability,
    Failed,
    GatewayAliases,
    Grant,
    Head,
    PresentedIdentity,
    ProviderState,
    Snapshot,
    StreamFailure,
    Tail,
)
from services.domain.vocab import CredentialKind, FailureClass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from google.protobuf.duration_pb2 import Duration
    from pointsman.common.v1 import header_pb2
    from pointsman.credentials.v1 import credentials_pb2
    from pointsman.dispatch.v1 import dispatch_pb2

    from gateway.model import Part


def snapshot_of(message: credentials_pb2.EligibilitySnapshot) -> Snapshot:
    """Return what credentials say can serve."""
    return Snapshot(
        version=message.version,
        providers=tuple(_state_of(state) for state in message.providers),
        is_gateway_exclusive=message.is_gateway_exclusive,
        gateway_aliases=tuple(
            GatewayAliases(
                entry.provider, entry.credential_fingerprint, dict(entry.upstream_id_by_model)
            )
            for entry in message.gateway_aliases
        ),
        refused=_refused(message),
        has_tenant_credentials=message.has_tenant_credentials,
        passed_over=tuple(message.passed_over_fingerprints),
    )


def _refused(message: credentials_pb2.EligibilitySnapshot) -> tuple[tuple[str, str], ...]:
    """Return the bindings refused at every alias: another key may still know the model."""
    refused = {(entry.provider, entry.model_id) for entry in message.refusals}
    fingerprints = {
        (entry.provider, entry.model_id, entry.credential_fingerprint) for entry in message.refusals
    }
    for entry in message.gateway_aliases:
        for model_id in entry.upstream_id_by_model:
            if (entry.provider, model_id, entry.credential_fingerprint) not in fingerprints:
                refused.discard((entry.provider, model_id))
    return tuple(sorted(refused))


def _state_of(message: eligibility_pb2.ProviderEligibility) -> ProviderState:
    return ProviderState(
        provider=message.provider,
        availability=AVAILABILITY_OF.get(message.availability, Availability.USABLE),
        owners=tuple(OWNER_OF.get(owner, "operator") for owner in message.owners),
        kinds=tuple(KIND_OF.get(kind, CredentialKind.API_KEY) for kind in message.kinds),
        recover_unix_s=(
            message.recover_time.ToMilliseconds() / 1000
            if message.HasField("recover_time")
            else None
        ),
        headroom_ratio=message.headroom_ratio if message.HasField("headroom_ratio") else None,
        family_headrooms=tuple(
            (one.family, one.headroom_ratio if one.HasField("headroom_ratio") else None)
            for one in message.family_headrooms
        ),
    )


def presented_of(
    messages: Iterable[credentials_pb2.PresentedEligibility],
) -> tuple[PresentedIdentity, ...]:
    """Return the brought credentials that can be used."""
    return tuple(_presented(item) for item in messages if item.identity.kind in KIND_OF)


def _presented(item: credentials_pb2.PresentedEligibility) -> PresentedIdentity:
    plan = item.plan
    return PresentedIdentity(
        presented_hash=item.identity.presented_hash,
        kind=KIND_OF[item.identity.kind],
        provider=item.identity.provider,
        is_exhausted=plan.status == eligibility_pb2.PLAN_STATUS_EXHAUSTED,
        used_ratio=plan.utilization_ratio if plan.HasField("utilization_ratio") else None,
        covered_models=tuple(plan.covered_models.model_ids),
    )


def grant_of(message: credentials_pb2.SelectCredentialResponse) -> Grant:
    """Return a grant, to be passed on as it came."""
    return Grant(
        binding_index=message.binding_index,
        attribution=attribution_of(message.grant.attribution),
        wire=message.grant.SerializeToString(),
        credential_id=message.grant.credential_id,
    )


def part_of(message: dispatch_pb2.DispatchResponse) -> Part | None:
    """Return one part of an answer; None for a part that this gateway does not know."""
    match message.WhichOneof("part"):
        case "chunk":
            return message.chunk
        case "attempt_started":
            started = message.attempt_started
            return AttemptStarted(
                started.attempt_number,
                started.binding.provider,
                started.binding.model_id,
                started.binding.binding_index,
                attribution_of(started.credential) if started.HasField("credential") else None,
                CAUSE_OF.get(started.cause, ""),
                _seconds(started.wait),
            )
        case "attempt_failed":
            attempt = message.attempt_failed.attempt
            failed = message.attempt_failed
            return AttemptFailed(
                attempt.binding.provider,
                _failure(attempt.failure_class),
                record_of(attempt),
                effect_of(failed.effect_if_rescued),
                effect_of(failed.effect_if_unserved),
                next_step=STEP_OF.get(failed.next_step, ""),
                wait_s=_seconds(failed.wait),
                retry_after_s=(
                    _seconds(failed.retry_delay) if failed.HasField("retry_delay") else None
                ),
                vendor_type=failed.vendor_type,
                dropped_feature=failed.dropped_feature,
            )
        case "head":
            return _head(message.head)
        case "tail":
            return _tail(message.tail)
        case "failed":
            return _failed(message.failed)
        case _:
            return None


def _head(head: dispatch_pb2.Head) -> Head:
    return Head(
        binding=binding_of(head.binding, head.context_window_token_count),
        wire_family=FAMILY_OF[head.wire_family],
        http_status=head.http_status or 200,
        headers=_pairs(head.headers),
        is_stream=head.is_stream,
        plan_index=head.plan_index,
        planned_provider=head.planned_provider,
        fingerprint=head.credential.fingerprint,
        is_model_aliased=head.is_model_aliased,
        number=head.attempt_number,
        attribution=attribution_of(head.credential) if head.HasField("credential") else None,
        is_fast_tier=head.is_fast_tier,
    )


def _tail(tail: dispatch_pb2.Tail) -> Tail:
    failure = None
    if tail.HasField("failure"):
        failure = StreamFailure(
            http_status=tail.failure.http_status,
            message=tail.failure.message,
            is_error_frame_sent=tail.failure.is_error_frame_sent,
        )
    attempt = record_of(tail.attempt) if tail.HasField("attempt") else None
    return Tail(
        usage=attempt.usage if attempt is not None else None,
        stop_reason=STOP_OF.get(tail.stop_reason),
        failure=failure,
        attempt_count=tail.attempt_count,
        refusal_seen=tail.refusal_seen,
        attempt=attempt,
        effect=effect_of(tail.effect),
    )


def _failed(failed: dispatch_pb2.Failed) -> Failed:
    return Failed(
        failure=_failure(failed.failure_class),
        upstream_status=failed.upstream_status if failed.HasField("upstream_status") else None,
        body=failed.body,
        is_body_truncated=failed.is_body_truncated,
        headers=_pairs(failed.headers),
        retry_after_s=(_seconds(failed.retry_delay) if failed.HasField("retry_delay") else None),
        attempt_count=len(failed.attempts),
        wire_family=FAMILY_OF.get(failed.wire_family),
        is_caller_credential=failed.is_caller_credential,
        attempts=tuple(record_of(attempt) for attempt in failed.attempts),
        unbuildable_reason=failed.unbuildable_reason,
    )


def _failure(number: int) -> FailureClass:
    return FAILURE_OF.get(number, FailureClass.UPSTREAM_STATUS)


def _pairs(headers: Iterable[header_pb2.HeaderField]) -> tuple[tuple[str, str], ...]:
    return tuple((header.name, header.value) for header in headers)


def _seconds(duration: Duration) -> float:
    return duration.seconds + duration.nanos / 1e9
