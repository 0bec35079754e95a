"""Sessions as actions see them: in memory at once, in the store a moment later.

An action changes a session by a *transition*, a pure function from one value to the next. It is
applied in memory before the answer's last frame goes out; a writer stores the result behind it. Was
another version stored meanwhile (by another gateway), the pending transitions are applied to that
one, so nothing is lost and nothing waits for a lock.

Alone on its store a gateway reads only what its memory has let go of. Beside others it reads once
per action. A store that is late or down costs at most :data:`PATIENCE_S`: the action goes on with
what is in memory, else with an empty session whose history counts as unknown.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gateway.sessions.entry import Entry
from gateway.sessions.model import Session
from services.domain.errors import RouterError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from gateway.sessions.entry import Transition
    from gateway.sessions.model import Address
    from gateway.sessions.ports import SessionStore
    from services.runtime.clock import Clock

CAPACITY = 4096
TAKEN_UP_AT_START = 1024
"""Sessions read at the start of a gateway that is alone; a third of a second at most."""

PATIENCE_S = 0.020
"""Longest wait of an action for the store, each way."""
SHARED_WRITERS = 4
"""Writers beside other gateways; alone there is one, since SQLite takes one at a time."""
GATHER_S = 0.1
"""How long a gateway alone on its store collects changes, so that a busy session costs few writes.

