"""Rows of the ledger go to the store in company, also while it is busy."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from gateway.ledger.entries import Replay
from gateway.ledger.journal import REFUSED, Journal
from gateway.ledger.ports import RowsRefusedError
from gateway.ledger.writer import GATHER_S, Keeper, Writer
from gateway.model.record import AttemptOutcome, LedgerRow
from tests.fakes.clock import FakeClock
from tests.fakes.ledger import MemoryLedgerStore
from tests.unit.gateway.ledger.cases import record, rows


class Kept:
    unstored_rows = 0


class BusyStore(MemoryLedgerStore):
    """Takes new rows while it stores, as a database does under load."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[int] = []
        self.arrives: list[tuple[Writer, Keeper, tuple[LedgerRow, ...]]] = []

    async def add(self, rows: Sequence[LedgerRow]) -> int:
        self.batches.append(len(rows))
        if self.arrives:
            writer, keeper, more = self.arrives.pop()
            writer._put(more, keeper)
        return await super().add(rows)


@pytest.mark.spec("OPS-75")
async def test_rows_that_come_while_one_is_stored_wait_for_company(
    tmp_path: Path, clock: FakeClock
) -> None:
    store, kept = BusyStore(), Kept()
    writer = Writer(store, Journal(tmp_path, max_bytes=1 << 20), clock)
    first, second, third = (rows(record(AttemptOutcome.SERVED, number)) for number in (1, 2, 3))
    store.arrives = [(writer, kept, second)]
    writer.start()
    writer._put(first, kept)
    await clock.pass_time(GATHER_S)
    assert store.batches == [1]
    writer._put(third, kept)
    await clock.pass_time(GATHER_S)
    assert store.batches == [1, 2]
    assert kept.unstored_rows == 0
    await writer.aclose()
    await asyncio.sleep(0)


class StrictStore(MemoryLedgerStore):
    """Refuses the rows of one action."""

    async def add(self, rows: Sequence[LedgerRow]) -> int:
        if any(row.action_id == "act_3" for row in rows):
            raise RowsRefusedError from OverflowError()
        return await super().add(rows)


@pytest.mark.spec("OPS-73")
async def test_a_row_that_is_refused_is_set_aside_and_the_others_go_on(
    tmp_path: Path, clock: FakeClock
) -> None:
    store, kept = StrictStore(), Kept()
    writer = Writer(store, Journal(tmp_path, max_bytes=1 << 20), clock)
    (row,) = rows(record(AttemptOutcome.SERVED))
    with capture_logs() as lines:
        writer.start()
        for number in range(1, 6):
            writer._put([replace(row, action_id=f"act_{number}")], kept)
        await clock.pass_time(GATHER_S)
        await clock.pass_time(GATHER_S)
        await writer.aclose()
    assert {action for action, *_ in store.stored} == {"act_1", "act_2", "act_4", "act_5"}
    assert (writer.depth, kept.unstored_rows) == (0, 0)
    aside = tmp_path / REFUSED
    replay = Replay()
    replay.feed(aside.read_bytes().splitlines())
    assert replay.rows == [replace(row, action_id="act_3")]
    assert aside.stat().st_mode & 0o077 == 0
    (told,) = [line for line in lines if line["event"] == "ledger_row_refused"]
    assert (told["action_id"], told["error"]) == ("act_3", "OverflowError")


@pytest.mark.spec("OPS-73")
async def test_the_segment_of_a_row_that_cannot_be_set_aside_whole_is_kept(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, line: write(file, line[:20]))
    kept = Kept()
    writer = Writer(StrictStore(), Journal(tmp_path, max_bytes=1 << 20), clock)
    (row,) = rows(record(AttemptOutcome.SERVED))
    writer._put([replace(row, action_id="act_3")], kept)
    await writer.aclose()
    assert (writer.depth, kept.unstored_rows) == (0, 1)
