"""Tells a stream that drips from one that flows.

Only time spent waiting for the upstream counts, so that a client that reads slowly makes no stream
slow. Two windows in a row, each with some output and less than the floor, are too slow; a window
without any is not productive, and begins anew: that is a stall's to judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.dispatch.model.limits import Pace

SLOW_WINDOWS = 2
"""In a row."""


class Throughput:
    """The pace of one stream so far; mutable, owned by its reader."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._waited_s = 0.0
        self._window_end_s = pace.warm_up_s + pace.window_s
        self._events = 0
        self._slow = 0

    @property
    def is_slow(self) -> bool:
        """Whether the last windows were all productive and below the floor."""
        return self._slow >= SLOW_WINDOWS

    def waited(self, seconds: float) -> None:
        """Let time pass; windows that end thereby are judged."""
        self._waited_s += seconds
        while self._waited_s >= self._window_end_s and not self.is_slow:
            is_productive_and_slow = 0 < self._events < self._pace.floor
            self._slow = self._slow + 1 if is_productive_and_slow else 0
            self._events = 0
            self._window_end_s += self._pace.window_s

    def saw(self, events: int) -> None:
        """Count output of now."""
        if self._waited_s >= self._pace.warm_up_s:
            self._events += events
