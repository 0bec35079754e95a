"""How a credential becomes rows of the store, and back."""

from __future__ import annotations

from dataclasses import asdict, fields
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import orjson

from services.credentials.model import (
    CoolingPolicy,
    Credential,
    CredentialSpec,
    IdentityFormat,
    Mark,
    MarkKind,
    Origin,
    OveragePolicy,
    Record,
    Sealed,
    SystemState,
    in_order,
)
from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

E = TypeVar("E", bound=StrEnum)
D = TypeVar("D")

SCHEMA_VERSION = 1
"""Version of a row's settings; a row of a newer one is read as far as it is understood."""

_COLUMN_FIELDS = frozenset({"installation_id", "provider", "kind"})


def row_of(record: Record) -> dict[str, object]:
    """Return the columns of a record."""
    credential, spec = record.credential, record.credential.spec
    settings = {k: v for k, v in asdict(spec).items() if k not in _COLUMN_FIELDS}
    # What a newer program wrote and this one does not know goes back as it came.
    settings = {**_object(record.unknown_settings), **settings}
    learned = {
        "bound_families": credential.bound_families,
        "trial_count": credential.trial_count,
        "trial_unix_s": credential.trial_unix_s,
        "refresh_count": credential.refresh_count,
        "refresh_retry_unix_s": credential.refresh_retry_unix_s,
        "spent_digests": credential.spent_digests,
    }
    return {
        "id": credential.id,
        "installation_id": spec.installation_id,
        "provider": spec.provider,
        "kind": spec.kind.value,
        "origin": credential.origin.value,
        "settings": orjson.dumps(settings).decode(),
        "system_state": credential.system_state.value,
        "key_id": record.sealed.key_id if record.sealed else "",
        "ciphertext": record.sealed.ciphertext if record.sealed else None,
        "spec_digest": record.spec_digest,
        "secret_digest": record.secret_digest,
        "idempotency_key": record.idempotency_key or None,
        "credential_version": credential.credential_version,
        "state_version": credential.state_version,
        "create_unix_s": credential.create_unix_s,
        "update_unix_s": credential.update_unix_s,
        "schema_version": SCHEMA_VERSION,
        "learned": orjson.dumps(learned).decode(),
        "change_revision": 0,
    }


def record_of(row: Mapping[str, object], found: Iterable[Mapping[str, object]]) -> Record:
    """Return the record of a row and its marks' rows.

    What cannot be read leaves a quarantined credential with the identity that the columns give, so
    that one broken row never hides the others.
    """
    text = {name: str(row[name] or "") for name in row}
    sealed = row["ciphertext"]
    state = _member(SystemState, text["system_state"], SystemState.QUARANTINED)
    kind = _member(CredentialKind, text["kind"], None)
    try:
        spec = _spec_of(text, kind or CredentialKind.API_KEY)
        read_marks = in_order(_mark_of(mark) for mark in found)
        learned = _learned(text["learned"])
    except (orjson.JSONDecodeError, TypeError, ValueError, KeyError, AttributeError):
        spec = CredentialSpec(
            text["provider"], kind or CredentialKind.API_KEY, text["installation_id"]
        )
        state, read_marks, learned = SystemState.QUARANTINED, (), _Learned()
    if kind is None:
        state = SystemState.QUARANTINED
    return Record(
        credential=Credential(
            id=text["id"],
            spec=spec,
            origin=_member(Origin, text["origin"], Origin.STORED),
            system_state=state,
            credential_version=int(text["credential_version"]),
            state_version=int(text["state_version"]),
            create_unix_s=float(text["create_unix_s"] or 0),
            update_unix_s=float(text["update_unix_s"] or 0),
            marks=read_marks,
            bound_families=learned.bound_families,
            trial_count=learned.trial_count,
            trial_unix_s=learned.trial_unix_s,
            refresh_count=learned.refresh_count,
            refresh_retry_unix_s=learned.refresh_retry_unix_s,
            spent_digests=learned.spent_digests,
        ),
        sealed=Sealed(text["key_id"], sealed) if isinstance(sealed, bytes) else None,
        spec_digest=text["spec_digest"],
        secret_digest=text["secret_digest"],
        idempotency_key=text["idempotency_key"],
        unknown_settings=_unknown(text["settings"]),
    )


