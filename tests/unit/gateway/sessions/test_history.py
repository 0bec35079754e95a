from __future__ import annotations

import pytest

from gateway.sessions.history import (
    COMPARED_WITHIN_S,
    MAX_ALIASES,
    MAX_SUMMARY_BYTES,
    Shortening,
    carry_over,
    is_trimmed,
    latest_thread,
    observe_history,
    remember_thread,
    shortened,
)
from gateway.sessions.model import History, Strike
from gateway.sessions.risks import mean_risk, record_risks
from gateway.sessions.strikes import strike_model, struck_models
from tests.unit.gateway.sessions.made import EMPTY, NOW, pinned


@pytest.mark.spec("TRN-59")
@pytest.mark.parametrize(
    ("before", "after", "is_cut"),
    [
        ((8, 0), (7, 0), True),
        ((7, 0), (6, 0), False),
        ((9, 4), (9, 3), True),
        ((9, 4), (8, 3), True),
        ((7, 4), (7, 3), False),
        ((7, 4), (8, 3), True),
        ((9, 4), (9, 4), False),
        ((9, 4), (11, 5), False),
    ],
)
def test_a_history_that_shrinks_was_cut(
    before: tuple[int, int], after: tuple[int, int], is_cut: bool
) -> None:
    session = observe_history(EMPTY, History(*before, NOW))
    assert is_trimmed(session, History(*after, NOW + 1)) is is_cut
    assert observe_history(session, History(*after, NOW + 1)).history_epoch == int(is_cut)


@pytest.mark.spec("TRN-59")
def test_only_recent_histories_are_compared() -> None:
    session = observe_history(EMPTY, History(20, 0, NOW))
    assert is_trimmed(session, History(2, 0, NOW + COMPARED_WITHIN_S - 1))
    assert not is_trimmed(session, History(2, 0, NOW + COMPARED_WITHIN_S))
    assert not is_trimmed(EMPTY, History(2, 0, NOW))


def test_what_was_seen_later_stays() -> None:
    session = observe_history(EMPTY, History(20, 0, NOW))
    assert observe_history(session, History(2, 0, NOW - 1)) == session


@pytest.mark.parametrize("name", ["summary", "compaction"])
def test_what_shortens_a_history_is_kept_unless_it_is_too_large(name: str) -> None:
    session = shortened(EMPTY, Shortening(**{name: b"s" * MAX_SUMMARY_BYTES}))
    assert len(getattr(session, name)) == MAX_SUMMARY_BYTES
    assert session.history_epoch == EMPTY.history_epoch + 1, "no cache begins like it"
    dropped = shortened(session, Shortening(**{name: b"s" * (MAX_SUMMARY_BYTES + 1)}))
    assert getattr(dropped, name) == b""


def test_without_news_what_is_kept_stays_and_caches_with_it() -> None:
    session = shortened(EMPTY, Shortening(b"summary", b"compaction"))
    assert shortened(session, Shortening()) == session
    later = shortened(session, Shortening(summary=b""))
    assert (later.summary, later.compaction) == (b"", b"compaction")


def test_a_conversation_knows_the_latest_thread_of_each_role() -> None:
    session = remember_thread(EMPTY, "default_high", b"a", NOW)
    session = remember_thread(session, "default_low", b"b", NOW)
    session = remember_thread(session, "default_high", b"c", NOW + 1)
    assert latest_thread(session, "default_high") == b"c"
    assert latest_thread(session, "default_low") == b"b"
    assert latest_thread(session, "default") is None
    for number in range(MAX_ALIASES + 3):
        session = remember_thread(session, f"r{number}", b"d", NOW)
    assert len(session.aliases) == MAX_ALIASES


def test_a_thread_that_goes_on_under_another_key_keeps_what_was_learned() -> None:
    earlier = strike_model(pinned(), Strike("bad", "x"), NOW)
    earlier = record_risks(earlier, "act_1", {"m": 0.3})
    thread = carry_over(strike_model(EMPTY, Strike("worse", "x"), NOW), earlier, NOW)
    assert struck_models(thread, NOW) == {"bad", "worse"}
    assert mean_risk(thread, "m") == 0.3
    assert thread.pin is None
    assert carry_over(thread, earlier, NOW) == thread
