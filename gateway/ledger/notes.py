"""What was learned of open actions since the loop last turned, on its way to the journal.

One write takes all of it. What an action learned in the turn in which it settles is never written:
its last line holds everything.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias

from gateway.ledger.entries import Noted, line_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.model.record import AttemptRecord

Key: TypeAlias = "tuple[str, str]"
"""An action and what its attempts are for."""


class Notes:
    """Gathers records by action; of one attempt the newest is kept."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._waiting: dict[Key, dict[int, AttemptRecord]] = {}

    def put(self, key: Key, record: AttemptRecord) -> None:
        """Write a record when the loop turns, unless its action settles before."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self.flush)
        self._waiting.setdefault(key, {})[record.number] = record

    def drop(self, key: Key) -> None:
        """Forget what waits of an action that settles."""
        self._waiting.pop(key, None)

    def flush(self) -> None:
        """Write what waits."""
        waiting, self._waiting = self._waiting, {}
        lines = [
            line_of(Noted(key, record))
            for key, records in waiting.items()
            for record in records.values()
        ]
        if lines:
            self._write(b"".join(lines))
