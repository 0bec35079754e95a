"""Keeps tokens of accounts fresh: says which are renewed and when, and who waits for them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from services.credentials.policy import refresh
from services.credentials.server.minting import LEASE_S
from services.runtime.background import in_background

if TYPE_CHECKING:
    from services.credentials.model import Credential
    from services.credentials.ports import TokenEndpoint
    from services.credentials.server.keepsakes import Keepsakes
    from services.credentials.server.minting import Minter
    from services.credentials.server.vault import Vault
    from services.runtime.clock import Clock

LOOK_S = 1.0
"""Pause between two looks for tokens that end soon."""
SHARE_S = 4.0
"""Longest time that a request waits for a token; its own deadline is 5 s."""


class Refresher:
    """Refreshes ahead of expiry, on demand, and after a refusal."""

    def __init__(
        self,
        vault: Vault,
        minter: Minter,
        keepsakes: Keepsakes,
        endpoint: TokenEndpoint,
        clock: Clock,
    ) -> None:
        self._vault = vault
        self._minter = minter
        self._keepsakes = keepsakes
        self._endpoint = endpoint
        self._clock = clock
        self._running: dict[str, asyncio.Task[None]] = {}
        self._is_untidy = True

    async def run(self) -> None:
        """Look for tokens that end soon until cancelled."""
        while True:
            await self._clock.sleep(LOOK_S)
            await self.look()

    async def look(self) -> None:
        """Begin what is due, store what could not be stored, give up what cannot be renewed."""
        now = self._clock.now_unix_s()
        await self._minter.store_late()
        await self._tidy()
        for credential in tuple(self._vault.pool.by_id.values()):
            if not credential.spec.is_plan or self._minter.is_unstored(credential.id):
                continue
            secrets = self._vault.secrets_of(credential.id)
            due = refresh.due_unix_s(credential, secrets)
            if due is not None and due <= now:
                self._begin(credential)
            elif refresh.is_dead(credential, secrets, now):
                await self._minter.give_up(credential, "expired")

    async def start(self) -> None:
        """Take over what an earlier process kept and could not store."""
        await self._minter.recover()
        await self._tidy()

    def note_removal(self) -> None:
        """Take note that credentials were removed: nothing of them is to stay on the disk."""
        self._is_untidy = True

    async def aclose(self) -> None:
        """Let what was asked be answered and stored, then close the connections."""
        self._minter.close()
        await self.settled()
        for task in tuple(self._running.values()):
            task.cancel()
        await self._endpoint.aclose()

    async def settled(self) -> None:
        """Return when no refresh runs any more, or after the longest that one may take."""
        if self._running:
            await asyncio.wait(tuple(self._running.values()), timeout=LEASE_S)

    async def freshen(self, credential_id: str, rejected_version: int = 0) -> None:
        """Refresh a credential that has no token to send, or whose token was just refused.

        Returns after 4 s whatever came of it.
        """
        credential = self._vault.pool.by_id.get(credential_id)
        if credential is None or not self._needs_refresh(credential, rejected_version):
            return
        task = self._begin(credential)
        try:
            async with asyncio.timeout(SHARE_S):
                await asyncio.shield(task)
        except TimeoutError:
            return

    def is_sendable(self, credential_id: str) -> bool:
        """Return whether a credential has a token that may go into a request now."""
        return refresh.is_sendable(self._vault.secrets_of(credential_id), self._clock.now_unix_s())

    async def _tidy(self) -> None:
        if self._is_untidy:
            self._is_untidy = False
            self._is_untidy |= not await self._keepsakes.tidy()

    def _needs_refresh(self, credential: Credential, rejected_version: int) -> bool:
        secrets = self._vault.secrets_of(credential.id)
        if not refresh.is_refreshed(credential, secrets) or self._minter.is_unstored(credential.id):
            return False
        now = self._clock.now_unix_s()
        if credential.refresh_retry_unix_s > now:
            return False
        is_rejected = 0 < credential.credential_version <= rejected_version
        return is_rejected or not refresh.is_sendable(secrets, now)

    def _begin(self, credential: Credential) -> asyncio.Task[None]:
        """Return the refresh of a credential that runs in this process, begun now if none does."""
        task = self._running.get(credential.id)
        if task is None:
            work = self._minter.refresh(credential.id, credential.credential_version)
            task = self._running[credential.id] = in_background(work, "token-refresh")
            task.add_done_callback(lambda _: self._running.pop(credential.id, None))
        return task
