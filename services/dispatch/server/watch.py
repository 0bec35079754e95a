"""Reads an upstream's body under watch: the first limit to pass names the cause."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from services.dispatch.model.outcome import AttemptFault, Fault
from services.dispatch.policy.throughput import Throughput
from services.domain.vocab import FailureClass

if TYPE_CHECKING:
    from services.dispatch.model.limits import WatchLimits
    from services.dispatch.ports import UpstreamAnswer


class WatchedReader:
    """Reads one body. One timer serves all limits; it is re-armed lazily, never per chunk.

    Time that the caller spends with a chunk is not the upstream's silence. Limits on output hold
    for streams only.
    """

    def __init__(self, answer: UpstreamAnswer, limits: WatchLimits, *, is_stream: bool) -> None:
        self._answer = answer
        self._limits = limits
        self._is_stream = is_stream
        self._loop = asyncio.get_running_loop()
        self._started_s = self._waiting_since_s = self._last_output_s = self._loop.time()
        self._output_limit_s = limits.first_output_s
        self._idle_limit_s = limits.idle_s
        self._timer: asyncio.TimerHandle | None = None
        self._reader: asyncio.Task[object] | None = None
        """The task that waits for bytes; the timer cancels it."""
        self._cancels = 0
        """Cancellations of that task that were not the timer's."""
        self._pending: asyncio.Future[bytes | None] | None = None
        self._cause = ""
        self._throughput = Throughput(limits.pace)
        self.max_gap_s = 0.0

    async def read(self) -> bytes | None:
        """Return the next bytes; None at the end.

        Raises:
            AttemptFault: STALL, naming the limit that passed, or what reading raised.
        """
        if self._pending is None and self._answer.is_all_here:
            return await self._answer.read()
        if self._is_stream and self._throughput.is_slow:
            raise AttemptFault(stall("slow"))
        self._start_waiting()
        try:
            if self._pending is None:
                return await self._answer.read()
            pending, self._pending = self._pending, None
            return await pending
        except asyncio.CancelledError:
            self._raise_stall()
            raise
        finally:
            self._stop_waiting()

    async def read_within(self, seconds: float) -> bytes | None:
        """Return the next bytes, None at the end, or nothing (``b""``) after ``seconds``.

        What comes later is not lost: the next read returns it.
        """
        self._start_waiting()
        pending = self._pending or asyncio.ensure_future(self._answer.read())
        self._pending = pending
        try:
            await asyncio.wait((pending,), timeout=seconds)
        except asyncio.CancelledError:
            self._raise_stall()
            raise
        finally:
            self._stop_waiting()
        if not pending.done():
            return b""
        self._pending = None
        return pending.result()

    def note_output(self, events: int = 1) -> None:
        """Take note that the bytes just read held output, and how many events of it."""
        self._throughput.saw(events)
        self._last_output_s = self._loop.time()
        self._output_limit_s = self._limits.stall_s

    def note_terminal(self) -> None:
        """Take note that the answer is complete: only a short silence may follow."""
        self._idle_limit_s = min(self._idle_limit_s, self._limits.linger_s)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def aclose(self) -> None:
        """End the timer and any read that is left."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.cancel()
            await asyncio.wait((pending,))
            if not pending.cancelled():
                pending.exception()  # seen here: nobody waits for it any more

    def _start_waiting(self) -> None:
        self._reader = asyncio.current_task()
        self._cancels = self._reader.cancelling() if self._reader is not None else 0
        self._waiting_since_s = self._loop.time()
        if self._timer is None:
            self._arm()

    def _raise_stall(self) -> None:
        """Raise the fault where it was our timer that cancelled the reader, and nobody else.

        This is what ``asyncio.timeout`` does, less what that costs with every chunk.
        """
        reader = self._reader
        if reader is not None and self._cause and reader.uncancel() <= self._cancels:
            raise AttemptFault(stall(self._cause)) from None

    def _stop_waiting(self) -> None:
        self._reader = None
        gap_s = self._loop.time() - self._waiting_since_s
        self.max_gap_s = max(gap_s, self.max_gap_s)
        self._throughput.waited(gap_s)

    def _due(self) -> tuple[float, str]:
        idle = (self._waiting_since_s + self._idle_limit_s, "byte_idle")
        if not self._is_stream:
            return idle
        return min(idle, (self._last_output_s + self._output_limit_s, "output_idle"))

    def _arm(self) -> None:
        self._timer = self._loop.call_at(self._due()[0], self._check)

    def _check(self) -> None:
        self._timer = None
        if self._reader is None:
            return
        due_s, cause = self._due()
        now_s = self._loop.time()
        if now_s < due_s:
            self._arm()
            return
        self._cause = cause
        self._reader.cancel()


def stall(cause: str) -> Fault:
    """Return the fault of a limit that passed."""
    what = "sent too little" if cause == "slow" else "went silent"
    message = f"the upstream {what} ({cause})"
    return Fault(FailureClass.STALL, message=message, stall_kind=cause)