def mark_rows(credential: Credential) -> list[dict[str, object]]:
    """Return the rows of a credential's marks."""
    return [
        {
            "credential_id": credential.id,
            "kind": mark.kind.value,
            "quota_window": mark.window,
            "model_id": mark.model_id,
            "family": mark.family,
            "feature": mark.feature,
            "expire_unix_s": mark.expire_unix_s,
            "observe_unix_s": mark.observe_unix_s,
            "level": mark.level,
            "utilization_ratio": mark.utilization_ratio,
            "end_unix_s": mark.end_unix_s,
        }
        for mark in credential.marks
    ]


def _spec_of(text: Mapping[str, str], kind: CredentialKind) -> CredentialSpec:
    settings = orjson.loads(text["settings"])
    known = {field.name for field in fields(CredentialSpec)} - _COLUMN_FIELDS
    values = {name: value for name, value in settings.items() if name in known}
    for name in ("model_ids", "excluded_model_patterns"):
        values[name] = tuple(str(item) for item in values.get(name, ()))
    values["upstream_id_by_model"] = tuple(
        (str(model), str(name)) for model, name in values.get("upstream_id_by_model", ())
    )
    values["overage"] = OveragePolicy(values.get("overage", OveragePolicy.LAST_RESORT))
    values["cooling"] = CoolingPolicy(values.get("cooling", CoolingPolicy.INHERIT))
    form = values.get("identity_format")
    values["identity_format"] = IdentityFormat(form) if form else None
    return CredentialSpec(
        provider=text["provider"], kind=kind, installation_id=text["installation_id"], **values
    )


def _mark_of(row: Mapping[str, object]) -> Mark:
    return Mark(
        kind=MarkKind(str(row["kind"])),
        observe_unix_s=float(str(row["observe_unix_s"])),
        expire_unix_s=_maybe_float(row["expire_unix_s"]),
        model_id=str(row["model_id"]),
        family=str(row["family"]),
        window=str(row["quota_window"]),
        feature=str(row["feature"]),
        level=int(str(row["level"])),
        utilization_ratio=_maybe_float(row["utilization_ratio"]),
        end_unix_s=_maybe_float(row["end_unix_s"]),
    )


def _maybe_float(value: object) -> float | None:
    return None if value is None else float(str(value))


class _Learned(NamedTuple):
    """What upstreams taught about a credential beside its marks."""

    bound_families: tuple[str, ...] = ()
    trial_count: int = 0
    trial_unix_s: float = 0.0
    refresh_count: int = 0
    refresh_retry_unix_s: float = 0.0
    spent_digests: tuple[str, ...] = ()


def _learned(text: str) -> _Learned:
    found = _object(text)
    return _Learned(
        _texts(found.get("bound_families")),
        int(str(found.get("trial_count", 0))),
        float(str(found.get("trial_unix_s", 0.0))),
        int(str(found.get("refresh_count", 0))),
        float(str(found.get("refresh_retry_unix_s", 0.0))),
        _texts(found.get("spent_digests")),
    )


def _texts(found: object) -> tuple[str, ...]:
    return tuple(str(one) for one in found) if isinstance(found, list) else ()


def _unknown(settings: str) -> str:
    """Return the settings that this program does not know, as JSON; empty: none."""
    try:
        found = _object(settings)
    except orjson.JSONDecodeError:
        return ""
    known = {field.name for field in fields(CredentialSpec)}
    strange = {name: value for name, value in found.items() if name not in known}
    return orjson.dumps(strange).decode() if strange else ""


def _object(text: str) -> dict[str, object]:
    found = orjson.loads(text) if text else {}
    return found if isinstance(found, dict) else {}


def _member(kind: type[E], text: str, default: D) -> E | D:
    try:
        return kind(text)
    except ValueError:
        return default
