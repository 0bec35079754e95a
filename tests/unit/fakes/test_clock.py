"""The fake clock moves only when told, and wakes sleepers in order."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from services.runtime.clock import Clock
from tests.fakes.clock import FakeClock


def test_wall_and_monotonic_time_advance_together() -> None:
    clock = FakeClock(unix_s=100.0, monotonic_s=5.0)
    port: Clock = clock
    clock.advance(2.5)
    assert (port.now_unix_s(), port.monotonic_s()) == (102.5, 7.5)


def test_a_step_of_the_wall_clock_leaves_durations_alone() -> None:
    clock = FakeClock(monotonic_s=5.0)
    clock.set_now_unix_s(1.0)
    assert (clock.now_unix_s(), clock.monotonic_s()) == (1.0, 5.0)


async def test_advance_wakes_those_who_are_due_and_no_one_else() -> None:
    clock = FakeClock()
    early = asyncio.ensure_future(clock.sleep(1))
    late = asyncio.ensure_future(clock.sleep(3))
    await clock.pass_time(0)
    assert clock.sleeper_count == 2
    clock.advance(2)
    await early
    assert not late.done()
    clock.advance(1)
    await late


async def test_sleep_of_nothing_returns_at_once() -> None:
    await FakeClock().sleep(0)


async def test_a_cancelled_sleeper_is_passed_over() -> None:
    clock = FakeClock()
    sleeper = asyncio.ensure_future(clock.sleep(1))
    await clock.pass_time(0)
    sleeper.cancel()
    await clock.pass_time(2)
    assert sleeper.cancelled()
    assert clock.sleeper_count == 0


@given(st.lists(st.integers(1, 50), max_size=6))
def test_sleepers_wake_in_order_and_see_their_own_deadline(naps: list[int]) -> None:
    async def run() -> list[float]:
        clock = FakeClock(monotonic_s=0.0)
        seen: list[float] = []

        async def nap(seconds: int) -> None:
            await clock.sleep(seconds)
            seen.append(clock.monotonic_s())

        async with asyncio.TaskGroup() as tasks:
            for seconds in naps:
                tasks.create_task(nap(seconds))
            await clock.pass_time(50)
        return seen

    assert asyncio.run(run()) == sorted(float(nap) for nap in naps)
