"""Recomputes the ledger from itself: each row from its tokens, each counter from its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.ledger.settlement import recomputed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gateway.ledger.ports import LedgerStore
    from gateway.model.record import LedgerRow


@dataclass(frozen=True, slots=True)
class Drift:
    """A value that is not what it follows from."""

    what: str
    """``row`` or ``key``."""
    id: str
    field: str
    stored: int | None
    expected: int | None


@dataclass(frozen=True, slots=True)
class Audit:
    """What was looked at, and all that is wrong with it."""

    row_count: int
    charged_micros: int
    drifts: tuple[Drift, ...]


async def verify(store: LedgerStore) -> Audit:
    """Return what the ledger says against what it should say.

    Raises:
        RouterError: the store does not answer.
    """
    async with store.snapshot() as snapshot:
        drifts: list[Drift] = []
        count, charged = 0, 0
        sums: dict[str, int] = {}
        rows: AsyncIterator[LedgerRow] = snapshot.rows()
        async for row in rows:
            count += 1
            charged += row.charged_micros
            sums[row.key_id] = sums.get(row.key_id, 0) + row.charged_micros
            drifts.extend(_drifts_of(row))
        spent = await snapshot.spent()
    for key_id in sorted(sums.keys() | spent.keys()):
        stored, expected = spent.get(key_id, 0), sums.get(key_id, 0)
        if stored != expected:
            drifts.append(Drift("key", key_id, "spent_micros", stored, expected))
    return Audit(count, charged, tuple(drifts))


def _drifts_of(row: LedgerRow) -> list[Drift]:
    cost, charged = recomputed(row)
    name = f"{row.request_id}/{row.attempt}"
    pairs = (
        ("cost_micros", row.cost_micros, cost),
        ("charged_micros", row.charged_micros, charged),
    )
    return [
        Drift("row", name, field, stored, expected)
        for field, stored, expected in pairs
        if stored != expected
    ]
