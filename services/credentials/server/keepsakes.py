"""New tokens as they are kept outside the store: sealed, and never a reason to fail."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from services.credentials.model import Kept
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from services.credentials.model import Credential, Secrets
    from services.credentials.ports import Cipher, TokenJournal
    from services.credentials.server.vault import Vault

LONGEST_S = 5.0
"""Longest time that a disk may take; the store is tried all the same."""

_log = get_logger("credentials")


class Keepsakes:
    """Seals pairs for the journal, and opens those that are of this deployment."""

    def __init__(self, journal: TokenJournal, cipher: Cipher, vault: Vault) -> None:
        self._journal = journal
        self._cipher = cipher
        self._vault = vault

    async def keep(self, credential: Credential, version: int, after: Secrets) -> None:
        """Keep the pair that replaces a version, where the disk lets us."""
        sealed = self._cipher.seal_secrets(after, credential.id, credential.spec.provider)
        kept = Kept(credential.id, version, sealed, self._deployment())
        await self._tried(lambda: self._journal.keep(kept))

    async def drop(self, credential_id: str) -> None:
        """Forget the pair of a credential: the store has it, or a newer one."""
        await self._tried(lambda: self._journal.drop(credential_id))

    async def tidy(self) -> bool:
        """Forget the pairs of credentials that this deployment has no more; false: the store is
        down, and nobody can say which those are."""
        kept = await self._tried(self._journal.kept) or ()
        gone = [one for one in kept if one.deployment == self._deployment() and self._is_gone(one)]
        if gone:
            await self._vault.poll()  # another replica may have added them just now
        if not self._vault.is_store_up:
            return False
        for one in filter(self._is_gone, gone):
            await self.drop(one.credential_id)
        return True

    async def found(self) -> list[tuple[str, int, Secrets]]:
        """Return what is kept for credentials of the pool: id, version replaced, secrets."""
        kept = await self._tried(self._journal.kept) or ()
        found: list[tuple[str, int, Secrets]] = []
        for one in kept:
            credential = self._vault.pool.by_id.get(one.credential_id)
            if credential is None:
                continue  # another deployment's
            secrets = self._cipher.open_secrets(
                one.sealed, one.credential_id, credential.spec.provider
            )
            if secrets is not None:
                found.append((one.credential_id, one.version, secrets))
        return found

    def _deployment(self) -> str:
        return self._vault.hasher.shared("journal")

    def _is_gone(self, kept: Kept) -> bool:
        return self._vault.stored(kept.credential_id) is None

    @staticmethod
    async def _tried(
        work: Callable[[], Awaitable[tuple[Kept, ...] | None]],
    ) -> tuple[Kept, ...] | None:
        try:
            async with asyncio.timeout(LONGEST_S):
                return await work()
        except (OSError, TimeoutError) as error:
            _log.error("token_journal_unavailable", error=type(error).__name__)
            return None
