"""Stores settled rows in batches beside the actions, until each of them is stored.

A store that is down delays rows and nothing else: they wait in memory and are in the journal. A row
that the store refuses is told in the log and set aside in a file of the journal; the others go on.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import TYPE_CHECKING, Protocol

from gateway import metrics
from gateway.ledger.entries import Settled, line_of
from gateway.ledger.ports import RowsRefusedError
from services.domain.errors import RouterError
from services.runtime.background import ended, in_background
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.ledger.journal import Claimed, Journal, Segment
    from gateway.ledger.ports import LedgerStore
    from gateway.model.record import LedgerRow
    from services.runtime.clock import Clock

_log = get_logger("gateway")

BATCH_ROWS = 200
GATHER_S = 0.2
"""How long rows are gathered for one transaction."""
SYNC_S = 1.0
FIRST_RETRY_S = 0.5
LAST_RETRY_S = 10.0
FLUSH_S = 5.0
"""Time to store what is left at the end; the rest stays in the journal."""


class Keeper(Protocol):
    """What may be forgotten once its rows are stored."""

    unstored_rows: int


class Writer:
    """Owns the queue between the journal and the store."""

    def __init__(self, store: LedgerStore, journal: Journal, clock: Clock) -> None:
        self._store = store
        self._journal = journal
        self._clock = clock
        self._queue: deque[tuple[LedgerRow, Keeper]] = deque()
        self._claimed: list[Claimed] = []
        self._most_rows = BATCH_ROWS
        self._has_rows = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def depth(self) -> int:
        """Number of rows that are not stored yet."""
        return len(self._queue)

    def start(self) -> None:
        """Begin to store."""
        self._tasks = [
            in_background(self._run(), "ledger-writer"),
            in_background(self._keep_synced(), "ledger-sync"),
        ]

    def add(self, rows: Sequence[LedgerRow], keeper: Segment) -> None:
        """Store ``rows`` soon; their segment is kept until then."""
        self._put(rows, keeper)

    def add_claimed(self, rows: Sequence[LedgerRow], claimed: Claimed) -> None:
        """Store the rows of a process that is gone, then remove its folder."""
        self._put(rows, claimed)
        self._claimed.append(claimed)
        self._has_rows.set()

    async def aclose(self) -> None:
        """Store what is left, within a few seconds, and end."""
        with contextlib.suppress(TimeoutError, RouterError):
            async with asyncio.timeout(FLUSH_S):
                await self._stop_tasks()
                while self._queue:
                    await self._store_batch()
        self._forget()
        for claimed in self._claimed:
            claimed.release()

    async def _stop_tasks(self) -> None:
        for task in self._tasks:
            await ended(task)
        self._tasks.clear()

    def _put(self, rows: Sequence[LedgerRow], keeper: Keeper) -> None:
        keeper.unstored_rows += len(rows)
        self._queue.extend((row, keeper) for row in rows)
        self._has_rows.set()

    async def _run(self) -> None:
        retry_s = FIRST_RETRY_S
        while True:
            await self._has_rows.wait()
            self._has_rows.clear()
            while self._queue or self._claimed:
                self._show()
                if len(self._queue) < BATCH_ROWS <= self._most_rows:
                    # Before every batch: rows come while one is stored, and would go one by one.
                    await self._clock.sleep(GATHER_S)
                try:
                    await self._store_batch()
                except RouterError as error:
                    _log.warning("ledger_store_failed", rows=self.depth, reason=error.reason.value)
                    await self._clock.sleep(retry_s)
                    retry_s = min(2 * retry_s, LAST_RETRY_S)
                else:
                    retry_s = FIRST_RETRY_S
            self._show()

    async def _store_batch(self) -> None:
        batch = [self._queue[index] for index in range(min(self._most_rows, len(self._queue)))]
        try:
            await self._store.add([row for row, _ in batch])
        except RowsRefusedError as refusal:
            self._keep_back(batch, refusal)
            return
        self._most_rows = min(2 * self._most_rows, BATCH_ROWS)
        for _, keeper in batch:
            self._queue.popleft()
            keeper.unstored_rows -= 1
        self._forget()

    def _keep_back(self, batch: Sequence[tuple[LedgerRow, Keeper]], refusal: Exception) -> None:
        """Look for the refused row one by one, set it aside, then go on without it."""
        self._most_rows = 1
        if len(batch) > 1:
            return
        row, keeper = self._queue.popleft()
        with contextlib.suppress(OSError):  # else its segment is kept
            self._journal.set_aside(line_of(Settled((row.action_id, row.kind), (row,))))
            keeper.unstored_rows -= 1
        cause = type(refusal.__cause__).__name__
        _log.error("ledger_row_refused", action_id=row.action_id, attempt=row.attempt, error=cause)

    def _forget(self) -> None:
        self._journal.sweep()
        for claimed in [each for each in self._claimed if not each.unstored_rows]:
            claimed.remove()
            self._claimed.remove(claimed)

    async def _keep_synced(self) -> None:
        while True:
            await self._clock.sleep(SYNC_S)
            try:
                await self._journal.sync()
            except OSError as error:
                _log.error("ledger_sync_failed", error=error.strerror)

    def _show(self) -> None:
        oldest = self._queue[0][0].settled_unix_s if self._queue else self._clock.now_unix_s()
        metrics.LEDGER_PENDING_ROWS.set(len(self._queue))
        metrics.LEDGER_OLDEST_SECONDS.set(max(0.0, self._clock.now_unix_s() - oldest))
