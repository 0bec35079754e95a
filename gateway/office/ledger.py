"""The ledger as operators read it: row by row, and audited as a whole."""

from __future__ import annotations

import base64
import binascii
import dataclasses
from typing import TYPE_CHECKING

from gateway.office.model import LONG_TIMEOUT_S, Operation
from services.domain.errors import InvalidRequestError

if TYPE_CHECKING:
    from gateway.model.record import LedgerRow
    from gateway.office.model import Document, Order
    from gateway.office.ports import Books

DEFAULT_ROWS = 100
MOST_ROWS = 1_000


class LedgerDesk:
    """Reads one ledger."""

    def __init__(self, books: Books) -> None:
        self._books = books

    @property
    def operations(self) -> tuple[Operation, ...]:
        """What can be asked."""
        return (
            Operation("GET", "ledger", self.page, query=frozenset({"cursor", "limit"})),
            Operation("GET", "ledger/audit", self.audit, timeout_s=LONG_TIMEOUT_S),
        )

    async def page(self, order: Order) -> Document:
        """Return rows in the order in which they were stored, and where the next ones begin.

        ``next_cursor`` is null after the last row; the cursor of the last page can be asked again
        for rows that were stored since.
        """
        after = place_of(order.query.get("cursor", ""))
        limit = _limit(order.query.get("limit", ""))
        found = await self._books.page(after, limit)
        more = cursor_of(found[-1][0]) if len(found) == limit else None
        return {"entries": [entry_of(row) for _, row in found], "next_cursor": more}

    async def audit(self, order: Order) -> Document:
        """Return what every row and counter should be where it is something else."""
        return dataclasses.asdict(await self._books.audit())


def entry_of(row: LedgerRow) -> Document:
    """Return a row as operators read it."""
    entry = dataclasses.asdict(row)
    written = row.cache_write_tokens
    short = None if written is None else written - row.cache_write_1h_tokens
    return {"request_id": row.request_id, **entry, "cache_write_5m_tokens": short}


def cursor_of(place: int) -> str:
    """Return a place in the ledger as a text that clients hand back."""
    return base64.urlsafe_b64encode(str(place).encode()).decode().rstrip("=")


def place_of(cursor: str) -> int:
    """Return the place of a cursor; empty: the beginning.

    Raises:
        InvalidRequestError: it is none of ours.
    """
    if not cursor:
        return 0
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        place = int(text.decode("ascii"))
    except (binascii.Error, ValueError):
        place = -1
    if not 0 <= place < 2**63:
        raise InvalidRequestError.of("cursor", "take it from next_cursor, or leave it out")
    return place


def _limit(text: str) -> int:
    if not text:
        return DEFAULT_ROWS
    if not (text.isascii() and text.isdigit() and len(text) < 9 and int(text) > 0):
        raise InvalidRequestError.of("limit", f"a number from 1 to {MOST_ROWS}")
    return min(int(text), MOST_ROWS)
