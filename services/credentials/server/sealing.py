"""Opens records that come from the store and seals secrets that go there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.credentials.model import Credential, Record, Secrets, SystemState
from services.credentials.policy.hashing import Hasher, named
from services.domain.vocab import CredentialKind
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from services.credentials.model import Sealed
    from services.credentials.ports import Cipher

_log = get_logger("credentials")


class Sealer:
    """Binds secrets to the row that they belong to."""

    def __init__(self, cipher: Cipher) -> None:
        self._cipher = cipher

    def seal(self, credential: Credential, secrets: Secrets) -> Sealed | None:
        """Return the sealed secrets of a credential; None: its kind has none."""
        if credential.spec.kind is CredentialKind.NONE:
            return None
        return self._cipher.seal_secrets(secrets, credential.id, credential.spec.provider)

    def open(self, record: Record, hasher: Hasher) -> tuple[Record, Secrets]:
        """Return a record under its names, and its secrets.

        One that cannot be read is set aside, without secrets, and harms no other.
        """
        credential = record.credential
        secrets = self._secrets_of(record)
        if secrets is None:
            credential = replace(credential, system_state=SystemState.QUARANTINED)
            secrets = Secrets()
        credential = named(credential, secrets, hasher)
        if credential.system_state is SystemState.QUARANTINED:
            _log.error("credential_quarantined", fingerprint=credential.fingerprint)
        return replace(record, credential=credential), secrets

    def _secrets_of(self, record: Record) -> Secrets | None:
        credential = record.credential
        if record.sealed is None:
            return Secrets() if credential.spec.kind is CredentialKind.NONE else None
        return self._cipher.open_secrets(record.sealed, credential.id, credential.spec.provider)
