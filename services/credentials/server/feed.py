"""Changes as they happen, kept for a while so that a watcher can go on where it was."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from services.credentials.model import Credential, Snapshot, Transition
from services.domain.errors import Reason, RouterError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MAX_EVENTS = 4_096
MAX_DIGITS = 20
"""No token of ours has as many."""


@dataclass(frozen=True, slots=True)
class Removed:
    """A credential that is gone."""

    credential_id: str


Change: TypeAlias = Snapshot | Credential | Removed | Transition


@dataclass(frozen=True, slots=True)
class Event:
    """One change, its place in the order, and the tenant it concerns."""

    number: int
    installation_id: str
    change: Change | None
    """None: a sign of life."""


class Feed:
    """Orders changes; every watcher reads them at its own pace from one bounded memory."""

    def __init__(self, epoch: str) -> None:
        self._epoch = epoch
        self._events: deque[Event] = deque(maxlen=MAX_EVENTS)
        self._last = 0
        self._news = asyncio.Event()

    @property
    def last(self) -> int:
        """Number of the newest change."""
        return self._last

    def publish(self, installation_id: str, change: Change) -> None:
        """Append a change and wake the watchers."""
        self._last += 1
        self._events.append(Event(self._last, installation_id, change))
        news, self._news = self._news, asyncio.Event()
        news.set()

    def token(self, number: int) -> str:
        """Return the token from which to go on after a change."""
        return f"{self._epoch}.{number}"

    def position(self, token: str) -> int:
        """Return the number of the last change that a watcher saw.

        Raises:
            RouterError: RESUME_TOKEN_EXPIRED.
        """
        epoch, _, number = token.partition(".")
        is_told = number.isascii() and number.isdigit() and len(number) < MAX_DIGITS
        if epoch != self._epoch or not is_told or int(number) > self._last:
            raise _expired()
        return int(number)

    async def after(self, number: int, sign_of_life_s: float) -> AsyncIterator[Event]:
        """Yield every change after ``number``, and a sign of life in each stretch of silence.

        Raises:
            RouterError: RESUME_TOKEN_EXPIRED when a watcher is so late that changes are forgotten.
        """
        while True:
            if self._events and self._events[0].number > number + 1 and number < self._last:
                raise _expired()
            fresh = [event for event in self._events if event.number > number]
            for event in fresh:
                yield event
                number = event.number
            if number == self._last:
                try:
                    async with asyncio.timeout(sign_of_life_s):
                        await self._news.wait()
                except TimeoutError:
                    yield Event(number, "", None)


def _expired() -> RouterError:
    return RouterError(Reason.RESUME_TOKEN_EXPIRED, "changes since then are forgotten: start anew")
