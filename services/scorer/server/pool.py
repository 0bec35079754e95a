"""Runs a slow embedder beside the event loop; nobody waits past a limit.

A computation that was begun cannot be stopped, so work is refused on entry when the queue could not
do it in time, and work whose caller has left is dropped unbegun.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from services.domain.errors import Reason, RouterError
from services.scorer.model.fault import EmbedderError

if TYPE_CHECKING:
    from services.runtime.clock import Clock
    from services.scorer.model.artifact import TextVector
    from services.scorer.ports import Embedder

_OLD_WEIGHT = 0.8
"""Share of the usual time that stays when a new one is seen."""


class EmbeddingPool:
    """Embeds texts in threads of its own, each within a limit."""

    def __init__(self, embedder: Embedder, workers: int, limit_s: float, clock: Clock) -> None:
        self._embedder = embedder
        self._workers = workers
        self._limit_s = limit_s
        self._clock = clock
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="embed")
        self._counting = threading.Lock()
        self._pending = 0
        self._usual_s = 0.0

    async def embed(self, text: str, left_s: float | None = None) -> TextVector:
        """Return the vector of ``text`` within the limit, or ``left_s`` where that is less.

        Raises:
            RouterError: ROUTING_UNAVAILABLE; the queue is too long, time is up, or the embedder
                failed. There is no other guess at a vector: that would hide the fault.
        """
        limit_s = self._limit_s if left_s is None else min(self._limit_s, left_s)
        wait_s = self._usual_s * (1 + self._pending // self._workers)
        if wait_s > limit_s:
            if not self._pending:  # nothing runs that could show that it is faster again
                self._usual_s /= 2
            raise _unavailable("the embedder is too busy to answer in time")
        until_s = self._clock.monotonic_s() + limit_s
        work = self._threads.submit(self._run, text, until_s)
        self._count(1)
        work.add_done_callback(lambda _: self._count(-1))
        try:
            async with asyncio.timeout(limit_s):
                return await asyncio.wrap_future(work)
        except TimeoutError:
            raise _unavailable(f"the embedder did not answer within {limit_s:.1f} s") from None
        except EmbedderError as error:
            raise _unavailable(f"the embedder failed: {error}") from None

    def close(self) -> None:
        """End the threads once what they are at is done; what waits is dropped."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _run(self, text: str, until_s: float) -> TextVector:
        began_s = self._clock.monotonic_s()
        if began_s >= until_s:
            raise EmbedderError("its turn came too late")
        vector = self._embedder.embed(text)
        self._usual_s += (1 - _OLD_WEIGHT) * (self._clock.monotonic_s() - began_s - self._usual_s)
        if vector.joint.shape != (self._embedder.dimensions,):
            raise EmbedderError(f"its vector has another shape than {self._embedder.dimensions}")
        return vector

    def _count(self, more: int) -> None:
        """Take note of work that is in the queue or runs, whether or not somebody waits for it."""
        with self._counting:
            self._pending += more


def _unavailable(message: str) -> RouterError:
    return RouterError(Reason.ROUTING_UNAVAILABLE, message, retry_after_s=1.0)
