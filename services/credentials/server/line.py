"""Those who wait for room on busy credentials, first come first served."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Room: TypeAlias = tuple[str, str]
"""What slots are taken from: a credential, and a canonical model where each has a limit of its own;
empty: the model does not matter."""
NOBODY: frozenset[str] = frozenset()


class Place:
    """One caller's place; it stays the same however often the caller looks in vain."""

    def __init__(self, line: Line, number: int) -> None:
        self._line = line
        self.number = number
        self.wanted: frozenset[Room] = frozenset()
        self._alarm: asyncio.Future[None] | None = None
        self._news: str = ""
        self._is_called = False

    async def wait(self, wanted: frozenset[Room], wait_s: float) -> None:
        """Return when a slot of a wanted credential was freed, when who came before has left, or
        after ``wait_s``.

        What this place was woken for before and could not use goes to the next one.
        """
        self.pass_on()
        self.wanted = wanted
        if self._is_called:
            self._is_called = False
            return
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
        return alarm is not None and not alarm.done() and self.wants(credential_id)

    def wants(self, credential_id: str) -> bool:
        """Return whether a slot of a credential is what it came for."""
        return any(credential_id == one for one, _ in self.wanted)

    def wake(self, credential_id: str) -> None:
        """Let it look again: a slot of a credential was freed."""
        self._news = credential_id
        self.call()

    def call(self) -> None:
        """Let it look again, at once or as soon as it has looked."""
        if self._alarm is None or self._alarm.done():
            self._is_called = True
        else:
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
            self._line.wake(news, after=self.number)


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
            self._call_first(place.wanted)

    def ahead(self, place: Place | None, model_id: str) -> frozenset[str]:
        """Return the credentials whose room for a model is for those who came before; None: before
        one that comes now."""
        if not self._places:
            return NOBODY
        before = itertools.takewhile(lambda other: other is not place, self._places.values())
        rooms = (room for other in before for room in other.wanted)
        return frozenset(one for one, narrowed in rooms if narrowed in ("", model_id))

    def call_all(self, credential_id: str) -> None:
        """Let all that wait for a credential look again: it is not what it was."""
        for place in self._places.values():
            if place.wants(credential_id):
                place.call()

    def wake(self, credential_id: str, after: int = 0) -> None:
        """Let the first one that waits for a credential look again."""
        for number, place in self._places.items():
            if number > after and place.is_waiting_for(credential_id):
                place.wake(credential_id)
                return

    def _call_first(self, rooms: frozenset[Room]) -> None:
        """Let the first ones that wait for each of some rooms look again."""
        for place in self._places.values():
            if rooms & place.wanted:
                place.call()
                rooms -= place.wanted
