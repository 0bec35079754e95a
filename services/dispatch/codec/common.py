"""Values that several messages share: bindings, grants, attributions, times, headers.

What is sent is told as the fields of a message by their names, nested as the messages are: protobuf
fills a message from them in place, where a message inside another would be serialised and read
again on every level. A name that the contract lacks is refused as the message is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.common.v1 import binding_pb2, eligibility_pb2, grant_pb2

from services.dispatch.codec import enums as tables
from services.dispatch.model.access import Attribution, Grant
from services.dispatch.model.enums import CredentialBucket
from services.dispatch.model.plan import ActionRef, BindingRef, Eligibility, Sealed
from services.domain.copying import replace
from services.domain.errors import InvalidRequestError
from services.domain.fields import action_id, header, session_key, text
from services.domain.keeping import kept
from services.domain.vocab import CredentialKind, CredentialOwner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.protobuf import duration_pb2
    from pointsman.common.v1 import action_pb2, header_pb2

    from services.dispatch.model.plan import HeaderPairs
    from services.domain.fields import Fields

_NANOS = 1_000_000_000
MAX_RELAYED_HEADERS = 64
MOST_RECORDS = 256
"""Decoded eligibility records that are kept."""
MOST_KEPT = 1024
"""Decoded values that are kept of each other kind: actions name the same few again and again."""


def duration(seconds: float | None) -> Fields | None:
    """Return a duration; None stays absent."""
    return None if seconds is None else timestamp(seconds if seconds > 0.0 else 0.0)


def seconds_of(value: duration_pb2.Duration, field: str) -> float:
    """Return a duration in seconds.

    Raises:
        InvalidRequestError: it is negative.
    """
    if value.seconds < 0 or value.nanos < 0:
        raise InvalidRequestError.of(field, "must be 0 s or more")
    return value.seconds + value.nanos / _NANOS


def timestamp(unix_s: float | None) -> Fields | None:
    """Return an instant; None stays absent."""
    if unix_s is None:
        return None
    seconds = int(unix_s)
    return {"seconds": seconds, "nanos": int((unix_s - seconds) * _NANOS)}


def header_fields(pairs: HeaderPairs) -> list[Fields]:
    """Return headers as messages."""
    return [{"name": name, "value": value} for name, value in pairs]


def relayed_headers(rows: Sequence[header_pb2.HeaderField]) -> HeaderPairs:
    """Return the client's headers as pairs.

    Raises:
        InvalidRequestError: there are too many, or one cannot be sent on.
    """
    if len(rows) > MAX_RELAYED_HEADERS:
        raise InvalidRequestError.of("relayed_headers", f"at most {MAX_RELAYED_HEADERS}")
    return tuple(
        (row.name, header(row.value, f"relayed_headers[{i}].value")) for i, row in enumerate(rows)
    )


def binding_ref(message: binding_pb2.BindingRef, field: str) -> BindingRef:
    """Return a binding whose model and provider are named.

    Raises:
        InvalidRequestError: one of them is not.
    """
    return _binding_ref(message.SerializeToString(), field)


@kept(MOST_KEPT)
def _binding_ref(sealed: bytes, field: str) -> BindingRef:
    message = binding_pb2.BindingRef.FromString(sealed)
    text(message.model_id, f"{field}.model_id")
    text(message.provider, f"{field}.provider")
    return _told_binding(message)


def _told_binding(message: binding_pb2.BindingRef) -> BindingRef:
    return BindingRef(
        model_id=message.model_id,
        provider=message.provider,
        upstream_id=message.upstream_id,
        binding_index=message.binding_index,
    )


def binding_fields(ref: BindingRef) -> Fields:
    """Return a binding as a message."""
    return {
        "model_id": ref.model_id,
        "provider": ref.provider,
        "upstream_id": ref.upstream_id,
        "binding_index": ref.binding_index,
    }


def attribution(message: grant_pb2.CredentialAttribution) -> Attribution:
    """Return an attribution; unknown values become those that the contract names for them."""
    return _attribution(message.SerializeToString())


@kept(MOST_KEPT)
def _attribution(sealed: bytes) -> Attribution:
    message = grant_pb2.CredentialAttribution.FromString(sealed)
    return Attribution(
        fingerprint=message.fingerprint,
        kind=tables.CREDENTIAL_KIND.get(message.kind) or CredentialKind.API_KEY,
        owner=tables.OWNER.get(message.owner) or CredentialOwner.OPERATOR,
        bucket=tables.BUCKET.get(message.bucket) or CredentialBucket.WARNED,
        is_subscription_served=message.is_subscription_served,
    )


def attribution_fields(value: Attribution | None) -> Fields | None:
    """Return an attribution as a message; None stays absent."""
    if value is None:
        return None
    return {
        "fingerprint": value.fingerprint,
        "kind": tables.CREDENTIAL_KIND.number(value.kind),
        "owner": tables.OWNER.number(value.owner),
        "bucket": tables.BUCKET.number(value.bucket),
        "is_subscription_served": value.is_subscription_served,
    }


def grant(message: grant_pb2.CredentialGrant, field: str) -> Grant:
    """Return a grant.

    Raises:
        InvalidRequestError: it has no id or no binding.
    """
    text(message.grant_id, f"{field}.grant_id")
    binding_ref(message.binding, f"{field}.binding")
    return told_grant(message)


def told_grant(message: grant_pb2.CredentialGrant) -> Grant:
    """Return a grant as credentials told it: one to list models with is for no model."""
    return Grant(
        grant_id=message.grant_id,
        binding=_told_binding(message.binding),
        attribution=attribution(message.attribution),
        credential_id=message.credential_id,
        credential_version=message.credential_version,
        secret_cache_key=message.secret_cache_key,
        presented_hash=message.presented_hash,
    )


def grant_fields(value: Grant) -> Fields:
    """Return a grant as it was given, but for its end and its reason."""
    return {
        "grant_id": value.grant_id,
        "credential_id": value.credential_id,
        "credential_version": value.credential_version,
        "binding": binding_fields(value.binding),
        "attribution": attribution_fields(value.attribution),
        "secret_cache_key": value.secret_cache_key,
        "presented_hash": value.presented_hash,
    }


def action(message: action_pb2.ActionContext, field: str) -> ActionRef:
    """Return the action.

    Raises:
        InvalidRequestError: its id, installation or session is not one.
    """
    return ActionRef(
        action_id=action_id(message.action_id, f"{field}.action_id"),
        installation_id=text(message.installation_id, f"{field}.installation_id"),
        session_key=session_key(message.session_key, f"{field}.session_key"),
        sealed=Sealed(message.SerializeToString()),
    )


def eligibility(
    message: eligibility_pb2.EligibilityRecord, installation_id: str, field: str
) -> Eligibility:
    """Return what may serve.

    Raises:
        InvalidRequestError: the record belongs to another installation.
    """
    if message.installation_id != installation_id:
        raise InvalidRequestError.of(
            f"{field}.installation_id", "must be the installation of the action"
        )
    sealed = message.SerializeToString()
    return replace(_permitted(_timeless(message, sealed)), sealed=Sealed(sealed))


def _timeless(message: eligibility_pb2.EligibilityRecord, sealed: bytes) -> bytes:
    """Return a serialised record without its first two fields: its id, and when it was frozen.

    What is left is the same for all actions that ask the same.
    """
    time = message.create_time if message.HasField("create_time") else None
    first = eligibility_pb2.EligibilityRecord(record_id=message.record_id, create_time=time)
    return sealed[first.ByteSize() :]


@kept(MOST_RECORDS)
def _permitted(sealed: bytes) -> Eligibility:
    message = eligibility_pb2.EligibilityRecord.FromString(sealed)
    providers = None
    if message.HasField("enabled_providers"):
        providers = frozenset(row.provider for row in message.enabled_providers.providers)
    hard = (
        *message.excluded_models,
        *message.safety_excluded_models,
        *message.requirement_excluded_models,
    )
    return Eligibility(
        installation_id=message.installation_id,
        providers=providers,
        excluded_providers=frozenset(row.provider for row in message.excluded_providers),
        excluded_models=frozenset(row.model_id for row in hard),
        excluded_bindings=frozenset(
            (row.model_id, row.provider) for row in message.excluded_bindings
        ),
        is_gateway_exclusive=message.is_gateway_exclusive,
        gateway_models=_gateway_models(message.gateway_aliases),
    )


def _gateway_models(
    rows: Sequence[eligibility_pb2.GatewayAliases],
) -> dict[str, frozenset[str]]:
    models: dict[str, frozenset[str]] = {}
    for row in rows:
        known = models.get(row.provider, frozenset())
        models[row.provider] = known | frozenset(row.upstream_id_by_model)
    return models
