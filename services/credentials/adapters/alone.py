"""One replica: there is nobody to share with."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from services.credentials.model import Slot


class Alone:
    """Shares nothing."""

    is_alone = True
    replica_count = 1

    async def meet(self) -> bool:
        """Return false: nothing can be lost."""
        return False

    async def start(self, space: str) -> None:
        """Do nothing."""

    async def aclose(self) -> None:
        """Do nothing."""

    async def announce(self, revision: int) -> bool:
        """Return true: there is nobody to be told."""
        return True

    async def announcements(self) -> AsyncIterator[int]:
        """Yield nothing, for ever."""
        await asyncio.get_running_loop().create_future()
        yield 0

    async def bound(self, key: str, credential_id: str, ttl_s: float) -> str:
        """Return the given credential."""
        return credential_id

    async def rebind(self, key: str, credential_id: str, ttl_s: float) -> None:
        """Do nothing."""

    async def take(self, slot: Slot, ttl_s: float) -> bool:
        """Return true: the counts of this process decide."""
        return True

    async def renew(self, slot: Slot, ttl_s: float) -> None:
        """Do nothing."""

    async def free(self, slot: Slot) -> None:
        """Do nothing."""
