"""Brings a pool into the store that configuration states anew while the service runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from services.domain.errors import RouterError
from services.runtime.launch import StartError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from services.credentials.policy.declared import Declared
    from services.runtime.clock import Clock

RETRY_S = 1.0
"""Pause before a pool that could not be stored is tried again."""

_log = get_logger("credentials")


class Holder(Protocol):
    """Holds the pool; the vault does."""

    async def declare(self, wanted: tuple[Declared, ...]) -> None:
        """Bring a declared pool into the store, in the place of the last one.

        Raises:
            RouterError, StartError: it could not be stored.
        """
        ...


class Redeclarer:
    """Stores the pool that was stated last, as soon as the store takes it."""

    def __init__(self, vault: Holder, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock
        self._wanted: tuple[Declared, ...] = ()
        self._is_asked = asyncio.Event()

    def want(self, declared: tuple[Declared, ...]) -> None:
        """Have the store hold exactly ``declared`` besides what people stored."""
        self._wanted = declared
        self._is_asked.set()

    async def run(self) -> None:
        """Store each pool that is wanted, for ever."""
        has_failed = False
        while True:
            await self._is_asked.wait()
            self._is_asked.clear()
            try:
                await self._vault.declare(self._wanted)
                has_failed = False
            except (RouterError, StartError) as error:
                if not has_failed:
                    _log.warning("pool_not_reconciled", error=str(error))
                has_failed = True
                await self._clock.sleep(RETRY_S)
                self._is_asked.set()
