"""A journal that was cut anywhere tells one row for each attempt, and telling it twice is once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.ledger.entries import Entry, Noted, Opened, Replay, Settled, line_of
from gateway.model.record import AttemptOutcome, LedgerRow
from tests.unit.gateway.ledger.cases import CATALOG, NOW, OPENING, USAGE, record, rows

FIRST = record(AttemptOutcome.ABORTED)
FAILED = record(AttemptOutcome.FAILED, failure="stall")
SECOND = record(AttemptOutcome.ABORTED, 2)
COMMITTED = record(AttemptOutcome.ABORTED, 2, has_output=True)
SEEN = record(AttemptOutcome.ABORTED, 2, has_output=True, usage=USAGE, output_chars=8)
SERVED = record(AttemptOutcome.SERVED, 2, usage=USAGE)
KEY = OPENING.key
STORY: tuple[Entry, ...] = (
    Opened(OPENING),
    *(Noted(KEY, each) for each in (FIRST, FAILED, SECOND, COMMITTED, SEEN)),
    Settled(KEY, rows(FAILED, SERVED)),
)


def replayed(*lines: bytes) -> tuple[LedgerRow, ...]:
    replay = Replay()
    replay.feed(lines)
    return replay.finish(CATALOG, NOW)


def test_a_settled_action_is_told_as_it_was_settled() -> None:
    assert replayed(*map(line_of, STORY)) == rows(FAILED, SERVED)


@pytest.mark.spec("OPS-58")
@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (1, [(1, "aborted", "estimated", 0)]),
        (2, [(1, "aborted", "estimated", 0)]),
        (3, [(1, "failed_no_usage", "", 0)]),
        (4, [(1, "failed_no_usage", "", 0), (2, "aborted", "estimated", 0)]),
        (5, [(1, "failed_no_usage", "", 0), (2, "aborted", "estimated", 1000)]),
        (6, [(1, "failed_no_usage", "", 0), (2, "aborted", "reported", 700)]),
    ],
)
def test_a_death_settles_what_was_open_as_it_was_last_known(
    length: int, expected: list[tuple[int, str, str, int]]
) -> None:
    found = replayed(*map(line_of, STORY[:length]))
    assert [(r.attempt, r.outcome, r.source, r.charged_micros) for r in found] == expected


@pytest.mark.spec("OPS-74")
@given(st.integers(0, sum(len(line_of(entry)) for entry in STORY)))
def test_wherever_it_is_cut_no_attempt_has_two_rows_and_none_is_lost(cut: int) -> None:
    data = b"".join(map(line_of, STORY))[:cut]
    found = replayed(*data.splitlines(keepends=True))
    numbers = [row.attempt for row in found]
    whole = data.count(b"\n")
    told = {entry.record.number for entry in STORY[:whole] if isinstance(entry, Noted)}
    assert len(set(numbers)) == len(numbers)
    assert set(numbers) >= told
    assert bool(numbers) == (whole > 0)


def test_lines_that_cannot_be_read_are_counted_and_passed_over() -> None:
    replay = Replay()
    replay.feed([line_of(STORY[0]), b'{"t":"noted"}\n', b"\xff\n", b"\n", line_of(STORY[1])])
    assert (replay.bad_lines, replay.open_count) == (3, 1)
    assert len(replay.finish(CATALOG, NOW)) == 1


def test_a_line_is_one_line() -> None:
    for entry in STORY:
        assert line_of(entry).count(b"\n") == 1
