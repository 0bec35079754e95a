"""Sessions as actions see them: in memory at once, in the store a moment later.

An action changes a session by a *transition*, a pure function from one value to the next. It is
applied in memory before the answer's last frame goes out; a writer stores the result behind it. Was
another version stored meanwhile (by another gateway), the pending transitions are applied to that
one, so nothing is lost and nothing waits for a lock.

Alone on its store a gateway reads only what its memory has let go of, which it knows by a mark: a
session that is new is known to be. Beside others it reads once per action. A store that is late or
down costs at most :data:`PATIENCE_S`: the action goes on with what is in memory, else with an empty
session whose history counts as unknown.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.sessions.entry import Entry
from gateway.sessions.marks import Marks
from gateway.sessions.model import Session
from gateway.sessions.writing import GATHER_S, SessionWriter
from services.domain.errors import RouterError
from services.runtime.background import in_background

if TYPE_CHECKING:
    from gateway.sessions.entry import Transition
    from gateway.sessions.model import Address
    from gateway.sessions.ports import Place, SessionStore
    from services.runtime.clock import Clock

CAPACITY = 4096
TAKEN_UP_AT_START = 1024
"""Sessions read at the start of a gateway that is alone; a third of a second at most."""
MARKED_AT_START = 100_000
"""Most stored sessions with which new ones are known to be new; with more, they are read."""

PATIENCE_S = 0.020
"""Longest wait of an action for the store, each way."""
CLOSE_WITHIN_S = 5.0
SWEEP_EVERY_S = 3600.0
SWEEP_WITHIN_S = 30.0
KEPT_AFTER_END_S = 24 * 3600.0


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
        self._entries: OrderedDict[Place, Entry] = OrderedDict()
        self._marks = Marks()
        self._is_all_marked = False
        """Whether what is stored is either in memory or marked."""
        self._writer = SessionWriter(store, clock, is_shared=is_shared, capacity=capacity)
        self._reads: dict[Place, asyncio.Task[bool]] = {}
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
            self._is_all_marked = len(kept) < limit or await self._mark_stored()
        for number, loop in enumerate((*self._writer.loops(), self._sweep_for_ever())):
            self._tasks.append(in_background(loop, f"sessions-{number}"))

    async def _mark_stored(self) -> bool:
        """Mark what is stored; returns whether that is all of it."""
        places = await self._store.places(MARKED_AT_START)
        for place in places:
            self._marks.add(place)
        return len(places) < MARKED_AT_START

    async def aclose(self) -> None:
        """Store what is pending, as far as the store answers soon, and end."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_WITHIN_S):
                await self._writer.flush()
        running = [*self._tasks, *self._reads.values()]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self._tasks.clear()

    async def recall(self, address: Address) -> Recall:
        """Return the session; an empty one where there is none."""
        place = _place(address)
        entry, is_answered = self._entries.get(place), True
        if self._is_shared or (entry is None and self._may_be_stored(place)):
            is_answered = await self._refresh(address)
            entry = self._entries.get(place)
        if entry is None:
            return Recall(Session(address), is_known=is_answered)
        self._entries.move_to_end(place)
        return Recall(entry.session)

    def _may_be_stored(self, place: Place) -> bool:
        return not self._is_all_marked or place in self._marks

    def change(self, address: Address, transition: Transition, *, is_last: bool = True) -> Session:
        """Apply a transition in memory, see to it that it is stored, and return the session.

        The transition may be applied again, to what another gateway stored meanwhile. One that is
        not the last of its action is stored a little later, at best together with the last.
        """
        entry = self._entries.get(_place(address)) or self._keep(Session(address))
        entry.apply(transition)
        self._entries.move_to_end(_place(address))
        (self._writer.queue if is_last else self._writer.queue_later)(entry)
        return entry.session

    async def settle(self, address: Address) -> None:
        """Return when the session is stored, or nobody else needs it, or the patience is over."""
        entry = self._entries.get(_place(address))
        if entry is not None and self._is_shared:
            self._writer.hasten(entry)
            await entry.stored_within(PATIENCE_S)

    async def consume(self, address: Address) -> Session | None:
        """Remove and return a session that is not over yet; of callers at once one gets it.

        None too where the store does not answer.
        """
        entry = self._entries.get(_place(address))
        if entry is not None:
            self._writer.hasten(entry)
            # Alone the writer collects for a while: what it does not have yet cannot be consumed.
            await entry.stored_within(PATIENCE_S + (0.0 if self._is_shared else GATHER_S))
            entry.pending.clear()
            self._entries.pop(_place(address), None)
        try:
            return await self._store.consume(address, self._clock.now_unix_s())
        except RouterError as error:
            self._marks.add(_place(address))
            self._writer.note_fault(error)
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
        place = _place(address)
        known = self._entries.get(place)
        try:
            found = await self._store.load(address, known.stored if known is not None else None)
        except RouterError as error:
            self._writer.note_fault(error)
            return False
        entry = self._entries.get(place)
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
            if not entry.is_waiting and entry is not newest
        )
        place = next(stored, None)
        if place is None and len(self._entries) > 2 * self._capacity:
            place = next(iter(self._entries))
        if place is not None:
            del self._entries[place]
            self._marks.add(place)

    async def _sweep_for_ever(self) -> None:
        while True:
            await self._clock.sleep(SWEEP_EVERY_S)
            with contextlib.suppress(TimeoutError, RouterError):
                async with asyncio.timeout(SWEEP_WITHIN_S):
                    await self._store.sweep(self._clock.now_unix_s() - KEPT_AFTER_END_S)


def _place(address: Address) -> Place:
    return address.key, address.role
