"""Tells other replicas of writes, and hears of theirs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.credentials.ports import Shared
    from services.credentials.server.slots import Slots
    from services.credentials.server.vault import Vault
    from services.runtime.clock import Clock

RETRY_S = 1.0
MEET_S = 5.0
"""Pause between two looks at which replicas there are."""


class Announcer:
    """Announces the newest revision, once for writes that come close together."""

    def __init__(self, shared: Shared, clock: Clock) -> None:
        self._shared = shared
        self._clock = clock
        self._newest = 0
        self._has_news = asyncio.Event()

    def note(self, revision: int) -> None:
        """Note a write of this replica's."""
        self._newest = max(self._newest, revision)
        self._has_news.set()

    async def speak(self) -> None:
        """Announce writes until cancelled."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            if not await self._shared.announce(self._newest):
                await self._clock.sleep(RETRY_S)
                self._has_news.set()

    async def meet(self, slots: Slots) -> None:
        """Be counted among the replicas until cancelled."""
        while True:
            await self._clock.sleep(RETRY_S if self._shared.is_alone else MEET_S)
            await self._meet(slots)

    async def listen(self, vault: Vault, slots: Slots) -> None:
        """Adopt what others announce until cancelled."""
        async for revision in self._shared.announcements():
            if revision == 0:
                await self._meet(slots)
            if revision == 0 or revision > vault.pool.revision:
                await vault.poll()

    async def _meet(self, slots: Slots) -> None:
        if await self._shared.meet():
            await slots.renew_all()
