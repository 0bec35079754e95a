"""Stored credentials between the documents of the admin API and the messages of the contract.

A document has the names of an entry of ``[[credentials]]``.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from google.protobuf import field_mask_pb2, timestamp_pb2
from pointsman.common.v1 import grant_pb2
from pointsman.credentials.v1 import credentials_pb2 as pb

from gateway.codec.enums import CREDENTIAL_KINDS, name_of
from services.domain.errors import FieldViolation, InvalidRequestError
from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.runtime.settings import CredentialSettings

    Facts = Mapping[str, object]

PATHS: Mapping[str, str] = {
    "label": "label",
    "account": "account",
    "enabled": "is_enabled",
    "priority": "priority",
    "weight": "weight",
    "models": "model_ids",
    "excluded_models": "excluded_model_patterns",
    "aliases": "upstream_id_by_model",
    "model_prefix": "model_prefix",
    "base_url": "base_url",
    "max_in_flight": "max_in_flight_count",
    "model_max_in_flight": "max_in_flight_count_per_model",
    "overage": "overage",
    "cooling": "cooling",
    "window_scope": "is_overage_window_family_scoped",
    "unified_headers": "is_quota_header_trusted",
}
"""Names of settings that may change, and their fields on the wire."""
_SECRET_FIELDS = {
    "value_secret": "secret",
    "refresh_token_secret": "refresh_token",
    "proxy_url_secret": "proxy",
}
_NAMES = {field: name for name, field in PATHS.items()} | _SECRET_FIELDS
_SECRETS = frozenset({"secret", "refresh_token", "headers", "proxy", "expires_at"})
_UNNAMED = frozenset({"spec", "secrets"})


def create_request(
    wanted: CredentialSettings, idempotency_key: str, actor: str
) -> pb.CreateCredentialRequest:
    """Return the order to store a credential."""
    spec = _spec(wanted)
    spec.installation_id = wanted.installation
    spec.provider = wanted.provider
    spec.kind = CREDENTIAL_KINDS[wanted.kind]
    return pb.CreateCredentialRequest(
        idempotency_key=idempotency_key,
        spec=spec,
        secrets=_secrets(wanted, wanted.kind),
        actor=actor,
    )


def update_request(
    before: Facts, wanted: CredentialSettings, actor: str
) -> pb.UpdateCredentialRequest:
    """Return the order to change of a credential what ``wanted`` states, and nothing else."""
    stated = wanted.model_fields_set
    request = pb.UpdateCredentialRequest(
        credential_id=str(before["id"]),
        spec=_spec(wanted),
        update_mask=field_mask_pb2.FieldMask(
            paths=[path for name, path in PATHS.items() if name in stated]
        ),
        actor=actor,
    )
    kind = CredentialKind(str(before["kind"]))
    secrets = _secrets(wanted, kind)
    if stated & _SECRETS or secrets.account_id or secrets.project_id:
        request.secrets.CopyFrom(secrets)
    return request


def shown(one: pb.Credential) -> Facts:
    """Return all that is shown of a credential; never its secrets."""
    spec, has_expiry = one.spec, one.HasField("token_expire_time")
    is_scoped = spec.is_overage_window_family_scoped
    return {
        "id": one.credential_id,
        "fingerprint": one.fingerprint,
        "provider": spec.provider,
        "kind": name_of(grant_pb2.CredentialKind, spec.kind),
        "label": spec.label,
        "account": spec.account,
        "installation": spec.installation_id,
        "origin": name_of(pb.CredentialOrigin, one.origin),
        "enabled": spec.is_enabled,
        "state": name_of(pb.SystemState, one.system_state),
        "priority": spec.priority if spec.HasField("priority") else 0,
        "weight": spec.weight if spec.HasField("weight") else 1,
        "models": list(spec.model_ids),
        "excluded_models": list(spec.excluded_model_patterns),
        "aliases": dict(spec.upstream_id_by_model),
        "model_prefix": spec.model_prefix,
        "base_url": spec.base_url,
        "max_in_flight": spec.max_in_flight_count,
        "model_max_in_flight": spec.max_in_flight_count_per_model,
        "overage": name_of(pb.OveragePolicy, spec.overage),
        "cooling": name_of(pb.CoolingPolicy, spec.cooling),
        "window_scope": {"7d_oi": "family"} if is_scoped else {},
        "unified_headers": spec.is_quota_header_trusted,
        "secret": f"…{one.secret_suffix}" if one.secret_suffix else "",
        "token_expires": _when(one.token_expire_time) if has_expiry else None,
        "marks": [_mark(mark) for mark in one.marks],
    }


def resealed(answer: pb.ReencryptCredentialsResponse) -> Facts:
    """Return how many secrets were sealed anew."""
    return {
        "reencrypted": answer.changed_count,
        "up_to_date": answer.kept_count,
        "unreadable": answer.unreadable_count,
    }


def renamed(error: InvalidRequestError) -> InvalidRequestError:
    """Return a refusal by the contract's field names as one by the names of documents."""
    return InvalidRequestError(
        [FieldViolation(_name(v.field), v.description) for v in error.violations],
        reason=error.reason,
    )


