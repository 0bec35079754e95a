"""How the declared pool is brought into the store."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from services.credentials.model import Credential, Origin, SystemState
from services.credentials.policy.evidence import cleared_by_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from services.credentials.model import CredentialSpec, Record, Secrets


@dataclass(frozen=True, slots=True)
class Declared:
    """One credential as configuration states it."""

    spec: CredentialSpec
    secrets: Secrets
    origin: Origin


@dataclass(frozen=True, slots=True)
class Change:
    """One step of bringing the store in line: what the record becomes."""

    credential: Credential
    secrets: Secrets | None
    """None: the stored ones stay."""
    spec_digest: str
    secret_digest: str = field(repr=False)
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """What to store and what to remove."""

    changes: tuple[Change, ...]
    removed: tuple[Credential, ...]


def identities(declared: Sequence[Declared]) -> tuple[str, ...]:
    """Return a stable id for each entry: of its origin, tenant, provider, kind and label.

    Entries that agree in all of these are told apart by their order.
    """
    counts: Counter[str] = Counter()
    found: list[str] = []
    for one in declared:
        spec = one.spec
        parts = (one.origin, spec.installation_id, spec.provider, spec.kind, spec.label)
        key = "\0".join(parts)
        counts[key] += 1
        found.append(hashlib.sha256(f"{key}\0{counts[key]}".encode()).hexdigest()[:32])
    return tuple(found)


def reconcile(
    declared: Sequence[Declared],
    records: Iterable[Record],
    digest: Callable[[str], str],
    now_unix_s: float,
) -> Reconciliation:
    """Return how the store must change to hold exactly what is declared.

    What configuration did not change since it was last read stays as it is stored: a token that
    was refreshed since, or a switch that an operator set, is not undone by reading the same file
    again. Identity and marks outlive every edit. ``digest`` is keyed.
    """
    existing = {record.credential.id: record for record in records}
    wanted = dict(zip(identities(declared), declared, strict=True))
    changes: list[Change] = []
    for identity, one in wanted.items():
        spec_digest, secret_digest = digest(repr_of(one.spec)), digest(secret_text(one.secrets))
        record = existing.get(identity)
        if record is None:
            fresh = Credential(
                identity, one.spec, one.origin, create_unix_s=now_unix_s, update_unix_s=now_unix_s
            )
            changes.append(Change(fresh, one.secrets, spec_digest, secret_digest, is_new=True))
            continue
        is_edited = record.spec_digest != spec_digest
        is_rotated = record.secret_digest != secret_digest
        # An old copy of the file never brings back a token that was replaced since.
        token = one.secrets.refresh_token
        is_spent = bool(token) and digest(token) in record.credential.spent_digests
        if is_spent:
            is_rotated = False
        is_unread = record.credential.system_state is SystemState.QUARANTINED
        is_lost = is_unread and not _is_newer_stored(record, secret_digest, is_spent=is_spent)
        if is_unread and not is_lost:
            continue
        if is_edited or is_rotated or is_lost:
            changed = _changed(
                record.credential,
                one,
                is_edited=is_edited or is_lost,
                is_rotated=is_rotated or is_lost,
                now_unix_s=now_unix_s,
            )
            secrets = one.secrets if is_rotated or is_lost else None
            changes.append(Change(changed, secrets, spec_digest, secret_digest))
    removed = tuple(
        record.credential
        for identity, record in existing.items()
        if record.credential.origin is not Origin.STORED and identity not in wanted
    )
    return Reconciliation(tuple(changes), removed)


def _is_newer_stored(record: Record, secret_digest: str, *, is_spent: bool) -> bool:
    """Return whether the token of an account was replaced since it was declared.

    The newest is then in the store alone. Who cannot read it there lacks a key, and leaves the
    record to those who have that.
    """
    is_unchanged = record.secret_digest == secret_digest
    return is_spent or (is_unchanged and bool(record.credential.spent_digests))


def secret_text(secrets: Secrets) -> str:
    """Return the secrets as one text, to be digested under a key and never shown."""
    parts = (
        secrets.value,
        secrets.refresh_token,
        secrets.id_token,
        secrets.account_id,
        secrets.project_id,
        secrets.proxy_url,
        repr(secrets.headers),
    )
    return "\0".join(parts)


def repr_of(spec: CredentialSpec) -> str:
    """Return every setting as one text, those that ``repr`` hides included."""
    return f"{spec!r}\0{spec.label}\0{spec.account}"


def _changed(
    credential: Credential,
    one: Declared,
    *,
    is_edited: bool,
    is_rotated: bool,
    now_unix_s: float,
) -> Credential:
    if is_rotated:
        credential = cleared_by_secret(credential, now_unix_s).credential
    return replace(
        credential,
        spec=one.spec if is_edited else credential.spec,
        credential_version=credential.credential_version + (1 if is_rotated else 0),
        token_expire_unix_s=one.secrets.expire_unix_s
        if is_rotated
        else credential.token_expire_unix_s,
        secret_suffix=one.secrets.suffix if is_rotated else credential.secret_suffix,
        update_unix_s=now_unix_s,
    )
