"""The ledger's store in memory, and a ledger on it with its journal in a folder."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from gateway.ledger.book import Book
from gateway.ledger.journal import Journal
from gateway.model.record import LedgerRow
from services.domain.catalog import Catalog
from services.domain.errors import Reason, RouterError
from services.runtime.clock import Clock, SystemClock


class MemoryLedgerStore:
    """Rows in a dictionary, with the rules of the real store."""

    def __init__(self) -> None:
        self.stored: dict[tuple[str, int, str], LedgerRow] = {}
        self.counters: dict[str, int] = {}
        self.is_down = False
        self._has_added = asyncio.Event()

    async def start(self) -> None:
        pass

    async def aclose(self) -> None:
        pass

    async def add(self, rows: Sequence[LedgerRow]) -> int:
        if self.is_down:
            raise RouterError(Reason.STORE_UNAVAILABLE, "down")
        count = len(self.stored)
        for row in rows:
            if row.key in self.stored:
                continue
            self.stored[row.key] = row
            self.counters[row.key_id] = self.counters.get(row.key_id, 0) + row.charged_micros
        self._has_added.set()
        return len(self.stored) - count

    async def wait_for(self, count: int) -> tuple[LedgerRow, ...]:
        """Return the rows once there are `count`, or fail."""
        async with asyncio.timeout(5):
            while len(self.stored) < count:
                self._has_added.clear()
                await self._has_added.wait()
        return tuple(self.stored.values())

    async def page(self, after: int, limit: int) -> Sequence[tuple[int, LedgerRow]]:
        places = list(enumerate(self.stored.values(), start=1))
        return [(place, row) for place, row in places if place > after][:limit]

    async def spent(self, key_id: str) -> int:
        return self.counters.get(key_id, 0)

    @contextlib.asynccontextmanager
    async def snapshot(self) -> AsyncIterator[MemorySnapshot]:
        yield MemorySnapshot(self)


class MemorySnapshot:
    def __init__(self, store: MemoryLedgerStore) -> None:
        self._store = store

    async def rows(self) -> AsyncIterator[LedgerRow]:
        for row in tuple(self._store.stored.values()):
            yield row

    async def spent(self) -> Mapping[str, int]:
        return dict(self._store.counters)


def book_in(
    folder: Path,
    catalog: Catalog,
    store: MemoryLedgerStore,
    clock: Clock | None = None,
    *,
    max_bytes: int = 1 << 20,
) -> Book:
    """Return a ledger on `store` with its journal in `folder`, not yet started."""
    return Book(store, Journal(folder, max_bytes=max_bytes), catalog, clock or SystemClock())
