"""The feed of decisions: bounded, lossy with a count, each reader its own installation."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from gateway.feed import MOST_WAITING, Feed, Interest
from gateway.model import AttemptFailed, AttemptStarted, BindingRef
from gateway.model.explained import Began, Completed, Explained, Lost, Shadowed, ShadowPick
from gateway.model.record import AttemptOutcome, AttemptRecord, LedgerRow
from services.domain.vocab import FailureClass
from tests.fakes.clock import FakeClock
from tests.unit.gateway.happenings import CATALOG, a_decision, a_result, an_action, ledger_rows


def _feed() -> Feed:
    return Feed(CATALOG, FakeClock(), "cluster")


async def test_a_reader_hears_of_decision_attempts_and_result_in_order() -> None:
    feed, action = _feed(), an_action()
    with feed.reading(Interest(wants_attempts=True)) as reader:
        feed.decided(action, a_decision(action))
        feed.settled(ledger_rows(action))
        feed.completed(action, a_result(action))
        heard = [(await reader.read()).event for _ in range(4)]
    assert [type(event) for event in heard] == [Explained, LedgerRow, LedgerRow, Completed]
    result = heard[-1]
    assert isinstance(result, Completed)
    assert result.charged_micros == 1_000
    assert result.saved_micros == 9_000


async def test_attempts_are_told_only_to_those_who_want_them() -> None:
    feed, action = _feed(), an_action()
    with feed.reading(Interest()) as reader:
        feed.decided(action, a_decision(action))
        feed.settled(ledger_rows(action))
        feed.completed(action, a_result(action))
        heard = [(await reader.read()).event for _ in range(2)]
    assert [type(event) for event in heard] == [Explained, Completed]


@pytest.mark.parametrize(
    "interest",
    [
        Interest(installation_id="inst-1"),
        Interest(session_key=b"s" * 16),
        Interest(action_id="act_1"),
    ],
)
async def test_a_reader_hears_of_what_it_follows_alone(interest: Interest) -> None:
    feed = _feed()
    mine, other = an_action(1), an_action(2, "inst-2", b"t" * 16)
    with feed.reading(interest) as reader:
        for action in (other, mine):
            feed.decided(action, a_decision(action))
            feed.completed(action, a_result(action))
        heard = [(await reader.read()).event for _ in range(2)]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await reader.read()
    assert isinstance(heard[0], Explained)
    assert heard[0].action is mine


async def test_a_shadow_pick_is_told_to_readers_of_its_installation_even_after_the_end() -> None:
    feed, action = _feed(), an_action()
    pick = ShadowPick("cluster", BindingRef("dear", "p1", "dear", 0), "scored", 7)
    with (
        feed.reading(Interest(installation_id="inst-1")) as reader,
        feed.reading(Interest(installation_id="inst-2")) as other,
    ):
        feed.decided(action, a_decision(action))
        feed.completed(action, a_result(action))
        feed.shadowed(action, pick)
        heard = [(await reader.read()).event for _ in range(3)]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await other.read()
    assert heard[2] == Shadowed(action.id, action.caller.installation_id, pick)


async def test_a_slow_reader_misses_events_and_is_told_how_many() -> None:
    feed, action = _feed(), an_action()
    decided = a_decision(action)
    with feed.reading(Interest()) as reader:
        for _ in range(MOST_WAITING + 7):
            feed.decided(action, decided)
        kept = [await reader.read() for _ in range(MOST_WAITING)]
        assert {each.missed_count for each in kept} == {0}
        feed.decided(action, decided)
        assert (await reader.read()).missed_count == 7
        feed.decided(action, decided)
        assert (await reader.read()).missed_count == 0


async def test_without_readers_nothing_is_kept() -> None:
    feed, action = _feed(), an_action()
    feed.decided(action, a_decision(action))
    feed.settled(ledger_rows(action))
    with feed.reading(Interest(wants_attempts=True)) as reader:
        feed.completed(action, a_result(action))
        event = (await reader.read()).event
    assert isinstance(event, Completed)
    assert event.rows == ()
    assert event.charged_micros is None
    assert event.saved_micros is None


async def test_a_walk_is_told_as_it_goes_and_no_attempt_twice() -> None:
    feed, action = _feed(), an_action()
    started = AttemptStarted(1, "acme", "dear", cause="first")
    record = AttemptRecord(1, BindingRef("dear", "acme", "dear", 0), AttemptOutcome.FAILED)
    failed = AttemptFailed("acme", FailureClass.OVERLOADED, record, next_step="retry", wait_s=0.5)
    rows = ledger_rows(action)
    with (
        feed.reading(Interest(wants_attempts=True)) as reader,
        feed.reading(Interest()) as other,
    ):
        feed.began(action, started)
        feed.decided(action, a_decision(action))
        feed.began(action, started)
        feed.missed(action, failed)
        feed.settled([replace(row, attempt=number) for number, row in enumerate(rows, 1)])
        feed.completed(action, a_result(action))
        heard = [(await reader.read()).event for _ in range(5)]
        assert [type((await other.read()).event) for _ in range(2)] == [Explained, Completed]
    assert [type(event) for event in heard] == [Explained, Began, Lost, LedgerRow, Completed]
    row, result = heard[3:]
    assert isinstance(row, LedgerRow)
    assert row.attempt == 2
    assert isinstance(result, Completed)
    assert len(result.rows) == 2
