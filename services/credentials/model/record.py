"""What the store keeps: credentials with sealed secrets, and who changed them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.domain.errors import Reason, RouterError

if TYPE_CHECKING:
    from services.credentials.model.credential import Credential


@dataclass(frozen=True, slots=True)
class Sealed:
    """Encrypted bytes and the id of the key that opens them."""

    key_id: str
    ciphertext: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Record:
    """One row of the store."""

    credential: Credential
    sealed: Sealed | None
    """None: it has no secret."""
    spec_digest: str = ""
    """Keyed digest of the settings as configuration last gave them; empty: not from there."""
    secret_digest: str = field(default="", repr=False)
    """Keyed digest of the secrets as they were last given by a person or by configuration."""
    idempotency_key: str = ""
    """Key of the call that created it."""
    unknown_settings: str = ""
    """Settings that a newer program wrote, as JSON; kept for it."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What is in the store at one revision: all of it, or what changed since another."""

    revision: int
    records: tuple[Record, ...]
    removed: tuple[str, ...] = ()
    """Ids of credentials that went since the revision that was asked about."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Who did what to which credential. Never holds a label or a secret."""

    actor: str
    action: str
    time_unix_s: float
    detail: str = ""


def version_conflict() -> RouterError:
    """Return the error about a record that was changed since it was read."""
    return RouterError(
        Reason.VERSION_CONFLICT, "the credential was changed by somebody else: read it again"
    )
