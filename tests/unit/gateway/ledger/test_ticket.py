"""What an account notes and how it settles, whatever dispatch tells and does not tell."""

from __future__ import annotations

import pytest
from pointsman.common.v1 import attempt_pb2

from gateway.codec.enums import CAUSE_OF
from gateway.ledger.settlement import FIRST_CAUSE
from gateway.model import AttemptFailed, AttemptStarted, Failed, Head, Part, StreamFailure, Tail
from gateway.model.record import AttemptOutcome, AttemptRecord, UsageSource
from services.domain.vocab import FailureClass, WireFamily
from services.domain.wire.model import StopReason, Usage
from tests.fakes.clock import FakeClock
from tests.unit.gateway.ledger.cases import (
    ACME,
    COST_MICROS,
    GLOBEX,
    USAGE,
    Sink,
    Tap,
    record,
    ticket,
)

STARTED = AttemptStarted(1, "acme", "m", cause=FIRST_CAUSE)
HEAD = Head(ACME, WireFamily.ANTHROPIC, 200, (), is_stream=True, number=1)
TAIL = Tail(USAGE, StopReason.END_TURN)


def played(clock: FakeClock, *parts: Part, tap: Tap | None = None, broke: bool = False) -> Sink:
    account, sink = ticket(clock)
    account.tap = tap
    for part in parts:
        account.saw(part)
    if broke:
        account.broke()
    account.close()
    account.close()
    return sink


def test_a_tail_settles_with_what_the_upstream_reported(clock: FakeClock) -> None:
    (row,) = played(clock, STARTED, HEAD, b"x", TAIL).rows
    assert (row.attempt, row.outcome, row.source) == (1, "served", "reported")
    assert row.charged_micros == COST_MICROS


@pytest.mark.spec("OPS-57")
def test_every_attempt_before_it_has_a_row_of_its_own(clock: FakeClock) -> None:
    failed = record(AttemptOutcome.FAILED, usage=USAGE, failure="stall", http_status=200)
    second = AttemptStarted(2, "globex", "m", 1)
    head = Head(GLOBEX, WireFamily.ANTHROPIC, 200, (), is_stream=True, number=2)
    end = Tail(USAGE, None, attempt=AttemptRecord(2, GLOBEX, AttemptOutcome.SERVED, usage=USAGE))
    sink = played(
        clock,
        STARTED,
        AttemptFailed("acme", FailureClass.STALL, failed),
        second,
        head,
        b"x",
        end,
    )
    assert [(row.attempt, row.provider, row.outcome, row.charged_micros) for row in sink.rows] == [
        (1, "acme", "failed_with_usage", 0),
        (2, "globex", "served", 2 * COST_MICROS),
    ]


@pytest.mark.spec("OPS-58")
def test_a_failure_before_any_output_costs_nothing(clock: FakeClock) -> None:
    (row,) = played(clock, STARTED, Failed(FailureClass.TRANSPORT)).rows
    assert (row.outcome, row.cost_micros, row.charged_micros) == ("failed_no_usage", 0, 0)


def test_a_walk_that_sent_nothing_has_no_row(clock: FakeClock) -> None:
    skipped = record(AttemptOutcome.SKIPPED)
    failed = Failed(FailureClass.CREDENTIALS_COOLING, attempts=(skipped,))
    assert played(clock, STARTED, failed).rows == ()


@pytest.mark.spec("OPS-58")
def test_a_client_that_leaves_is_charged_what_was_reported_until_then(clock: FakeClock) -> None:
    (row,) = played(clock, STARTED, HEAD, b"x", tap=Tap(USAGE, 80)).rows
    assert (row.outcome, row.source, row.charged_micros) == ("aborted", "partial", COST_MICROS)


@pytest.mark.spec("OPS-58")
def test_a_client_that_leaves_is_charged_an_estimate_where_nothing_was_reported(
    clock: FakeClock,
) -> None:
    (row,) = played(clock, STARTED, HEAD, b"x", tap=Tap(None, 80)).rows
    assert (row.outcome, row.source, row.output_tokens) == ("aborted", "estimated", 20)
    assert row.charged_micros == 1000 + 200


def test_a_client_that_leaves_before_any_output_is_not_charged(clock: FakeClock) -> None:
    (row,) = played(clock, STARTED).rows
    assert (row.outcome, row.source, row.charged_micros) == ("aborted", "estimated", 0)


def test_an_answer_that_breaks_off_is_broken_after_output_and_failed_before_a_start(
    clock: FakeClock,
) -> None:
    (row,) = played(clock, STARTED, HEAD, b"x", tap=Tap(USAGE, 4), broke=True).rows
    assert (row.outcome, row.charged_micros) == ("broken", COST_MICROS)
    (nothing,) = played(clock, broke=True).rows
    assert (nothing.outcome, nothing.cost_micros) == ("failed_no_usage", 0)


def test_an_error_after_the_commit_point_is_charged(clock: FakeClock) -> None:
    broken = Tail(USAGE, None, StreamFailure(529))
    (row,) = played(clock, STARTED, HEAD, b"x", broken).rows
    assert (row.outcome, row.source, row.charged_micros) == ("broken", "partial", COST_MICROS)


def test_a_broken_answer_counts_at_least_what_passed_here(clock: FakeClock) -> None:
    known = record(
        AttemptOutcome.BROKEN, usage=Usage(fresh_input=9, output=1), source=UsageSource.PARTIAL
    )
    broken = Tail(known.usage, None, StreamFailure(529), attempt=known)
    (row,) = played(clock, STARTED, HEAD, b"x", broken, tap=Tap(None, 400)).rows
    assert (row.output_tokens, row.source) == (100, "estimated")


def test_it_settles_once(clock: FakeClock) -> None:
    sink = played(clock, STARTED, HEAD, b"x", TAIL, TAIL)
    assert len(sink.settlements) == 1


def test_progress_is_noted_from_the_second_chunk_on_every_five_seconds(clock: FakeClock) -> None:
    account, sink = ticket(clock)
    account.saw(STARTED)
    account.saw(HEAD)
    tap = account.tap = Tap(None, 0)
    before = len(sink.notes)
    account.saw(b"1")
    assert len(sink.notes) == before
    for chunk in range(20):
        tap.output_chars += 4
        account.saw(str(chunk).encode())
        clock.advance(1.25)
    progress = sink.notes[before:]
    assert len(progress) == 5
    assert [note.output_chars for note in progress] == [4, 20, 36, 52, 68]
    assert {note.outcome for note in progress} == {AttemptOutcome.ABORTED}


def test_the_first_attempt_is_told_in_the_words_of_the_contract() -> None:
    assert CAUSE_OF[attempt_pb2.ATTEMPT_CAUSE_FIRST] == FIRST_CAUSE


def test_the_start_of_the_planned_attempt_is_not_noted_since_the_opening_tells_it(
    clock: FakeClock,
) -> None:
    account, sink = ticket(clock)
    account.saw(STARTED)
    assert sink.notes == []
    account.saw(AttemptStarted(2, "globex", "m", 1))
    assert [note.number for note in sink.notes] == [2]
