"""Stored credentials as messages: their settings both ways, their secrets inwards only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.credentials.v1 import credentials_pb2 as pb

from services.credentials.codec import fields
from services.credentials.codec.fields import member, not_negative, required
from services.credentials.codec.report import encode_mark
from services.credentials.model import CoolingPolicy, CredentialSpec, OveragePolicy, Secrets
from services.domain.addresses import ADDRESS, PLAIN_ADDRESS, is_http, is_plain_http
from services.domain.errors import InvalidRequestError
from services.domain.fields import header, header_name
from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from services.credentials.model import Credential

MAX_SPEC_BYTES = 64 * 1024
"""Largest settings of one credential: a message that shows it holds little else."""
MAX_LABEL_CHARACTERS = 128
MAX_ALIASES = 256
MAX_WEIGHT = 1_000_000
_OVERAGE_OF = fields.inverse(fields.OVERAGES)
_COOLING_OF = fields.inverse(fields.COOLINGS)
_FORMAT_OF = fields.inverse(fields.IDENTITY_FORMATS)


def encode_credential(
    credential: Credential, in_flight_count: int, now_unix_s: float
) -> pb.Credential:
    """Return the message of a credential, without its secrets."""
    return pb.Credential(
        credential_id=credential.id,
        fingerprint=credential.fingerprint,
        spec=encode_spec(credential.spec),
        system_state=fields.SYSTEM_STATES[credential.system_state],
        origin=fields.ORIGINS[credential.origin],
        marks=[encode_mark(mark) for mark in credential.active_marks(now_unix_s)],
        in_flight_count=in_flight_count,
        secret_suffix=credential.secret_suffix,
        token_expire_time=fields.optional_timestamp(credential.token_expire_unix_s),
        credential_version=credential.credential_version,
        state_version=credential.state_version,
        create_time=fields.timestamp(credential.create_unix_s),
        update_time=fields.timestamp(credential.update_unix_s),
    )


def encode_spec(spec: CredentialSpec) -> pb.CredentialSpec:
    """Return the message of the settings."""
    form = spec.identity_format
    return pb.CredentialSpec(
        installation_id=spec.installation_id,
        provider=spec.provider,
        kind=fields.KINDS[spec.kind],
        label=spec.label,
        account=spec.account,
        is_enabled=spec.is_enabled,
        priority=spec.priority,
        weight=spec.weight,
        model_ids=spec.model_ids,
        excluded_model_patterns=spec.excluded_model_patterns,
        upstream_id_by_model=dict(spec.upstream_id_by_model),
        model_prefix=spec.model_prefix,
        base_url=spec.base_url,
        max_in_flight_count=spec.max_in_flight,
        max_in_flight_count_per_model=spec.max_in_flight_per_model,
        overage=fields.OVERAGES[spec.overage],
        cooling=fields.COOLINGS[spec.cooling],
        is_overage_window_family_scoped=spec.is_overage_window_family_scoped,
        is_quota_header_trusted=spec.is_quota_header_trusted,
        identity_header_name=spec.identity_header_name,
        identity_format=None if form is None else fields.IDENTITY_FORMATS[form],
    )


def decode_spec(spec: pb.CredentialSpec) -> CredentialSpec:
    """Return the settings of a credential to be stored.

    Raises:
        InvalidRequestError: a field is missing or out of range.
    """
    provider = required(spec.provider, "spec.provider", 128)
    kind = member(fields.KIND_OF, spec.kind, "spec.kind")
    return decode_settings(spec, provider, kind)


def decode_settings(spec: pb.CredentialSpec, provider: str, kind: CredentialKind) -> CredentialSpec:
    """Return settings for a provider and kind that are known already.

    Raises:
        InvalidRequestError: a field is out of range.
    """
    if spec.ByteSize() > MAX_SPEC_BYTES:
        raise InvalidRequestError.of("spec", f"must be at most {MAX_SPEC_BYTES} bytes")
    if len(spec.label) > MAX_LABEL_CHARACTERS:
        raise InvalidRequestError.of(
            "spec.label", f"must be at most {MAX_LABEL_CHARACTERS} characters"
        )
    if spec.HasField("weight") and not 0 <= spec.weight <= MAX_WEIGHT:
        raise InvalidRequestError.of("spec.weight", f"must be 0 to {MAX_WEIGHT}")
    if len(spec.upstream_id_by_model) > MAX_ALIASES:
        raise InvalidRequestError.of(
            "spec.upstream_id_by_model", f"must be at most {MAX_ALIASES} entries"
        )
    return CredentialSpec(
        provider=provider,
        kind=kind,
        installation_id=spec.installation_id
        and required(spec.installation_id, "spec.installation_id"),
        label=spec.label,
        account=spec.account,
        is_enabled=spec.is_enabled if spec.HasField("is_enabled") else True,
        priority=spec.priority if spec.HasField("priority") else None,
        weight=spec.weight if spec.HasField("weight") else None,
        model_ids=tuple(spec.model_ids),
        excluded_model_patterns=tuple(spec.excluded_model_patterns),
        upstream_id_by_model=tuple(sorted(spec.upstream_id_by_model.items())),
        model_prefix=spec.model_prefix,
        base_url=_address(spec.base_url, "spec.base_url"),
        max_in_flight=not_negative(spec.max_in_flight_count, "spec.max_in_flight_count"),
        max_in_flight_per_model=not_negative(
            spec.max_in_flight_count_per_model, "spec.max_in_flight_count_per_model"
        ),
        overage=member(_OVERAGE_OF, spec.overage, "spec.overage")
        if spec.HasField("overage")
        else OveragePolicy.LAST_RESORT,
        cooling=member(_COOLING_OF, spec.cooling, "spec.cooling")
        if spec.HasField("cooling")
        else CoolingPolicy.INHERIT,
        is_overage_window_family_scoped=spec.is_overage_window_family_scoped,
        is_quota_header_trusted=spec.is_quota_header_trusted,
        identity_header_name=spec.identity_header_name,
        identity_format=member(_FORMAT_OF, spec.identity_format, "spec.identity_format")
        if spec.HasField("identity_format")
        else None,
    )


def decode_secrets(secrets: pb.CredentialSecrets) -> Secrets:
    """Return the secrets of a credential.

    Raises:
        InvalidRequestError: one cannot be sent, or a time is none.
    """
    return Secrets(
        value=header(secrets.value_secret.strip(), "secrets.value_secret"),
        refresh_token=secrets.refresh_token_secret.strip(),
        id_token=secrets.id_token_secret.strip(),
        account_id=header(secrets.account_id, "secrets.account_id"),
        project_id=secrets.project_id,
        proxy_url=_proxy(secrets.proxy_url_secret, "secrets.proxy_url_secret"),
        headers=tuple(
            _header(one, f"secrets.headers[{index}]") for index, one in enumerate(secrets.headers)
        ),
        expire_unix_s=fields.told_unix_s(secrets.expire_time, "secrets.expire_time")
        if secrets.HasField("expire_time")
        else None,
    )


def _header(message: pb.AuthHeader, field: str) -> tuple[str, str]:
    return (
        header_name(required(message.name, f"{field}.name", 128), f"{field}.name"),
        header(message.value_secret, f"{field}.value_secret"),
    )


def _address(text: str, field: str) -> str:
    if text and not is_plain_http(text):
        raise InvalidRequestError.of(field, PLAIN_ADDRESS)
    return text.rstrip("/")


def _proxy(text: str, field: str) -> str:
    if text and not is_http(text):
        raise InvalidRequestError.of(field, ADDRESS)
    return text
