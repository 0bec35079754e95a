"""Work that nobody waits for."""

from __future__ import annotations

import asyncio

from structlog.testing import capture_logs

from services.runtime.background import ended, in_background


async def _fails() -> None:
    raise ValueError("out of order")


async def _goes_on() -> None:
    await asyncio.Event().wait()


async def test_a_fault_is_told_at_once_and_ends_nobody_who_comes_later() -> None:
    with capture_logs() as lines:
        task = in_background(_fails(), "sharing")
        await asyncio.wait((task,))
        await asyncio.sleep(0)
        (line,) = lines
        assert (line["event"], line["log_level"]) == ("background_ended", "error")
        assert line["task"] == "sharing"
        await ended(task)
    assert len(lines) == 1


async def test_what_is_ended_is_over_and_told_by_nobody() -> None:
    with capture_logs() as lines:
        task = in_background(_goes_on(), "sharing")
        await asyncio.sleep(0)
        await ended(task)
        assert task.cancelled()
        await ended(None)
    assert not lines
