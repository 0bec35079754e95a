"""What the office needs: the pool of credentials, and the ledger as auditors read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gateway.ledger.ports import LedgerPages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gateway.ledger.verify import Audit
    from services.runtime.settings import CredentialSettings

    Facts = Mapping[str, object]


class Pool(Protocol):
    """The stored credentials, shown without their secrets.

    Every method raises RouterError: what the service refuses, or that it does not answer.
    """

    async def all(self) -> Sequence[Facts]:
        """Return every credential in the order of lists."""
        ...

    async def create(self, wanted: CredentialSettings, idempotency_key: str, actor: str) -> Facts:
        """Store a credential and return it."""
        ...

    async def change(self, before: Facts, wanted: CredentialSettings, actor: str) -> Facts:
        """Change what ``wanted`` states and return the credential as it is then."""
        ...

    async def remove(self, credential_id: str, actor: str) -> None:
        """Remove a credential."""
        ...

    async def reset(self, credential_id: str, model_id: str, actor: str) -> int:
        """Clear the marks of a credential, those of one model or all, and return how many stood."""
        ...

    async def reencrypt(self, actor: str) -> Facts:
        """Seal every secret anew and return how many were."""
        ...


class Books(LedgerPages, Protocol):
    """The ledger, page by page and as a whole."""

    async def audit(self) -> Audit:
        """Return what the ledger says against what it should say.

        Raises:
            RouterError: the store does not answer.
        """
        ...
