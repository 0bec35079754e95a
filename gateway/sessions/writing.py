"""Stores the changes of sessions behind their memory: the last ones of many, or each on its own.

Alone on its store a gateway collects changes and stores many sessions at once. Beside others it
stores each by itself: at once when its action is over, else after :data:`LATER_S`, so that what an
action decides and what it leaves are one write when its answer is quick.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from gateway.sessions.model import Session
from services.domain.errors import RouterError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from gateway.sessions.entry import Entry
    from gateway.sessions.ports import SessionStore
    from services.runtime.clock import Clock

SHARED_WRITERS = 4
"""Writers beside other gateways; alone there is one, since SQLite takes one at a time."""
GATHER_S = 0.1
"""How long changes are collected, so that a busy session costs few writes.

A kill loses no more than that of pins; money has a journal of its own.
"""
LATER_S = 1.0
"""How long what an action decided waits for what it leaves, beside other gateways.

Another gateway that serves the session meanwhile decides without it, and both are kept.
"""
MAX_BATCH = 256
RETRY_AFTER_S = 1.0

_log = get_logger("gateway")


class SessionWriter:
    """Owns the queue between the memory and the store."""

    def __init__(
        self, store: SessionStore, clock: Clock, *, is_shared: bool, capacity: int
    ) -> None:
        self._store = store
        self._clock = clock
        self._is_shared = is_shared
        self._is_store_up = True
        self._closing = asyncio.Event()
        self._dirty: asyncio.Queue[Entry] = asyncio.Queue(2 * capacity)
        self._later: dict[int, tuple[Entry, asyncio.TimerHandle]] = {}

    def loops(self) -> list[Coroutine[None, None, None]]:
        """Return what writes for ever."""
        count = SHARED_WRITERS if self._is_shared else 1
        return [self._write_for_ever() for _ in range(count)]

    async def flush(self) -> None:
        """Return when all that is pending is stored; nothing waits for company any more."""
        self._closing.set()
        for entry, _ in tuple(self._later.values()):
            self.queue(entry)
        await self._dirty.join()

    def queue(self, entry: Entry) -> None:
        """Store a session as soon as a writer is free."""
        if (waiting := self._later.pop(id(entry), None)) is not None:
            waiting[1].cancel()
        elif entry.is_waiting:
            return
        entry.is_waiting = False
        with contextlib.suppress(asyncio.QueueFull):
            self._dirty.put_nowait(entry)
            entry.is_waiting = True
            entry.idle.clear()

    def queue_later(self, entry: Entry) -> None:
        """Store a session after a while, or with the change that comes before that."""
        if entry.is_waiting:
            return
        if not self._is_shared:
            self.queue(entry)  # alone the writer itself collects
            return
        timer = asyncio.get_running_loop().call_later(LATER_S, self.queue, entry)
        self._later[id(entry)] = (entry, timer)
        entry.is_waiting = True
        entry.idle.clear()

    def hasten(self, entry: Entry) -> None:
        """Store now what was to be stored after a while."""
        if id(entry) in self._later:
            self.queue(entry)

    def note_fault(self, error: RouterError) -> None:
        """Tell once that the store does not answer."""
        if self._is_store_up:
            _log.warning("session_store_down", reason=error.reason.value)
        self._is_store_up = False

    async def _write_for_ever(self) -> None:
        while True:
            batch = [await self._dirty.get()]
            if self._is_shared or not await self._write_together(batch):
                for entry in batch:
                    await self._write(entry)
            for entry in batch:
                self._end(entry)

    def _end(self, entry: Entry) -> None:
        """Be done with a session, or store with the next ones what changed while it was stored."""
        entry.is_waiting = False
        if entry.pending:
            self.queue(entry)
        else:
            entry.idle.set()
        self._dirty.task_done()

    async def _write_together(self, batch: list[Entry]) -> bool:
        """Store many sessions in one go, those of ``batch`` and those that come to it for a while.

        False: that failed, and each is to be stored by itself.
        """
        await self._gather()
        while not self._dirty.empty() and len(batch) < MAX_BATCH:
            batch.append(self._dirty.get_nowait())
        changed = _changed(batch)
        if not changed:
            return True
        try:
            stored = await self._store.save_all([session for _, _, session in changed])
        except RouterError as error:
            self.note_fault(error)
            return False
        if stored is None:
            return False
        for (entry, change_count, _), session in zip(changed, stored, strict=True):
            entry.mark_stored(session, change_count)
        return True

    async def _gather(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GATHER_S):
                await self._closing.wait()

    async def _write(self, entry: Entry) -> None:
        while entry.pending:
            try:
                await self._write_once(entry)
                self._is_store_up = True
            except RouterError as error:
                self.note_fault(error)
                await self._clock.sleep(RETRY_AFTER_S)

    async def _write_once(self, entry: Entry) -> None:
        """Store what is pending now; over another version than expected, read that one first."""
        change_count = entry.change_count
        wanted = entry.unstored()
        saved = entry.stored if wanted == entry.stored else await self._store.save(wanted)
        if saved is not None:
            entry.mark_stored(saved, change_count)
            return
        address = entry.stored.address
        entry.rebase(await self._store.load(address) or Session(address))


def _changed(batch: list[Entry]) -> list[tuple[Entry, int, Session]]:
    """Return what is to be stored, and how many changes it holds; done with what is as it was."""
    changed: list[tuple[Entry, int, Session]] = []
    for entry in batch:
        session = entry.unstored()
        if session == entry.stored:
            entry.mark_stored(session, entry.change_count)
        else:
            changed.append((entry, entry.change_count, session))
    return changed
