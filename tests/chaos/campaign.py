"""Plays schedules side by side, and gathers what went wrong."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass

import aiohttp

from tests.chaos.judging import faults_of, is_served
from tests.chaos.schedules import Schedule, schedule
from tests.chaos.world import World, shown
from tests.fakes.upstream import FakeUpstream, RecordedRequest

ABREAST = 32
QUIET_S = 10.0
"""Longest time after the last answer until no provider is asked any more."""
MARK = re.compile(rb"schedule-(\d+)-")
"""What a request says whose schedule it is."""

ROUND = 400
"""Schedules after which the product starts anew: keys that were refused often rest for long."""


def rounds(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Return the numbers in parts, each for a deployment of its own."""
    for start in range(0, len(numbers), ROUND):
        yield numbers[start : start + ROUND]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be said of one schedule."""

    schedule: Schedule
    is_served: bool
    wrong: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the schedule and everything that is wrong, a line each."""
        return "\n  ".join((shown(self.schedule), *self.wrong))


async def verdicts(
    world: World, seed: int, numbers: Iterable[int], *, abreast: int = ABREAST
) -> AsyncIterator[Verdict]:
    """Return a verdict per number, as they come, and one more per request that is left open."""
    waiting = iter(numbers)
    running: set[asyncio.Task[Verdict]] = set()
    while True:
        while len(running) < abreast and (number := next(waiting, None)) is not None:
            running.add(asyncio.create_task(_judged(world, schedule(seed, number))))
        if not running:
            break
        done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            yield each.result()
    for request in await left_open(world.fake):
        yield Verdict(_of(seed, request), is_served=False, wrong=(_open(request),))
    world.fake.requests.clear()


async def left_open(fake: FakeUpstream, quiet_s: float = QUIET_S) -> list[RecordedRequest]:
    """Return the requests that are not over ``quiet_s`` seconds from now; none, as soon as all are.

    Whoever left one open waits for nobody any more.
    """
    with contextlib.suppress(TimeoutError):
        await fake.wait_until(lambda: all(each.ending for each in fake.requests), quiet_s)
    return [each for each in fake.requests if not each.ending]


def _of(seed: int, request: RecordedRequest) -> Schedule:
    """Return the schedule that a request belongs to."""
    mark = MARK.search(request.body)
    assert mark is not None, request.body[:200]
    return schedule(seed, int(mark[1]))


def _open(request: RecordedRequest) -> str:
    return (
        f"request {request.number} for {request.model} is open {QUIET_S} s after the last answer:"
        f" {request.events} events, {len(request.written)} bytes written, {request.fault}"
    )


async def _judged(world: World, drawn: Schedule) -> Verdict:
    try:
        seen = await world.play(drawn)
    except (aiohttp.ClientError, TimeoutError) as error:
        return Verdict(drawn, is_served=False, wrong=(f"the client got no answer: {error!r}",))
    wrong = tuple(faults_of(drawn, seen))
    return Verdict(drawn, is_served=not wrong and is_served(drawn, seen), wrong=wrong)
