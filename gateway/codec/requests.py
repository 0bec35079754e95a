"""Values of the gateway to the messages that it sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.common.v1 import attempt_pb2, grant_pb2, header_pb2
from pointsman.credentials.v1 import credentials_pb2
from pointsman.dispatch.v1 import dispatch_pb2

from gateway.codec.attempts import binding_ref, planned_binding, rescue_candidate
from gateway.codec.eligibility import versions, write_record
from gateway.codec.enums import (
    CREDENTIAL_KINDS,
    LAST_KINDS,
    REQUIREMENTS,
    STATE_PLACES,
    TURN_TYPES,
    WIRE_FAMILIES,
)
from services.domain.catalog import strip_client_tag
from services.domain.wire.codecs import address_of
from services.domain.wire.state.sealing import Sealed, seal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gateway.model import (
        Action,
        BindingRef,
        EligibilityRecord,
        Grant,
        InstallationId,
        Plan,
        Presented,
        PresentedIdentity,
    )
    from services.domain.fields import Fields
    from services.domain.wire.state.kept import Restored

_AFTER_ALL = 2**31
"""Number of a report that comes after all that dispatch may have sent of an attempt."""


def action_context(action: Action) -> Fields:
    """Return the context that every call of an action carries."""
    caller = action.caller
    return {
        "action_id": action.id,
        "installation_id": caller.installation_id,
        "router_key_id": caller.key_id,
        "session_key": caller.session_key,
        "client_app": caller.client_app,
        "surface": WIRE_FAMILIES[action.surface],
        "turn_type": TURN_TYPES[action.turn_type],
        "client_request_id": caller.client_request_id,
    }


def request_body(action: Action) -> Fields:
    """Return the client's body, byte for byte, with what its path said."""
    address = address_of(action.request)
    return {
        "wire_family": WIRE_FAMILIES[action.surface],
        "body": action.body,
        "path_model": address.model if address is not None else "",
        "is_stream": address is not None and address.is_stream,
    }


def request_features(action: Action) -> Fields:
    """Return the features of an action's body."""
    features = action.features
    return {
        "requested_model": strip_client_tag(features.requested_model),
        "input_token_count": action.input_tokens,
        "text_token_count": features.text_tokens,
        "overflow_token_count": action.overflow_tokens,
        "full_token_count": features.full_tokens,
        "signature_token_count": features.signature_tokens,
        "max_output_token_count": min(features.max_output_tokens, 2**31 - 1),
        "last_kind": LAST_KINDS[features.last_kind],
        "tool_count": features.tool_count,
        "image_count": features.image_count,
        "message_count": features.message_count,
        "tool_call_count": features.tool_call_count,
        "is_streaming": features.is_streaming,
        "effort": features.effort,
        "requirements": sorted(map(REQUIREMENTS.__getitem__, features.requirements)),
        "body_bytes": features.body_bytes,
    }


def presented_credential(
    presented: Presented, identity: PresentedIdentity | None = None
) -> grant_pb2.PresentedCredential:
    """Return a brought credential, secret included."""
    return grant_pb2.PresentedCredential(
        presented_secret=presented.presented_secret,
        account_id=presented.account_id,
        surface=WIRE_FAMILIES[presented.surface],
        identity=presented_identity(identity) if identity is not None else None,
    )


def presented_identity(identity: PresentedIdentity) -> grant_pb2.PresentedIdentity:
    """Return the name of a brought credential."""
    return grant_pb2.PresentedIdentity(
        presented_hash=identity.presented_hash,
        kind=CREDENTIAL_KINDS[identity.kind],
        provider=identity.provider,
    )


def eligibility_request(
    installation_id: InstallationId, presented: Sequence[Presented], known_version: str
) -> credentials_pb2.GetEligibilityRequest:
    """Return the question what can serve."""
    return credentials_pb2.GetEligibilityRequest(
        installation_id=installation_id,
        presented=[presented_credential(item) for item in presented],
        known_version=known_version,
    )


def select_request(
    action: Action,
    bindings: Sequence[BindingRef],
    record: EligibilityRecord,
    presented: Sequence[PresentedIdentity],
    max_wait_s: float = 0.0,
) -> credentials_pb2.SelectCredentialRequest:
    """Return the question for a grant."""
    features = action.features
    request = credentials_pb2.SelectCredentialRequest(
        action=action_context(action),
        idempotency_key=f"{action.id}/1",
        bindings=[binding_ref(binding) for binding in bindings],
        presented=[presented_identity(item) for item in presented],
        expected_token_count=action.input_tokens + features.max_output_tokens,
        required_credential_id=_required_credential_id(action),
    )
    if max_wait_s:
        request.max_wait.FromNanoseconds(round(max_wait_s * 1e9))
    write_record(request.eligibility, record)
    return request


