"""Clocks: wall time for what is compared with a header, monotonic time for durations."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Time as an argument, so that tests can own it."""

    def now_unix_s(self) -> float:
        """Return wall time in seconds since 1970."""
        ...

    def monotonic_s(self) -> float:
        """Return a time in seconds that never goes back; only differences mean something."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after ``seconds``; ends early with CancelledError."""
        ...


class SystemClock:
    """The machine's own clock; an action asks it fifty times."""

    now_unix_s = staticmethod(time.time)
    monotonic_s = staticmethod(time.monotonic)

    async def sleep(self, seconds: float) -> None:
        """Sleep in the running loop."""
        await asyncio.sleep(seconds)
