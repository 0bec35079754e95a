"""A block that is cut off ends like one under ``asyncio.timeout``."""

from __future__ import annotations

import asyncio

import pytest

from services.runtime.cutoff import Cutoff, Within

SOON_S = 0.001
LATE_S = 5.0


def cancelling() -> int:
    """Return how many cancellations of the running task are not over."""
    task = asyncio.current_task()
    assert task is not None
    return task.cancelling()


async def wait_within(seconds: float) -> None:
    with Within(seconds):
        await asyncio.sleep(LATE_S)


async def wait_until_cut(times: int) -> None:
    with Cutoff() as cutoff:
        for _ in range(times):
            asyncio.get_running_loop().call_soon(cutoff.cut)
        await asyncio.sleep(LATE_S)


@pytest.mark.parametrize("times", [1, 2])
async def test_a_block_that_is_cut_raises_and_its_task_goes_on(times: int) -> None:
    with pytest.raises(TimeoutError):
        await wait_until_cut(times)
    assert cancelling() == 0
    await asyncio.sleep(0)


async def test_a_block_ends_by_itself_in_time() -> None:
    with Within(LATE_S):
        await asyncio.sleep(0)
    assert cancelling() == 0


async def test_a_block_ends_when_its_time_is_over() -> None:
    with pytest.raises(TimeoutError):
        await wait_within(SOON_S)
    assert cancelling() == 0


async def test_of_two_blocks_the_one_whose_time_is_over_raises() -> None:
    with Within(LATE_S):
        with pytest.raises(TimeoutError):
            await wait_within(SOON_S)
        assert cancelling() == 0


async def test_a_block_in_one_whose_time_is_over_is_left_as_cancelled() -> None:
    async def wait() -> None:
        with Within(SOON_S), pytest.raises(asyncio.CancelledError):
            await wait_within(LATE_S)

    await wait()
    assert cancelling() == 0


async def test_a_block_that_ends_well_in_spite_of_its_cut_stays_well() -> None:
    with Cutoff() as cutoff:
        cutoff.cut()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(LATE_S)
    assert cancelling() == 0


async def test_other_errors_pass_a_cut() -> None:
    async def fail() -> None:
        with Cutoff() as cutoff:
            cutoff.cut()
            try:
                await asyncio.sleep(LATE_S)
            except asyncio.CancelledError:
                raise LookupError from None

    with pytest.raises(LookupError):
        await fail()
    assert cancelling() == 0


async def test_who_cancels_the_task_meanwhile_is_heard() -> None:
    blocks: asyncio.Queue[Cutoff] = asyncio.Queue()

    async def wait() -> None:
        with Cutoff() as cutoff:
            blocks.put_nowait(cutoff)
            await asyncio.sleep(LATE_S)

    task = asyncio.create_task(wait())
    (await blocks.get()).cut()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