def return_of(
    action: Action, grant: Grant, now_unix_s: float
) -> credentials_pb2.ReportAttemptRequest:
    """Return the report that frees the slot of a grant which dispatch was lost with."""
    given = grant_pb2.CredentialGrant.FromString(grant.wire)
    report = credentials_pb2.AttemptReport(
        grant_id=given.grant_id,
        action_id=action.id,
        attempt_number=1,
        sequence_number=_AFTER_ALL,
        credential_id=given.credential_id,
        credential_version=given.credential_version,
        presented_hash=given.presented_hash,
        binding=given.binding,
        ended=credentials_pb2.AttemptEnded(kind=credentials_pb2.END_KIND_NOT_SENT),
    )
    report.ended.end_time.FromNanoseconds(round(now_unix_s * 1e9))
    return credentials_pb2.ReportAttemptRequest(reports=[report])


def _required_credential_id(action: Action) -> str:
    """Return the credential that alone keeps what the action goes on from; empty: any will do."""
    return action.issuer.credential_id if action.issuer is not None else ""


def dispatch_request(
    action: Action,
    record: EligibilityRecord,
    plan: Plan,
    grant: Grant | None,
    service_version: str,
) -> dispatch_pb2.DispatchRequest:
    """Return the order to serve an action."""
    request = dispatch_pb2.DispatchRequest(
        action=action_context(action),
        body=request_body(action),
        is_body_rewritten=action.is_rewritten,
        features=request_features(action),
        plan=_plan(action, record, plan, grant, service_version),
        relayed_headers=header_fields(action.caller.relayed_headers),
        kind=attempt_pb2.ATTEMPT_KIND_SERVE,
        is_more_read=True,
    )
    write_record(request.eligibility, record)
    return request


def _plan(
    action: Action,
    record: EligibilityRecord,
    plan: Plan,
    grant: Grant | None,
    service_version: str,
) -> Fields:
    return {
        "bindings": [planned_binding(binding, plan.effort) for binding in plan.bindings],
        "start_index": grant.binding_index if grant is not None else 0,
        "grant": grant_pb2.CredentialGrant.FromString(grant.wire) if grant is not None else None,
        "presented": [presented_credential(item, known) for item, known in plan.presented],
        "rescues": [rescue_candidate(rescue, plan.effort) for rescue in plan.rescues],
        "flags": {
            "is_user_forced": plan.is_user_forced,
            "is_hard_pinned": plan.is_hard_pinned,
            "is_model_switched": plan.is_model_switched,
            "is_throttle_wait_enabled": plan.is_throttle_wait_enabled,
            "is_cyber_refusal_retry_enabled": plan.is_cyber_retry_enabled,
            "is_stream_usage_wanted": plan.is_stream_usage_wanted,
            "is_transient_cooling_enabled": plan.is_transient_cooling_enabled,
            "is_overload_struck": plan.is_overload_struck,
        },
        "first_attempt_number": 1,
        "affinity_key": plan.affinity_key,
        "restored_states": [restored_state(each) for each in action.restored],
        "required_credential_id": _required_credential_id(action),
        "versions": versions(record, service_version),
    }


def restored_state(restored: Restored) -> dispatch_pb2.RestoredState:
    """Return state that a client lost, in the form in which clients carry it."""
    return dispatch_pb2.RestoredState(
        place=STATE_PLACES[restored.place],
        key=restored.key,
        sealed_state=seal(Sealed(restored.state, restored.words_digest)),
    )


def count_request(
    action: Action,
    record: EligibilityRecord | None,
    binding: BindingRef | None,
) -> dispatch_pb2.CountTokensRequest:
    """Return the question how many tokens a body has; without a binding an estimate is wanted."""
    request = dispatch_pb2.CountTokensRequest(
        action=action_context(action),
        body=request_body(action),
        binding=planned_binding(binding) if binding is not None else None,
        relayed_headers=header_fields(action.caller.relayed_headers),
    )
    if binding is not None and record is not None:
        write_record(request.eligibility, record)
    return request


def header_fields(pairs: Iterable[tuple[str, str]]) -> list[header_pb2.HeaderField]:
    """Return headers in the form that services pass on."""
    return [header_pb2.HeaderField(name=name, value=value) for name, value in pairs]
