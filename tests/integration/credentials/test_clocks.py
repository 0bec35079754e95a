"""A replica whose clock is not the store's says so, and serves all the same."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import structlog

from services.credentials.adapters.store_sql import SqlStore
from services.credentials.server.clockwatch import ClockWatch
from services.domain.errors import Reason, RouterError
from services.runtime import database
from tests.fakes.clock import FakeClock
from tests.integration.credentials.cluster import account, picked, replica, running, until


class Told(SqlStore):
    """A store whose clock the test sets."""

    def __init__(self, read: Callable[[], float]) -> None:
        super().__init__(database.MEMORY_URL)
        self._read = read

    async def now_unix_s(self) -> float:
        """Return what the test says."""
        return self._read()


@pytest.mark.spec("CRD-128")
@pytest.mark.parametrize(("offset_s", "is_right"), [(0, 1), (30, 1), (-30, 1), (31, 0), (-31, 0)])
async def test_more_than_half_a_minute_is_wrong_in_either_direction(
    offset_s: float, is_right: int
) -> None:
    clock = FakeClock()
    watch = ClockWatch(Told(lambda: clock.now_unix_s() + offset_s), clock)
    with structlog.testing.capture_logs() as lines:
        await watch.look()
        await watch.look()
    assert watch.is_right is bool(is_right)
    assert len(lines) == 1 - is_right


@pytest.mark.spec("CRD-128")
async def test_a_store_that_is_late_or_down_says_nothing_about_the_clock() -> None:
    clock = FakeClock()

    def late() -> float:
        now = clock.now_unix_s()
        clock.advance(90)
        return now

    watch = ClockWatch(Told(late), clock)
    await watch.look()
    assert watch.is_right

    def down() -> float:
        raise RouterError(Reason.STORE_UNAVAILABLE, "away")

    silent = ClockWatch(Told(down), clock)
    await silent.look()
    assert silent.is_right


@pytest.mark.spec("CRD-128")
async def test_a_wrong_clock_takes_readiness_away_and_nothing_else(url: str) -> None:
    clock = FakeClock(unix_s=time.time() + 3_600)
    async with running(replica(url, [account("a")], clock, poll_s=1)) as (one,):
        await until(lambda: not one.readiness()["clock"])
        assert one.readiness() == {"store": True, "upkeep": True, "clock": False}
        assert (await picked(one)).credential_id
