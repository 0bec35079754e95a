"""What a watched body is judged by: never by its pace once all of it is here."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from services.dispatch.model.limits import Pace, WatchLimits
from services.dispatch.model.outcome import AttemptFault
from services.dispatch.model.plan import HeaderPairs
from services.dispatch.server.watch import WatchedReader

DRIPPING = WatchLimits(pace=Pace(window_s=0.05, warm_up_s=0.0, floor=1_000))


@dataclass
class Drip:
    """A body that comes byte by byte."""

    http_status: int = 200
    headers: HeaderPairs = ()
    is_all_here: bool = False

    async def read(self) -> bytes | None:
        if not self.is_all_here:
            await asyncio.sleep(0.01)
        return b"x"

    async def aclose(self) -> None:
        return


async def _read_until_it_fails(reader: WatchedReader) -> None:
    while True:
        reader.note_output()
        await reader.read()


async def test_a_stream_that_drips_is_slow_until_what_is_left_of_it_is_here() -> None:
    drip = Drip()
    reader = WatchedReader(drip, DRIPPING, is_stream=True)
    with pytest.raises(AttemptFault) as caught:
        await _read_until_it_fails(reader)
    assert "slow" in caught.value.fault.message
    drip.is_all_here = True
    assert await reader.read() == b"x"
    await reader.aclose()