A kill loses no more than that of pins; money has a journal of its own.
"""
MAX_BATCH = 256
RETRY_AFTER_S = 1.0
CLOSE_WITHIN_S = 5.0
SWEEP_EVERY_S = 3600.0
SWEEP_WITHIN_S = 30.0
KEPT_AFTER_END_S = 24 * 3600.0

_log = get_logger("gateway")


@dataclass(frozen=True, slots=True)
class Recall:
    """A session as it was found."""

    session: Session
    is_known: bool = True
    """Whether its history is known: false when the store did not answer in time."""


class Sessions:
    """All sessions of one gateway."""

    def __init__(
        self,
        store: SessionStore,
        clock: Clock,
        *,
        is_shared: bool,
        capacity: int = CAPACITY,
    ) -> None:
        self._store = store
        self._clock = clock
        self._is_shared = is_shared
        self._capacity = capacity
        self._entries: OrderedDict[tuple[bytes, str], Entry] = OrderedDict()
        self._is_complete = False
        self._is_store_up = True
        self._closing = asyncio.Event()
        self._dirty: asyncio.Queue[Entry] = asyncio.Queue(2 * capacity)
        self._reads: dict[tuple[bytes, str], asyncio.Task[bool]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Begin to write; alone on its store, take up what lives there.

        Raises:
            RouterError: the store does not answer.
        """
        if not self._is_shared:
            oldest_unix_s = self._clock.now_unix_s() - KEPT_AFTER_END_S
            limit = min(TAKEN_UP_AT_START, self._capacity)
            kept = await self._store.recent(oldest_unix_s, limit)
            for session in reversed(kept):
                self._keep(session)
            self._is_complete = len(kept) < limit
        writers = [self._write_for_ever() for _ in range(SHARED_WRITERS if self._is_shared else 1)]
        for number, loop in enumerate((*writers, self._sweep_for_ever())):
            self._tasks.append(asyncio.create_task(loop, name=f"sessions-{number}"))

    async def aclose(self) -> None:
        """Store what is pending, as far as the store answers soon, and end."""
        self._closing.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_WITHIN_S):
                await self._dirty.join()
        running = [*self._tasks, *self._reads.values()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self._tasks.clear()

    async def recall(self, address: Address) -> Recall:
        """Return the session; an empty one where there is none."""
        entry = self._entries.get(_place(address))
        is_memory_enough = entry is not None or self._is_complete
        if not is_memory_enough or self._is_shared:
            is_answered = await self._refresh(address)
            entry = self._entries.get(_place(address))
            if entry is None:
                return Recall(Session(address), is_known=is_answered)
        if entry is None:
            return Recall(Session(address))
        self._entries.move_to_end(_place(address))
        return Recall(entry.session)

    def change(self, address: Address, transition: Transition) -> Session:
        """Apply a transition in memory, see to it that it is stored, and return the session.

        The transition may be applied again, to what another gateway stored meanwhile.
        """
        entry = self._entries.get(_place(address)) or self._keep(Session(address))
        entry.apply(transition)
        self._entries.move_to_end(_place(address))
        self._queue(entry)
        return entry.session

    async def settle(self, address: Address) -> None:
        """Return when the session is stored, or nobody else needs it, or the patience is over."""
        entry = self._entries.get(_place(address))
        if entry is not None and self._is_shared:
            await entry.stored_within(PATIENCE_S)

    async def consume(self, address: Address) -> Session | None:
        """Remove and return a session that is not over yet; of callers at once one gets it.

        None too where the store does not answer.
        """
        entry = self._entries.get(_place(address))
        if entry is not None:
            await entry.stored_within(PATIENCE_S)
            entry.pending.clear()
            self._entries.pop(_place(address), None)
        try:
            return await self._store.consume(address, self._clock.now_unix_s())
        except RouterError as error:
            self._is_complete = False
            self._note_fault(error)
            return None

    async def _refresh(self, address: Address) -> bool:
        """Read the session once for all who wait for it; returns whether the store answered."""
        place = _place(address)
        task = self._reads.get(place)
        if task is None:
            task = asyncio.create_task(self._read(address), name="sessions-read")
            self._reads[place] = task
            task.add_done_callback(lambda _: self._reads.pop(place, None))
        await asyncio.wait([task], timeout=PATIENCE_S)
        return task.done() and not task.cancelled() and task.result()

    async def _read(self, address: Address) -> bool:
        try:
            found = await self._store.load(address)
        except RouterError as error:
            self._note_fault(error)
            return False
        entry = self._entries.get(_place(address))
        if found is not None and entry is None:
            self._keep(found)
        elif found is not None and entry is not None and found.version > entry.stored.version:
            entry.rebase(found)
        return True

    def _keep(self, session: Session) -> Entry:
        entry = Entry(stored=session, session=session)
        self._entries[_place(session.address)] = entry
        if len(self._entries) > self._capacity:
            self._let_go(entry)
        return entry

    def _let_go(self, newest: Entry) -> None:
        """Drop the session that was used longest ago, of those that are stored; not the newest.

        While the store is down there may be none; then the oldest goes once twice as many are kept.
        """
        stored = (
            place
            for place, entry in self._entries.items()
            if not entry.is_queued and entry is not newest
        )
        place = next(stored, None)
        if place is None and len(self._entries) > 2 * self._capacity:
            place = next(iter(self._entries))
        if place is not None:
            del self._entries[place]
            self._is_complete = False

    def _queue(self, entry: Entry) -> None:
        if entry.is_queued:
            return
        with contextlib.suppress(asyncio.QueueFull):
            self._dirty.put_nowait(entry)
            entry.is_queued = True
            entry.idle.clear()

    async def _write_for_ever(self) -> None:
        while True:
            batch = [await self._dirty.get()]
            if not self._is_shared:
                await self._gather()
                while not self._dirty.empty() and len(batch) < MAX_BATCH:
                    batch.append(self._dirty.get_nowait())
                await self._write_together(batch)
            for entry in batch:
                await self._write(entry)
                entry.is_queued = False
                entry.idle.set()
                self._dirty.task_done()

    async def _gather(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GATHER_S):
                await self._closing.wait()

    async def _write_together(self, batch: list[Entry]) -> None:
        """Store many sessions in one go; where that fails each is stored by itself afterwards."""
        wanted = [
            (entry, entry.change_count, session)
            for entry in batch
            if (session := entry.unstored()) != entry.stored
        ]
        if not wanted:
            return
        try:
            is_stored = await self._store.save_all([session for _, _, session in wanted])
        except RouterError as error:
            self._note_fault(error)
            return
        if is_stored:
            for entry, change_count, session in wanted:
                entry.mark_stored(replace(session, version=session.version + 1), change_count)

    async def _write(self, entry: Entry) -> None:
        while entry.pending:
            try:
                await self._write_once(entry)
                self._is_store_up = True
            except RouterError as error:
                self._note_fault(error)
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

    def _note_fault(self, error: RouterError) -> None:
        if self._is_store_up:
            _log.warning("session_store_down", reason=error.reason.value)
        self._is_store_up = False

    async def _sweep_for_ever(self) -> None:
        while True:
            await self._clock.sleep(SWEEP_EVERY_S)
            with contextlib.suppress(TimeoutError, RouterError):
                async with asyncio.timeout(SWEEP_WITHIN_S):
                    await self._store.sweep(self._clock.now_unix_s() - KEPT_AFTER_END_S)


def _place(address: Address) -> tuple[bytes, str]:
    return address.key, address.role
