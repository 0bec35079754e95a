"""Reads a request for a summary: every field checked, the first bad one named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.errors import InvalidRequestError
from services.domain.fields import action_id, first_attempt, session_key
from services.domain.vocab import CredentialOwner
from services.handover.codec.enums import FAMILY_OF, KIND_OF, OWNER_OF, SCOPE_OF
from services.handover.model import (
    BindingRef,
    Context,
    Permit,
    Question,
    Scope,
    Sealed,
    StoredSummary,
    Summarizer,
    SummaryKind,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.protobuf import timestamp_pb2
    from pointsman.common.v1 import (
        action_pb2,
        attempt_pb2,
        binding_pb2,
        conversation_pb2,
        eligibility_pb2,
    )
    from pointsman.handover.v1 import handover_pb2 as pb

    from services.domain.vocab import WireFamily

MAX_SUMMARIZERS = 16
MAX_SUMMARY_TOKENS = 4000


def question_of(message: pb.SummarizeRequest) -> Question:
    """Return what is asked. Kinds and scopes that are not known here are read as the safe ones.

    Raises:
        InvalidRequestError: a field is missing or out of range; names its path.
    """
    context = context_of(message.action, message.eligibility)
    kind = _set(message.kind, "kind")
    if not message.HasField("features"):
        raise InvalidRequestError.of("features", "must be set")
    if KIND_OF.get(kind, SummaryKind.SWITCH) is SummaryKind.SWITCH:
        _binding(message.from_binding, "from_binding")
    if not 0 <= message.max_summary_token_count <= MAX_SUMMARY_TOKENS:
        raise InvalidRequestError.of(
            "max_summary_token_count", f"must be 0 to {MAX_SUMMARY_TOKENS}"
        )
    return Question(
        context=context,
        family=family_of(message.body),
        body=message.body.body,
        path_model=message.body.path_model,
        is_history_trimmed=message.features.is_history_trimmed,
        kind=KIND_OF.get(kind, SummaryKind.SWITCH),
        to_binding=_binding(message.to_binding, "to_binding"),
        permit=permit_of(message.eligibility),
        scope=scope_of(message.credential_scope),
        summarizers=summarizers_of(message.summarizers),
        max_summary_tokens=message.max_summary_token_count,
        first_attempt_number=first_attempt(message.first_attempt_number, "first_attempt_number"),
        stored=stored_of(message.stored) if message.HasField("stored") else None,
    )


def context_of(
    action: action_pb2.ActionContext, record: eligibility_pb2.EligibilityRecord
) -> Context:
    """Return what travels on with every call of the action.

    Raises:
        InvalidRequestError: a field is missing, or the record is another installation's.
    """
    installation_id = _text(action.installation_id, "action.installation_id")
    if record.installation_id != installation_id:
        raise InvalidRequestError.of(
            "eligibility.installation_id", "must be the installation of the action"
        )
    return Context(
        action_id=action_id(action.action_id, "action.action_id"),
        session_hash=session_key(action.session_key, "action.session_key")[:8].hex(),
        installation_id=installation_id,
        action=Sealed(action.SerializeToString()),
        eligibility=Sealed(record.SerializeToString()),
        eligibility_id=record.record_id,
        catalog_version=record.catalog_version,
        config_version=record.config_version,
    )


def family_of(message: conversation_pb2.RequestBody) -> WireFamily:
    """Return the dialect of a body.

    Raises:
        InvalidRequestError: it is not known, or there is no body.
    """
    family = FAMILY_OF.get(message.wire_family)
    if family is None:
        raise InvalidRequestError.of("body.wire_family", "must be a dialect of the contract")
    if not message.body:
        raise InvalidRequestError.of("body.body", "must not be empty")
    return family


def scope_of(number: int) -> Scope:
    """Return whose credentials an action runs on; the narrowest where the value is not known.

    Raises:
        InvalidRequestError: it is not set.
    """
    return SCOPE_OF.get(_set(number, "credential_scope"), Scope.CALLER)


def summarizers_of(
    messages: Sequence[attempt_pb2.PlannedBinding],
) -> tuple[Summarizer, ...]:
    """Return who may write a summary, best first.

    Raises:
        InvalidRequestError: there are too many, or a field of one is missing or out of range.
    """
    if len(messages) > MAX_SUMMARIZERS:
        raise InvalidRequestError.of("summarizers", f"at most {MAX_SUMMARIZERS}")
    return tuple(_summarizer(row, f"summarizers[{i}]") for i, row in enumerate(messages))


def _summarizer(message: attempt_pb2.PlannedBinding, field: str) -> Summarizer:
    if message.HasField("wire_family") and message.wire_family not in FAMILY_OF:
        raise InvalidRequestError.of(f"{field}.wire_family", "must be a dialect of the contract")
    if message.context_window_token_count < 0:
        raise InvalidRequestError.of(f"{field}.context_window_token_count", "must be at least 0")
    return Summarizer(
        binding=_binding(message.binding, f"{field}.binding"),
        window_tokens=message.context_window_token_count,
        family=FAMILY_OF.get(message.wire_family) if message.HasField("wire_family") else None,
    )


def permit_of(record: eligibility_pb2.EligibilityRecord) -> Permit:
    """Return what may serve, as far as a summary needs it."""
    providers = None
    if record.HasField("enabled_providers"):
        providers = {
            row.provider: frozenset(
                OWNER_OF.get(owner, CredentialOwner.OPERATOR).value for owner in row.owners
            )
            for row in record.enabled_providers.providers
        }
    hard = (
        *record.excluded_models,
        *record.safety_excluded_models,
    )
    gateway_models: dict[str, frozenset[str]] = {}
    for alias in record.gateway_aliases:
        known = gateway_models.get(alias.provider, frozenset())
        gateway_models[alias.provider] = known | frozenset(alias.upstream_id_by_model)
    return Permit(
        providers=providers,
        excluded_providers=frozenset(row.provider for row in record.excluded_providers),
        excluded_models=frozenset(row.model_id for row in hard)
        | frozenset(row.model_id for row in record.requirement_excluded_models),
        excluded_bindings=frozenset(
            (row.model_id, row.provider) for row in record.excluded_bindings
        ),
        is_gateway_exclusive=record.is_gateway_exclusive,
        gateway_models=gateway_models,
    )


def stored_of(message: pb.StoredSummary) -> StoredSummary:
    """Return a summary that was kept."""
    ref = message.summarizer
    return StoredSummary(
        text=message.text,
        prefix_digest=message.prefix_digest,
        message_count=message.message_count,
        summarizer=BindingRef(ref.model_id, ref.provider, ref.upstream_id, ref.binding_index),
        instruction_version=message.instruction_version,
        expire_unix_s=_unix_s(message.expire_time),
    )


def _unix_s(value: timestamp_pb2.Timestamp) -> float:
    return value.seconds + value.nanos / 1e9


def _binding(message: binding_pb2.BindingRef, field: str) -> BindingRef:
    return BindingRef(
        model_id=_text(message.model_id, f"{field}.model_id"),
        provider=_text(message.provider, f"{field}.provider"),
        upstream_id=message.upstream_id,
        index=message.binding_index,
    )


def _text(value: str, field: str) -> str:
    if not value:
        raise InvalidRequestError.of(field, "must not be empty")
    return value


def _set(number: int, field: str) -> int:
    if not number:
        raise InvalidRequestError.of(field, "must be set to a value of the contract")
    return number
