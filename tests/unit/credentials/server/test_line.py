"""Who waits for room is served in turn, and no slot stays unused while somebody waits for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from services.credentials.server.line import Line, Room

X, Y = frozenset({("x", "")}), frozenset({("y", "")})
BOTH = X | Y


class Waiters:
    """Callers in a line: who is woken and finds a slot takes it."""

    def __init__(self) -> None:
        self.line = Line()
        self.free: set[str] = set()
        self.served: list[str] = []

    async def join(self, name: str, wanted: frozenset[Room], wait_s: float = 5.0) -> None:
        with self.line.place() as place:
            async with asyncio.timeout(wait_s):
                while not (found := self.free & {one for one, _ in wanted}):
                    await place.wait(wanted, 5.0)
            taken = max(found)
            self.free.discard(taken)
            place.use(taken)
            self.served.append(name)

    async def release(self, credential_id: str) -> None:
        self.free.add(credential_id)
        self.line.wake(credential_id)
        await settle()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def waiting(
    waiters: Waiters, **wanted: frozenset[Room]
) -> AsyncIterator[dict[str, asyncio.Task[None]]]:
    """Give the tasks of some callers, who came in this order."""
    tasks: dict[str, asyncio.Task[None]] = {}
    for name, one in wanted.items():
        tasks[name] = asyncio.create_task(waiters.join(name, one))
        await settle()
    yield tasks
    for task in tasks.values():
        task.cancel()
    await asyncio.gather(*tasks.values(), return_exceptions=True)


@pytest.mark.spec("CRD-159")
async def test_the_first_who_waits_for_it_is_served() -> None:
    waiters = Waiters()
    async with waiting(waiters, first=X, second=X):
        await waiters.release("x")
        await waiters.release("x")
    assert waiters.served == ["first", "second"]


@pytest.mark.spec("CRD-159")
async def test_a_slot_is_not_offered_to_who_cannot_use_it() -> None:
    waiters = Waiters()
    async with waiting(waiters, other=Y, fitting=X):
        await waiters.release("x")
        assert waiters.served == ["fitting"]


@pytest.mark.spec("CRD-159")
async def test_what_one_who_leaves_was_woken_for_goes_to_the_next() -> None:
    waiters = Waiters()
    async with waiting(waiters, leaving=X, staying=X) as tasks:
        waiters.free.add("x")
        waiters.line.wake("x")
        tasks["leaving"].cancel()  # in the very moment in which it is woken
        await settle()
        assert waiters.served == ["staying"]


@pytest.mark.spec("CRD-159")
async def test_one_who_looked_in_vain_keeps_its_place_and_passes_the_news_on() -> None:
    waiters = Waiters()
    async with waiting(waiters, first=X, second=X):
        waiters.line.wake("x")  # nothing is there: both look, one after the other
        await settle()
        await waiters.release("x")
        assert waiters.served == ["first"]
        await waiters.release("x")
    assert waiters.served == ["first", "second"]


@pytest.mark.spec("CRD-159")
async def test_who_takes_another_slot_than_it_was_woken_for_passes_the_news_on() -> None:
    waiters = Waiters()
    async with waiting(waiters, first=BOTH, second=Y, third=X):
        waiters.free.update("xy")
        waiters.line.wake("x")  # for the first, which finds y as well and takes that
        waiters.line.wake("y")  # for the second, which comes too late
        await settle()
        assert waiters.served == ["first", "third"]


@pytest.mark.spec("CRD-159")
async def test_what_somebody_waits_for_is_not_for_those_who_come_later() -> None:
    line = Line()
    narrowed = frozenset({("x", "m1"), ("y", "")})
    with line.place() as first, line.place() as second:
        await first.wait(narrowed, 0.0)
        await second.wait(frozenset({("z", "")}), 0.0)
        assert line.ahead(None, "m1") == {"x", "y", "z"}
        assert line.ahead(None, "m2") == {"y", "z"}
        assert line.ahead(second, "m1") == {"x", "y"}
        assert line.ahead(first, "m1") == frozenset()
    assert line.ahead(None, "m1") == frozenset()


@pytest.mark.spec("CRD-159")
async def test_who_leaves_lets_the_next_one_look() -> None:
    line, looks = Line(), []

    async def wait(name: str, wanted: frozenset[Room]) -> None:
        with line.place() as place:
            while True:
                await place.wait(wanted, 5.0)
                looks.append(name)

    first = asyncio.create_task(wait("first", BOTH))
    tasks = [first]
    for name, wanted in (("second", BOTH), ("third", X), ("fourth", Y)):
        await settle()
        tasks.append(asyncio.create_task(wait(name, wanted)))
    await settle()
    first.cancel()
    await settle()
    assert looks == ["second"]
    line.call_all("y")
    await settle()
    assert looks == ["second", "second", "fourth"]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_who_is_called_while_it_looks_looks_once_more() -> None:
    line = Line()
    with line.place() as place:
        await place.wait(X, 0.0)
        line.call_all("x")
        async with asyncio.timeout(2):
            await place.wait(X, 60.0)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await place.wait(X, 60.0)


async def test_a_wait_ends_in_time() -> None:
    line = Line()
    with line.place() as place:
        async with asyncio.timeout(2):
            await place.wait(X, 0.01)
    assert line._places == {}
