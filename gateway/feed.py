"""Tells readers of decisions, attempts and results as they happen; nothing waits for a reader.

Each reader has a bounded queue; what does not fit is counted and the count told with the next
event. Without readers nothing is kept.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gateway.explaining.costs import expected_costs, saved_micros
from gateway.model.explained import Began, Completed, Explained, Lost, Shadowed
from gateway.model.record import AttemptKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gateway.model import Action, AttemptFailed, AttemptStarted, Decision
    from gateway.model.explained import Event, ShadowPick
    from gateway.model.record import LedgerRow
    from services.domain.catalog import Catalog
    from services.runtime.clock import Clock

MOST_WAITING = 256
"""Events that wait for one reader."""
MOST_READERS = 64


@dataclass(frozen=True, slots=True)
class Interest:
    """What a reader follows; empty parts: everything."""

    installation_id: str = ""
    session_key: bytes = b""
    action_id: str = ""
    wants_attempts: bool = False


@dataclass(frozen=True, slots=True)
class Missed:
    """An event with the number of those that its reader missed before it."""

    event: Event
    missed_count: int = 0


@dataclass(slots=True)
class _Running:
    """An action between its decision and its end."""

    action: Action
    catalog: Catalog
    rows: list[LedgerRow] = field(default_factory=list)
    told: set[int] = field(default_factory=set)
    """Attempts whose failure was told as it happened."""


class Reader:
    """One reader's queue."""

    def __init__(self, interest: Interest) -> None:
        self.interest = interest
        self._waiting: asyncio.Queue[Missed] = asyncio.Queue(MOST_WAITING)
        self._missed = 0

    async def read(self) -> Missed:
        """Return the next event."""
        return await self._waiting.get()

    def offer(self, event: Event, action_id: str, installation_id: str, session: bytes) -> None:
        """Queue an event that the reader follows, or count it as missed."""
        wanted = self.interest
        is_followed = (
            wanted.installation_id in ("", installation_id)
            and wanted.action_id in ("", action_id)
            and wanted.session_key in (b"", session)
        )
        if not is_followed:
            return
        try:
            self._waiting.put_nowait(Missed(event, self._missed))
            self._missed = 0
        except asyncio.QueueFull:
            self._missed += 1


class Feed:
    """Passes what happens to actions on to whoever reads."""

    def __init__(self, catalog: Catalog, clock: Clock, strategy: str) -> None:
        self._catalog = catalog
        self._clock = clock
        self._strategy = strategy
        self._readers: set[Reader] = set()
        self._running: dict[str, _Running] = {}

    def use(self, catalog: Catalog) -> None:
        """Price what is decided from now on by another catalog."""
        self._catalog = catalog

    @property
    def is_full(self) -> bool:
        """Whether no reader more is taken."""
        return len(self._readers) >= MOST_READERS

    @contextlib.contextmanager
    def reading(self, interest: Interest) -> Iterator[Reader]:
        """Give a reader that gets events from now on until the block ends."""
        reader = Reader(interest)
        self._readers.add(reader)
        try:
            yield reader
        finally:
            self._readers.discard(reader)

    def decided(self, action: Action, decision: Decision) -> None:
        """Tell of a decision."""
        if not self._readers:
            return
        self._running[action.id] = _Running(action, self._catalog)
        explained = Explained(
            action=action,
            decision=decision,
            strategy=self._strategy,
            decide_unix_s=self._clock.now_unix_s(),
            costs=expected_costs(action, decision, self._catalog),
        )
        self._tell(explained, action)

    def shadowed(self, action: Action, pick: ShadowPick) -> None:
        """Tell what a shadow strategy would have picked."""
        self._tell(Shadowed(action.id, action.caller.installation_id, pick), action)

    def began(self, action: Action, started: AttemptStarted) -> None:
        """Tell that an attempt begins."""
        if action.id in self._running:
            installation_id = action.caller.installation_id
            self._tell_attempt(Began(action.id, installation_id, started), action)

    def missed(self, action: Action, failed: AttemptFailed) -> None:
        """Tell that an attempt failed, or was passed over."""
        running = self._running.get(action.id)
        if running is None or failed.attempt is None:
            return
        running.told.add(failed.attempt.number)
        self._tell_attempt(Lost(action.id, action.caller.installation_id, failed), action)

    def settled(self, rows: Sequence[LedgerRow]) -> None:
        """Tell of attempts that are settled, but for those whose end was told."""
        for row in rows:
            running = self._running.get(row.action_id)
            if running is None:
                continue
            running.rows.append(row)
            if row.kind != AttemptKind.SERVE or row.attempt not in running.told:
                self._tell_attempt(row, running.action)

    def completed(self, action: Action, completed: Completed) -> None:
        """Tell of the end of an action; its ledger rows are added here."""
        running = self._running.pop(action.id, None)
        if not self._readers:
            return
        rows = tuple(running.rows) if running is not None else ()
        told = replace(completed, rows=rows)
        catalog = running.catalog if running is not None else self._catalog
        saved = saved_micros(told, action.features.requested_model, catalog)
        self._tell(replace(told, saved_micros=saved), action)

    def _tell_attempt(self, event: Event, action: Action) -> None:
        self._tell(event, action, lambda interest: interest.wants_attempts)

    def _tell(
        self,
        event: Event,
        action: Action,
        is_wanted: Callable[[Interest], bool] = lambda _: True,
    ) -> None:
        caller = action.caller
        for reader in self._readers:
            if is_wanted(reader.interest):
                reader.offer(event, action.id, caller.installation_id, caller.session_key)
