"""A slow embedder never holds a caller longer than the limit, whatever it does."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from services.domain.errors import Reason, RouterError
from services.runtime.clock import SystemClock
from services.scorer.model.artifact import NO_PIECES, TextVector
from services.scorer.model.fault import EmbedderError
from services.scorer.server.pool import EmbeddingPool
from tests.fakes.clock import FakeClock

WIDTH = 3
LIMIT_S = 0.15
PATIENT_S = 20.0


class Gate:
    """An embedder that waits until it is let through; one text fails and one has a wrong shape."""

    dimensions = WIDTH
    vocabulary = 1
    is_slow = True

    def __init__(self) -> None:
        self.open = threading.Event()
        self.begun: list[str] = []

    def embed(self, text: str) -> TextVector:
        """Return a vector of ones once the gate is open."""
        self.begun.append(text)
        self.open.wait(PATIENT_S)
        if text == "break it":
            raise EmbedderError("Fail")
        width = 1 if text == "cut it" else WIDTH
        return TextVector(np.ones(width), NO_PIECES, 0.0, len(text))


class Slow:
    """An embedder that is slow at some texts, by the clock, and waits at a gate if it has one."""

    dimensions = WIDTH
    vocabulary = 1
    is_slow = True

    def __init__(
        self, clock: FakeClock, taken_s: Mapping[str, float], gate: Gate | None = None
    ) -> None:
        self._clock = clock
        self._taken_s = taken_s
        self._gate = gate

    def embed(self, text: str) -> TextVector:
        """Return a vector of ones after the time that the text takes."""
        if self._gate is not None:
            self._gate.embed(text)
        self._clock.advance(self._taken_s.get(text, 0.0))
        return TextVector(np.ones(WIDTH), NO_PIECES, 0.0, len(text))


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.open.set()


def pool(gate: Gate, limit_s: float = LIMIT_S, workers: int = 1) -> EmbeddingPool:
    return EmbeddingPool(gate, workers, limit_s, SystemClock())


async def refused(pool: EmbeddingPool, text: str, left_s: float | None = None) -> RouterError:
    with pytest.raises(RouterError) as caught:
        await pool.embed(text, left_s)
    assert caught.value.reason is Reason.ROUTING_UNAVAILABLE
    assert text not in str(caught.value)
    return caught.value


async def test_vectors_come_from_the_threads(gate: Gate) -> None:
    gate.open.set()
    vectors = await asyncio.gather(*(pool(gate, PATIENT_S).embed(word) for word in "abc"))
    assert [vector.embedded_bytes for vector in vectors] == [1, 1, 1]


@pytest.mark.spec("SCO-11", "SCO-12")
@pytest.mark.parametrize(("left_s", "most_s"), [(None, LIMIT_S), (0.02, 0.02)])
async def test_a_hanging_embedder_is_not_waited_for(
    left_s: float | None, most_s: float, gate: Gate
) -> None:
    began_s = time.monotonic()
    error = await refused(pool(gate), "some text", left_s)
    assert time.monotonic() - began_s < PATIENT_S / 2
    assert f"within {most_s:.1f} s" in error.message
    assert error.retry_after_s == 1.0
    assert gate.begun == ["some text"]


@pytest.mark.spec("SCO-11")
@pytest.mark.parametrize("text", ["break it", "cut it"])
async def test_a_failing_embedder_and_a_wrong_dimension_are_unavailable(
    text: str, gate: Gate
) -> None:
    gate.open.set()
    error = await refused(pool(gate, PATIENT_S), text)
    assert "the embedder failed: " in error.message


async def test_work_whose_caller_has_left_is_never_begun(gate: Gate) -> None:
    busy = pool(gate)
    await asyncio.gather(refused(busy, "first text"), refused(busy, "second text"))
    gate.open.set()
    later = await busy.embed("third text", PATIENT_S)
    assert later.joint.shape == (WIDTH,)
    assert gate.begun == ["first text", "third text"]


@pytest.mark.spec("SCO-12")
async def test_a_caller_that_is_cancelled_takes_its_work_along(gate: Gate) -> None:
    busy = pool(gate, PATIENT_S)
    first, left = (asyncio.ensure_future(busy.embed(f"{n} text")) for n in ("first", "left"))
    await asyncio.sleep(0)
    left.cancel()
    await asyncio.gather(left, return_exceptions=True)
    gate.open.set()
    await asyncio.gather(first, busy.embed("third text"))
    assert gate.begun == ["first text", "third text"]


async def test_what_the_queue_cannot_do_in_time_is_refused_on_entry(gate: Gate) -> None:
    busy = pool(gate, PATIENT_S)
    first = asyncio.ensure_future(busy.embed("first text"))
    await asyncio.sleep(0.1)
    gate.open.set()
    await first
    error = await refused(busy, "second text", 0.001)
    assert "too busy" in error.message
    assert gate.begun == ["first text"]


async def test_one_slow_text_does_not_close_an_idle_embedder_for_good() -> None:
    clock = FakeClock()
    idle = EmbeddingPool(Slow(clock, {"slow text": 2_000.0}), 1, PATIENT_S, clock)
    await idle.embed("slow text")
    for _ in range(5):  # 400 s are usual now: halved five times they fit into 20 s
        await refused(idle, "later text")
    vector = await idle.embed("later text")
    assert vector.joint.shape == (WIDTH,)


async def test_a_busy_embedder_is_not_taken_for_a_faster_one(gate: Gate) -> None:
    clock = FakeClock()
    busy = EmbeddingPool(Slow(clock, {"slow text": 5.0}, gate), 1, PATIENT_S, clock)
    gate.open.set()
    await busy.embed("slow text")
    gate.open.clear()
    running = asyncio.ensure_future(busy.embed("long text"))
    await asyncio.sleep(0)
    for _ in range(5):
        assert "too busy" in (await refused(busy, "later text", 0.3)).message
    gate.open.set()
    assert (await running).joint.shape == (WIDTH,)


async def test_what_nobody_waits_for_any_more_still_keeps_its_thread_busy(gate: Gate) -> None:
    clock = FakeClock()
    busy = EmbeddingPool(Slow(clock, {"slow text": 0.5}, gate), 1, PATIENT_S, clock)
    gate.open.set()
    await busy.embed("slow text")
    gate.open.clear()
    assert "did not answer" in (await refused(busy, "long text", 0.11)).message
    for _ in range(5):
        await asyncio.sleep(0)
        assert "too busy" in (await refused(busy, "later text", 0.05)).message
