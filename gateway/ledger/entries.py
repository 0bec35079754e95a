"""Entries of the journal and their lines: JSON, one entry a line. Pure.

Three kinds: an action is opened, something was learned of one of its attempts, it is settled. An
entry names its action, never a prompt or a secret.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Annotated, Literal

import orjson
from pydantic import Field, TypeAdapter, ValidationError

from gateway.ledger.settlement import rows_of, unknown_attempt
from gateway.model.record import AttemptRecord, LedgerRow, Opening

if TYPE_CHECKING:
    from services.domain.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Opened:
    """Attempts of an action may be made from now on."""

    opening: Opening
    t: Literal["opened"] = "opened"


@dataclass(frozen=True, slots=True)
class Noted:
    """An attempt is known to be like this; the newest entry of its number holds."""

    key: tuple[str, str]
    record: AttemptRecord
    t: Literal["noted"] = "noted"


@dataclass(frozen=True, slots=True)
class Settled:
    """An action is over; these are all its rows."""

    key: tuple[str, str]
    rows: tuple[LedgerRow, ...]
    t: Literal["settled"] = "settled"


Entry = Opened | Noted | Settled


def line_of(entry: Entry) -> bytes:
    """Return an entry as a line."""
    return orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE)


@dataclass(slots=True)
class Replay:
    """What the lines of a journal tell, in order; lines that cannot be read are counted."""

    rows: list[LedgerRow] = field(default_factory=list)
    bad_lines: int = 0
    _open: dict[tuple[str, str], tuple[Opening, dict[int, AttemptRecord]]] = field(
        default_factory=dict
    )

    def feed(self, lines: Iterable[bytes]) -> None:
        """Take note of lines; one that a death cut short is no entry."""
        for entry in self._entries(lines):
            match entry:
                case Opened(opening=opening):
                    self._open[opening.key] = (opening, {})
                case Noted(key=key, record=record) if key in self._open:
                    self._open[key][1][record.number] = record
                case Settled(key=key, rows=rows):
                    self._open.pop(key, None)
                    self.rows.extend(rows)
                case _:
                    pass

    def finish(self, catalog: Catalog, now_unix_s: float) -> tuple[LedgerRow, ...]:
        """Return all rows; what is still open settles as it was last known."""
        for opening, records in self._open.values():
            known = records.values() or (unknown_attempt(opening),)
            self.rows.extend(rows_of(opening, known, catalog, now_unix_s))
        self._open.clear()
        return tuple(self.rows)

    @property
    def open_count(self) -> int:
        """Number of actions without an end."""
        return len(self._open)

    def _entries(self, lines: Iterable[bytes]) -> Iterator[Entry]:
        for line in lines:
            try:
                yield _reader().validate_json(line)
            except ValidationError:
                self.bad_lines += 1


@cache
def _reader() -> TypeAdapter[Entry]:
    return TypeAdapter(Annotated[Entry, Field(discriminator="t")])
