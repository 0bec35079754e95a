"""What keeps the account of money, as protocols: accounts of actions, the ledger and its store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from gateway.ledger.verify import Audit
    from gateway.model import Action, BindingRef, Grant, Part
    from gateway.model.record import AttemptKind, AttemptRecord, Bill, LedgerRow
    from services.domain.wire.model import Usage


class RowsRefusedError(Exception):
    """The store answered, and will never take these rows as they are."""


class UsageTap(Protocol):
    """Watches a stream on its way to the client."""

    @property
    def usage(self) -> Usage | None:
        """Usage that the upstream reported so far."""
        ...

    @property
    def output_chars(self) -> int:
        """Characters of output that passed so far."""
        ...


class Account(Protocol):
    """The account of one action's attempts; settled exactly once."""

    tap: UsageTap | None
    """What watches the stream, once there is one."""

    @property
    def bill(self) -> Bill | None:
        """What the serving attempt cost, once it is settled and its price is known."""
        ...

    def saw(self, part: Part) -> None:
        """Take note of one part of dispatch's answer; the last one settles."""
        ...

    def broke(self) -> None:
        """Take note that the answer ended without its end."""
        ...

    def settle(self, records: Iterable[AttemptRecord]) -> None:
        """Settle with the records of a service that made the attempts."""
        ...

    def close(self) -> None:
        """Settle what nobody told the end of; nothing happens when it is settled."""
        ...


class LedgerPages(Protocol):
    """The ledger as it is read."""

    async def page(self, after: int, limit: int) -> Sequence[tuple[int, LedgerRow]]:
        """Return rows with their places in the ledger, those past ``after``, oldest first.

        Raises:
            RouterError: the store does not answer.
        """
        ...


class Ledger(LedgerPages, Protocol):
    """The account of money: one row for every attempt."""

    async def start(self) -> None:
        """Open it, and settle what processes that are gone left open.

        Raises:
            StartError: it cannot be used; the message names it and the fix.
        """
        ...

    async def aclose(self) -> None:
        """Store what is left and close."""
        ...

    async def audit(self) -> Audit:
        """Return what the ledger says against what it should say.

        Raises:
            RouterError: the store does not answer.
        """
        ...

    def open(
        self, action: Action, binding: BindingRef, grant: Grant | None, kind: AttemptKind = ...
    ) -> Account:
        """Open the account of attempts about to be made, ``binding`` first.

        Raises:
            RouterError: nothing more can be recorded for now; then no attempt may be made.
        """
        ...


class LedgerSnapshot(Protocol):
    """The ledger at one instant."""

    def rows(self) -> AsyncIterator[LedgerRow]:
        """Yield all rows, oldest first."""
        ...

    async def spent(self) -> Mapping[str, int]:
        """Return the counter of each key, in micro-USD."""
        ...


class LedgerStore(LedgerPages, Protocol):
    """Rows of the ledger, and what each key has spent."""

    async def start(self) -> None:
        """Open the store and see that its tables are those of this program."""
        ...

    async def aclose(self) -> None:
        """Close the store."""
        ...

    async def add(self, rows: Sequence[LedgerRow]) -> int:
        """Store rows and move the counters of their keys in one transaction.

        Returns how many were new; one that is there already changes nothing.

        Raises:
            RouterError: the store does not answer; nothing was stored.
        """
        ...

    async def spent(self, key_id: str) -> int:
        """Return what a key was charged, in micro-USD."""
        ...

    def snapshot(self) -> AbstractAsyncContextManager[LedgerSnapshot]:
        """Return the whole ledger at one instant."""
        ...
