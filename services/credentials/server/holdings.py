"""Records and secrets as they were read: what the vault holds in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.credentials.model import Secrets, SystemState
from services.credentials.policy.twins import twins
from services.domain.errors import Reason, RouterError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.credentials.model import Credential, Record, Stored
    from services.credentials.policy.hashing import Hasher
    from services.credentials.server.sealing import Sealer

_log = get_logger("credentials")


class Holdings:
    """Every record with its secrets, by the credential's id."""

    def __init__(self, sealer: Sealer) -> None:
        self._sealer = sealer
        self._records: dict[str, Record] = {}
        self._secrets: dict[str, Secrets] = {}

    @property
    def records(self) -> Mapping[str, Record]:
        """All records, for reading only."""
        return self._records

    def credentials(self) -> list[Credential]:
        """Return all credentials."""
        return [record.credential for record in self._records.values()]

    def record(self, credential_id: str) -> Record:
        """Return a record.

        Raises:
            RouterError: CREDENTIAL_NOT_FOUND.
        """
        record = self._records.get(credential_id)
        if record is None:
            raise RouterError(Reason.CREDENTIAL_NOT_FOUND, "no such credential")
        return record

    def secrets_of(self, credential_id: str) -> Secrets:
        """Return the secrets of a credential; empty ones where it has none."""
        return self._secrets.get(credential_id, Secrets())

    def made_by(self, idempotency_key: str) -> Credential | None:
        """Return the credential that the call with that key made; None: none did."""
        return next(
            (r.credential for r in self._records.values() if r.idempotency_key == idempotency_key),
            None,
        )

    def put(self, record: Record, secrets: Secrets) -> None:
        """Hold a record that was written."""
        self._records[record.credential.id] = record
        self._secrets[record.credential.id] = secrets

    def drop(self, credential_id: str) -> None:
        """Forget a record that was removed."""
        self._records.pop(credential_id, None)
        self._secrets.pop(credential_id, None)

    def forget_secrets(self) -> None:
        """Forget every secret."""
        self._secrets.clear()

    def take(self, stored: Stored, hasher: Hasher, *, is_all: bool) -> dict[str, Credential]:
        """Hold what was read and return it by id; with ``is_all`` nothing else is held on.

        A secret is opened anew only where it is another one, and an unchanged record stays the
        same value, so that views of it hold on.
        """
        before, known = self._records, self._secrets
        if is_all:
            self._records, self._secrets = {}, {}
        for credential_id in stored.removed:
            self.drop(credential_id)
        taken: dict[str, Credential] = {}
        for record in stored.records:
            identity = record.credential.id
            old, secrets = before.get(identity), known.get(identity)
            if old is not None and secrets is not None and _is_same_secret(old, record):
                credential = self._sealer.named(record.credential, secrets, hasher)
                opened = replace(record, credential=credential)
            else:
                opened, secrets = self._sealer.open(record, hasher)
            if old is not None and old == opened:
                opened = old
            self.put(opened, secrets)
            taken[identity] = opened.credential
        for identity in twins(self.credentials(), self.secrets_of, hasher.declared):
            record = self._records[identity]
            if record.credential.system_state is SystemState.QUARANTINED:
                continue
            aside = replace(record.credential, system_state=SystemState.QUARANTINED)
            self._records[identity] = replace(record, credential=aside)
            taken[identity] = aside
            _log.error("credential_has_a_twin", fingerprint=aside.fingerprint)
        return taken


def _is_same_secret(old: Record, new: Record) -> bool:
    is_read = old.credential.system_state is not SystemState.QUARANTINED
    return is_read and new.sealed is not None and old.sealed == new.sealed
