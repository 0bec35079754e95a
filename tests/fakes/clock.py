"""A clock for unit tests that moves only when it is told to."""

from __future__ import annotations

import asyncio
import heapq
import itertools

SETTLE_ROUNDS = 20
"""Turns of the loop given to tasks after each step; more than any chain of awaits we test."""


class FakeClock:
    """Wall and monotonic time that start apart and advance together.

    Sleepers wake in order of their deadlines, each seeing its own deadline as the time.
    """

    def __init__(self, unix_s: float = 1_750_000_000.0, monotonic_s: float = 1_000.0) -> None:
        self._unix_s = unix_s
        self._monotonic_s = monotonic_s
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now_unix_s(self) -> float:
        """Return wall time in seconds since the epoch."""
        return self._unix_s

    def monotonic_s(self) -> float:
        """Return monotonic seconds."""
        return self._monotonic_s

    @property
    def sleeper_count(self) -> int:
        """Return how many tasks sleep."""
        return sum(not waiter.done() for _, _, waiter in self._sleepers)

    async def sleep(self, seconds: float) -> None:
        """Return when the clock was advanced by `seconds`; at once for none."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        waiter = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._monotonic_s + seconds, next(self._order), waiter))
        await waiter

    def set_now_unix_s(self, unix_s: float) -> None:
        """Step the wall clock alone, as a time daemon does."""
        self._unix_s = unix_s

    def advance(self, seconds: float) -> None:
        """Move both times on at once and wake every sleeper that is due."""
        end = self._monotonic_s + seconds
        self._move_to(end)
        while self._sleepers and self._sleepers[0][0] <= end:
            _wake(heapq.heappop(self._sleepers)[2])

    async def pass_time(self, seconds: float) -> None:
        """Move on from deadline to deadline and let the tasks run at each of them."""
        end = self._monotonic_s + seconds
        await _settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            deadline, _, waiter = heapq.heappop(self._sleepers)
            if not waiter.done():
                self._move_to(deadline)
                _wake(waiter)
                await _settle()
        self._move_to(end)
        await _settle()

    def _move_to(self, monotonic_s: float) -> None:
        self._unix_s += monotonic_s - self._monotonic_s
        self._monotonic_s = monotonic_s


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


async def _settle() -> None:
    for _ in range(SETTLE_ROUNDS):
        await asyncio.sleep(0)
