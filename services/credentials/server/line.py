"""Those who wait for room on busy credentials, first come first served."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Place:
    """One caller's place; it stays the same however often the caller looks in vain."""

    def __init__(self, line: Line, number: int) -> None:
        self._line = line
        self._number = number
        self._wanted: frozenset[str] = frozenset()
        self._alarm: asyncio.Future[None] | None = None
        self._news: str = ""

    async def wait(self, wanted: frozenset[str], wait_s: float) -> None:
        """Return when a slot of a wanted credential was freed, or after ``wait_s``.

        What this place was woken for before and could not use goes to the next one.
        """
        self.pass_on()
        self._wanted = wanted
        self._alarm = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(wait_s):
                await self._alarm
        except TimeoutError:
            return
        finally:
            self._alarm = None

    def is_waiting_for(self, credential_id: str) -> bool:
        """Return whether it waits for a credential and nobody has woken it yet."""
        alarm = self._alarm
        return alarm is not None and not alarm.done() and credential_id in self._wanted

    def wake(self, credential_id: str) -> None:
        """Let it look again: a slot of a credential was freed."""
        self._news = credential_id
        if self._alarm is not None:
            self._alarm.set_result(None)

    def use(self, credential_id: str) -> None:
        """Note what it took; where it was woken for another one, that goes to the next one."""
        if self._news == credential_id:
            self._news = ""
        self.pass_on()

    def pass_on(self) -> None:
        """Let the next one look at what this one was woken for and did not take."""
        news, self._news = self._news, ""
        if news:
            self._line.wake(news, after=self._number)


class Line:
    """Wakes whoever came first among those who wait for a credential."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._places: dict[int, Place] = {}

    @contextlib.contextmanager
    def place(self) -> Iterator[Place]:
        """Give a place at the end; who leaves it unserved passes on what it was woken for."""
        number = next(self._numbers)
        place = self._places[number] = Place(self, number)
        try:
            yield place
        finally:
            del self._places[number]
            place.pass_on()

    def wake(self, credential_id: str, after: int = 0) -> None:
        """Let the first one that waits for a credential look again."""
        for number, place in self._places.items():
            if number > after and place.is_waiting_for(credential_id):
                place.wake(credential_id)
                return
