"""Plays schedules side by side, and gathers what went wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass

import aiohttp

from tests.chaos.judging import faults_of, is_served
from tests.chaos.schedules import Schedule, schedule
from tests.chaos.world import World, shown

ABREAST = 32
QUIET_S = 10.0
"""Longest time after the last answer until no provider is asked any more."""


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
    """Return a verdict per number, as they come; afterwards nothing may be left open."""
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
    await world.fake.wait_until(
        lambda: all(request.ending for request in world.fake.requests), QUIET_S
    )
    world.fake.requests.clear()


async def _judged(world: World, drawn: Schedule) -> Verdict:
    try:
        seen = await world.play(drawn)
    except (aiohttp.ClientError, TimeoutError) as error:
        return Verdict(drawn, is_served=False, wrong=(f"the client got no answer: {error!r}",))
    wrong = tuple(faults_of(drawn, seen))
    return Verdict(drawn, is_served=not wrong and is_served(drawn, seen), wrong=wrong)
