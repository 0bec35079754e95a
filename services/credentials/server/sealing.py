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
    from services.credentials.policy.defaults import Defaults
    from services.credentials.ports import Cipher

_log = get_logger("credentials")


class Sealer:
    """Binds secrets to the row that they belong to."""

    def __init__(self, cipher: Cipher, defaults: Defaults) -> None:
        self._cipher = cipher
        self._defaults = defaults

    def seal(self, credential: Credential, secrets: Secrets) -> Sealed | None:
        """Return the sealed secrets of a credential; None: its kind has none."""
        if credential.spec.kind is CredentialKind.NONE:
            return None
        return self._cipher.seal_secrets(secrets, credential.id, credential.spec.provider)

    def named(self, credential: Credential, secrets: Secrets, hasher: Hasher) -> Credential:
        """Return a credential with all that follows from its identity, settings and secrets."""
        return replace(
            named(credential, secrets, hasher),
            is_cooling=self._defaults.cools(credential.spec),
            default_priority=self._defaults.priority(credential.spec),
        )

    def open(self, record: Record, hasher: Hasher) -> tuple[Record, Secrets]:
        """Return a record under its names, and its secrets.

        One that cannot be read is set aside, without secrets, and harms no other.
        """
        credential = record.credential
        secrets = self._secrets_of(record)
        if secrets is None:
            credential = replace(credential, system_state=SystemState.QUARANTINED)
            secrets = Secrets()
        credential = self.named(credential, secrets, hasher)
        if credential.system_state is SystemState.QUARANTINED:
            _log.error("credential_quarantined", fingerprint=credential.fingerprint)
        return replace(record, credential=credential), secrets

    def _secrets_of(self, record: Record) -> Secrets | None:
        credential = record.credential
        if record.sealed is None:
            return Secrets() if credential.spec.kind is CredentialKind.NONE else None
        return self._cipher.open_secrets(record.sealed, credential.id, credential.spec.provider)
