"""The ledger: opens accounts before attempts are made, settles them, and stores their rows.

An action is opened by one line of the journal, without SQL. However it ends, each of its attempts
becomes exactly one row: settled by dispatch's own records, from our tap when they are lost, by
estimate when this process dies. Rows reach the store in batches beside the actions; one that is
there already changes nothing.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol, TypeAlias

from gateway import metrics
from gateway.ledger.entries import Opened, Replay, Settled, line_of
from gateway.ledger.notes import Notes
from gateway.ledger.settlement import settlement_of
from gateway.ledger.ticket import Ticket
from gateway.ledger.verify import verify
from gateway.ledger.writer import Writer
from gateway.model.record import AttemptKind, Attribution, Opening
from services.domain.errors import Reason, RouterError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gateway.ledger.journal import Claimed, Journal, Segment
    from gateway.ledger.ports import LedgerStore
    from gateway.ledger.verify import Audit
    from gateway.model import Action, BindingRef, Grant
    from gateway.model.record import AttemptRecord, Bill, LedgerRow
    from services.domain.catalog import Catalog
    from services.runtime.clock import Clock

Listener: TypeAlias = "Callable[[Sequence[LedgerRow]], None]"

_log = get_logger("gateway")

MOST_WAITING_ROWS = 20_000
"""Rows that may wait for the store; over them no action is opened."""
MOST_NAME_CHARS = 128
"""Of the name of a model; that it is printable was seen when the body was read."""


class Sink(Protocol):
    """Where a ticket writes to."""

    def note(self, opening: Opening, record: AttemptRecord) -> None:
        """Keep what is known of an attempt."""
        ...

    def settle(self, opening: Opening, records: Sequence[AttemptRecord]) -> Bill | None:
        """Make the rows; returns what the serving attempt cost."""
        ...


class Book:
    """The ledger of this process."""

    def __init__(
        self,
        store: LedgerStore,
        journal: Journal,
        catalog: Catalog,
        clock: Clock,
        settled: Listener | None = None,
    ) -> None:
        self._settled = settled
        self._store = store
        self._journal = journal
        self._catalog = catalog
        self._clock = clock
        self._writer = Writer(store, journal, clock)
        self.notes = Notes(self.write)
        """What was learned of open actions and is not written yet."""

    async def start(self) -> None:
        """Open journal and store, and settle what processes that are gone left open.

        Raises:
            StartError: one of them cannot be used; the message names it and the fix.
        """
        await self._store.start()
        for claimed in await asyncio.to_thread(self._journal.start):
            self._writer.add_claimed(await asyncio.to_thread(self._recovered, claimed), claimed)
        self._writer.start()

    async def aclose(self) -> None:
        """Store what is left, as far as the store answers, and close."""
        self.notes.flush()
        await self._writer.aclose()
        self._journal.close()
        await self._store.aclose()

    def use(self, catalog: Catalog) -> None:
        """Price what is opened from now on by another catalog; open accounts keep theirs."""
        self._catalog = catalog

    def open(
        self,
        action: Action,
        binding: BindingRef,
        grant: Grant | None,
        kind: AttemptKind = AttemptKind.SERVE,
    ) -> Ticket:
        """Open the account of an action's attempts, of which ``binding`` is planned first.

        Raises:
            RouterError: STORE_UNAVAILABLE, nothing more can be recorded for now.
        """
        if self._writer.depth >= MOST_WAITING_ROWS or self._journal.is_full:
            raise _full("its store does not take rows")
        opening = self._opening(action, binding, grant, kind)
        try:
            segment = self._journal.open(line_of(Opened(opening)))
        except OSError as error:
            _log.error("ledger_journal_failed", error=error.strerror or str(error))
            raise _full("its journal cannot be written") from error
        return Ticket(opening, _Sink(self, segment, self._catalog), self._clock)

    async def page(self, after: int, limit: int) -> Sequence[tuple[int, LedgerRow]]:
        """Return stored rows with their places, those past ``after``, oldest first.

        Raises:
            RouterError: the store does not answer.
        """
        return await self._store.page(after, limit)

    async def audit(self) -> Audit:
        """Return what the stored ledger says against what it should say.

        Raises:
            RouterError: the store does not answer.
        """
        return await verify(self._store)

    def write(self, lines: bytes) -> Segment | None:
        """Write lines of open actions; None: they could not be written."""
        try:
            return self._journal.append(lines)
        except OSError as error:
            _log.error("ledger_journal_failed", error=error.strerror or str(error))
            return None

    def settle(
        self,
        opening: Opening,
        records: Sequence[AttemptRecord],
        opened_in: Segment,
        catalog: Catalog,
    ) -> Bill | None:
        """Make, write and queue the rows of an action, at the prices of ``catalog``."""
        self.notes.drop(opening.key)
        rows, bill = settlement_of(opening, records, catalog, self._clock.now_unix_s())
        segment = self.write(line_of(Settled(opening.key, rows)))
        # Rows whose line is lost keep the segment that opened them: a death would settle it anew.
        self._writer.add(rows, segment or opened_in)
        opened_in.open_actions -= 1
        for row in rows:
            _count(row)
        if self._settled is not None:
            self._settled(rows)
        return bill

    def _opening(
        self, action: Action, binding: BindingRef, grant: Grant | None, kind: AttemptKind
    ) -> Opening:
        caller = action.caller
        return Opening(
            action_id=action.id,
            kind=kind,
            installation_id=caller.installation_id,
            key_id=caller.key_id,
            client_request_id=caller.client_request_id,
            surface=action.surface.value,
            requested_model=action.features.requested_model[:MOST_NAME_CHARS],
            estimated_input_tokens=action.input_tokens,
            binding=binding,
            opened_unix_s=self._clock.now_unix_s(),
            attribution=grant.attribution if grant is not None else Attribution(),
        )

    def _recovered(self, claimed: Claimed) -> tuple[LedgerRow, ...]:
        replay = Replay()
        replay.feed(claimed.lines())
        left_open = replay.open_count
        rows = replay.finish(self._catalog, self._clock.now_unix_s())
        _log.warning(
            "ledger_recovered", left_open=left_open, rows=len(rows), bad_lines=replay.bad_lines
        )
        return rows


class _Sink:
    """Ties the ticket of one action to the segment of its opening, and to its catalog."""

    def __init__(self, book: Book, opened_in: Segment, catalog: Catalog) -> None:
        self._book = book
        self._opened_in = opened_in
        self._catalog = catalog

    def note(self, opening: Opening, record: AttemptRecord) -> None:
        self._book.notes.put(opening.key, record)

    def settle(self, opening: Opening, records: Sequence[AttemptRecord]) -> Bill | None:
        return self._book.settle(opening, records, self._opened_in, self._catalog)


def _full(why: str) -> RouterError:
    return RouterError(
        Reason.STORE_UNAVAILABLE, f"the ledger is full: {why}; try again", retry_after_s=1.0
    )


def _count(row: LedgerRow) -> None:
    metrics.LEDGER_ROWS.labels(row.outcome, row.source or "none").inc()
    if row.cost_micros is None and row.source:
        metrics.LEDGER_UNPRICED.inc()
        _log.error(
            "ledger_row_unpriced",
            action_id=row.action_id,
            attempt=row.attempt,
            model=row.model,
            provider=row.provider,
        )
