"""What commands show of credentials."""

from __future__ import annotations

import datetime as dt
import enum
from typing import TYPE_CHECKING, TypeVar

from services.credentials.codec import fields
from services.credentials.model import MarkKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from google.protobuf import timestamp_pb2
    from pointsman.credentials.v1 import credentials_pb2 as pb

E = TypeVar("E", bound=enum.Enum)


def row(one: pb.Credential) -> Mapping[str, object]:
    """Return what a list shows of a credential."""
    all_facts = facts(one)
    shown = ("fingerprint", "provider", "kind", "label", "enabled", "state", "priority", "origin")
    return {**{name: all_facts[name] for name in shown}, "marks": _marks(one.marks)}


def facts(one: pb.Credential) -> Mapping[str, object]:
    """Return all that is shown of a credential; never its secrets."""
    spec, has_expiry = one.spec, one.HasField("token_expire_time")
    return {
        "id": one.credential_id,
        "fingerprint": one.fingerprint,
        "provider": spec.provider,
        "kind": _name(fields.KINDS, spec.kind),
        "label": spec.label,
        "account": spec.account,
        "installation": spec.installation_id,
        "origin": _name(fields.ORIGINS, one.origin),
        "enabled": spec.is_enabled,
        "state": _name(fields.SYSTEM_STATES, one.system_state),
        "priority": spec.priority if spec.HasField("priority") else 0,
        "weight": spec.weight if spec.HasField("weight") else 1,
        "models": list(spec.model_ids),
        "excluded_models": list(spec.excluded_model_patterns),
        "aliases": dict(spec.upstream_id_by_model),
        "model_prefix": spec.model_prefix,
        "base_url": spec.base_url,
        "max_in_flight": spec.max_in_flight_count,
        "overage": _name(fields.OVERAGES, spec.overage),
        "cooling": _name(fields.COOLINGS, spec.cooling),
        "secret": f"…{one.secret_suffix}" if one.secret_suffix else "",
        "token_expires": _when(one.token_expire_time) if has_expiry else None,
        "marks": [_mark(mark) for mark in one.marks],
    }


def _marks(marks: Sequence[pb.CredentialMark]) -> str:
    return " ".join(
        ":".join(part for part in (str(_mark(mark)["kind"]), mark.window, mark.model_id) if part)
        for mark in marks
    )


def _mark(mark: pb.CredentialMark) -> Mapping[str, object]:
    kind = _name(fields.MARK_KINDS, mark.kind)
    return {
        "kind": MarkKind(kind).value,
        "window": mark.window,
        "model": mark.model_id,
        "family": mark.family,
        "expires": _when(mark.expire_time) if mark.HasField("expire_time") else None,
    }


def _name(table: Mapping[E, int], number: int) -> str:
    return next((str(member) for member, known in table.items() if known == number), str(number))


def _when(time: timestamp_pb2.Timestamp) -> str:
    found = dt.datetime.fromtimestamp(fields.unix_s(time), dt.UTC)
    return found.isoformat(timespec="seconds")
