"""What is learned within one turn of the loop reaches the journal together, or not at all."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import orjson

from gateway.ledger.notes import Notes
from gateway.model.record import AttemptOutcome
from tests.unit.gateway.ledger.cases import record

ONE, OTHER = ("act_1", "serve"), ("act_2", "serve")
RECORD = record(AttemptOutcome.ABORTED)


async def test_one_write_holds_the_newest_of_each_attempt_of_all_actions() -> None:
    written: list[bytes] = []
    notes = Notes(written.append)
    notes.put(ONE, RECORD)
    notes.put(OTHER, RECORD)
    notes.put(ONE, replace(RECORD, has_output=True))
    notes.put(ONE, replace(RECORD, number=2))
    assert not written
    await asyncio.sleep(0)
    (lines,) = written
    told = [orjson.loads(line) for line in lines.splitlines()]
    assert [
        (row["key"][0], row["record"]["number"], row["record"]["has_output"]) for row in told
    ] == [
        ("act_1", 1, True),
        ("act_1", 2, False),
        ("act_2", 1, False),
    ]


async def test_an_action_that_settles_in_the_same_turn_writes_no_note() -> None:
    written: list[bytes] = []
    notes = Notes(written.append)
    notes.put(ONE, RECORD)
    notes.drop(ONE)
    await asyncio.sleep(0)
    assert written == []


async def test_what_comes_in_a_later_turn_is_written_later() -> None:
    written: list[bytes] = []
    notes = Notes(written.append)
    notes.put(ONE, RECORD)
    await asyncio.sleep(0)
    notes.put(ONE, replace(RECORD, has_output=True))
    notes.flush()
    await asyncio.sleep(0)
    assert len(written) == 2
