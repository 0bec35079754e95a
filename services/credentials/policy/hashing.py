"""Keyed hashes: names for credentials and secrets that tell nothing about them."""

from __future__ import annotations

import functools
import hmac
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.credentials.model import Credential, Secrets

KEY_BYTES = 32
FINGERPRINT_DIGITS = 8
HASH_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Hasher:
    """Hashes under the deployment's key, one domain per use."""

    key: bytes = field(repr=False)

    def fingerprint(self, identity: str) -> str:
        """Return the only name of a credential that logs and callers see."""
        return self._digest("fingerprint", identity)[:FINGERPRINT_DIGITS]

    def presented(self, installation_id: str, token: str) -> str:
        """Return the name of a presented credential, bound to its tenant."""
        return self._digest("presented", installation_id, token)[:HASH_DIGITS]

    def declared(self, text: str) -> str:
        """Return a digest by which a change of configuration is seen."""
        return self._digest("declared", text)

    def grant(self, *parts: str) -> str:
        """Return what shows that a grant is ours."""
        return self._digest("grant", *parts)

    def shared(self, *parts: str) -> str:
        """Return the name of something that replicas share outside the store."""
        return self._digest("shared", *parts)[:HASH_DIGITS]

    @staticmethod
    def is_same(one: str, other: str) -> bool:
        """Return whether two texts are equal, in a time that tells nothing."""
        return hmac.compare_digest(one.encode(), other.encode())

    def cache_key(self, identity: str, version: int, base_url: str) -> str:
        """Return the name under which dispatch may hold a secret for a moment."""
        return self._digest("cache", identity, str(version), base_url)[:HASH_DIGITS]

    def _digest(self, *parts: str) -> str:
        keyed = _keyed(self.key).copy()
        keyed.update("\0".join(parts).encode())
        return keyed.hexdigest()


@functools.lru_cache(maxsize=4)
def _keyed(key: bytes) -> hmac.HMAC:
    """Return a hash that has taken its key, which takes longer than most of what is hashed."""
    return hmac.new(key, digestmod="sha256")


def named(credential: Credential, secrets: Secrets, hasher: Hasher) -> Credential:
    """Return a credential with all that follows from its identity, version and secrets."""
    return replace(
        credential,
        fingerprint=hasher.fingerprint(credential.id),
        cache_key=hasher.cache_key(
            credential.id, credential.credential_version, credential.spec.base_url
        ),
        secret_suffix=secrets.suffix,
        token_expire_unix_s=secrets.expire_unix_s,
    )