def _name(field: str) -> str:
    parts = [part for part in field.split(".") if part not in _UNNAMED]
    return ".".join(_NAMES.get(part, part) for part in parts) or field


def _spec(wanted: CredentialSettings) -> pb.CredentialSpec:
    spec = pb.CredentialSpec(
        label=wanted.label,
        account=wanted.account,
        is_enabled=wanted.enabled,
        priority=wanted.priority,
        weight=wanted.weight if "weight" in wanted.model_fields_set else None,
        model_ids=wanted.models,
        excluded_model_patterns=wanted.excluded_models,
        upstream_id_by_model=wanted.aliases,
        model_prefix=wanted.model_prefix,
        base_url=wanted.base_url,
        max_in_flight_count=wanted.max_in_flight,
        max_in_flight_count_per_model=wanted.model_max_in_flight,
        is_overage_window_family_scoped=wanted.window_scope.get("7d_oi") == "family",
        is_quota_header_trusted=wanted.unified_headers,
    )
    spec.overage = getattr(pb, f"OVERAGE_POLICY_{wanted.overage.upper()}")
    spec.cooling = getattr(pb, f"COOLING_POLICY_{wanted.cooling.upper()}")
    return spec


def _secrets(wanted: CredentialSettings, kind: CredentialKind) -> pb.CredentialSecrets:
    made = pb.CredentialSecrets(
        value_secret=wanted.secret.get_secret_value().strip(),
        refresh_token_secret=wanted.refresh_token.get_secret_value().strip(),
        proxy_url_secret=wanted.proxy.get_secret_value().strip(),
        account_id=wanted.account if kind is CredentialKind.CODEX_OAUTH else "",
        project_id=wanted.account if kind is CredentialKind.GEMINI_OAUTH else "",
    )
    for name, value in wanted.headers.items():
        made.headers.add(name=name, value_secret=value.get_secret_value())
    if wanted.expires_at is not None:
        made.expire_time.CopyFrom(_time(wanted.expires_at))
    return made


def _time(time: dt.datetime | float) -> timestamp_pb2.Timestamp:
    """Return a time as a message; one without a zone is in UTC."""
    found = timestamp_pb2.Timestamp()
    if isinstance(time, dt.datetime):
        found.FromDatetime(time if time.tzinfo else time.replace(tzinfo=dt.UTC))
    else:
        found.FromMicroseconds(round(time * 1_000_000))
    return found


def _mark(mark: pb.CredentialMark) -> Facts:
    return {
        "kind": name_of(pb.MarkKind, mark.kind),
        "window": mark.window,
        "model": mark.model_id,
        "family": mark.family,
        "expires": _when(mark.expire_time) if mark.HasField("expire_time") else None,
    }


def _when(time: timestamp_pb2.Timestamp) -> str:
    return time.ToDatetime(dt.UTC).isoformat(timespec="seconds")
