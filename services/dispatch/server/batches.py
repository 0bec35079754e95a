"""Puts parts of an answer that are ready together into one message. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.dispatch.model.outcome import Head

if TYPE_CHECKING:
    from services.dispatch.model.outcome import Part

MOST_BYTES = 65_536
"""Bytes of a whole answer from which on its parts go out as they come."""


class Batches:
    """Gives out the same parts in the same order: a head with what follows it without a wait.

    That is the first chunk of a stream, and all of a short answer that is no stream.
    """

    def __init__(self) -> None:
        self._held: list[Part] = []
        self._left = 0

    def add(self, part: Part) -> tuple[Part, ...]:
        """Return what goes out now that there is one part more; empty: it waits for company."""
        if isinstance(part, Head):
            self._held = [part]
            self._left = MOST_BYTES if part.body_bytes is not None else 0
            return ()
        if not self._held:
            return (part,)
        self._held.append(part)
        if isinstance(part, bytes):
            self._left -= len(part)
            if self._left > 0:
                return ()
        return self.rest()

    def rest(self) -> tuple[Part, ...]:
        """Return what still waits, now that nothing follows."""
        held, self._held = self._held, []
        return tuple(held)
