"""When an attempt was sent, and how long its parts took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.dispatch.model.outcome import Timing

if TYPE_CHECKING:
    from services.runtime.clock import Clock


class Stopwatch:
    """Times of one attempt; the first note of each kind counts."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._start_s = 0.0
        self._header_s: float | None = None
        self._first_output_s: float | None = None
        self.start_unix_s: float | None = None
        """Wall time of the send; None: not sent yet."""

    def start(self) -> float:
        """Note the send and return its wall time."""
        self._start_s = self._clock.monotonic_s()
        self.start_unix_s = self._clock.now_unix_s()
        return self.start_unix_s

    def note_headers(self) -> None:
        """Note that the headers came."""
        self._header_s = self.elapsed_s()

    def note_output(self) -> None:
        """Note that output came."""
        if self._first_output_s is None:
            self._first_output_s = self.elapsed_s()

    def elapsed_s(self) -> float:
        """Return the seconds since the send."""
        return self._clock.monotonic_s() - self._start_s

    def timing(self) -> Timing:
        """Return all times, as of now."""
        if self.start_unix_s is None:
            return Timing()
        return Timing(self.start_unix_s, self._header_s, self._first_output_s, self.elapsed_s())
