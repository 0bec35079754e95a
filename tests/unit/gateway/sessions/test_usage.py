from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.sessions.history import observe_history
from gateway.sessions.model import CacheState, History, Strikes, TokenCounts
from gateway.sessions.usage import (
    MAX_USES,
    cache_state,
    cache_ttl_s,
    is_model_switched,
    is_saturated,
    prefix_tokens,
    record_use,
)
from services.domain.vocab import WireFamily
from services.domain.wire.model import CacheMark, Request, Role, SystemBlock, Text, Turn
from tests.unit.gateway.sessions.made import EMPTY, NOW, choice, pinned, use

USED = record_use(pinned(), use(), "cluster")


@pytest.mark.spec("TRN-46")
def test_what_cannot_be_counted_changes_nothing() -> None:
    assert record_use(EMPTY, use(), "cluster") == EMPTY
    assert record_use(pinned(), use(), "requested") == pinned()
    assert record_use(pinned(), use(tokens=TokenCounts()), "cluster") == pinned()


@pytest.mark.spec("TRN-46")
def test_the_latch_of_switches_never_opens_again() -> None:
    assert not USED.has_ever_switched
    again = record_use(USED, use(at_unix_s=NOW + 20), "cluster")
    assert not again.has_ever_switched
    switched = record_use(again, use("small", at_unix_s=NOW + 40), "cluster")
    assert switched.has_ever_switched
    assert record_use(switched, use("small", at_unix_s=NOW + 60), "cluster").has_ever_switched


def test_the_provider_that_served_becomes_the_pins_and_errors_in_a_row_end() -> None:
    failing = replace(pinned(), strikes=Strikes(upstream_errors=1, overloads=1))
    served = record_use(failing, use(provider="globex"), "cluster")
    assert served.pin is not None
    assert served.pin.choice.provider == "globex"
    assert served.strikes == Strikes()
    rescued = record_use(pinned(), use("small", "globex"), "cluster")
    assert rescued.pin == pinned().pin
    assert rescued.last_served_model == "small"


def test_the_latest_answer_is_first_even_when_it_is_recorded_late() -> None:
    late = record_use(USED, use("small", at_unix_s=NOW - 60), "cluster")
    assert late.last_served_model == "large"
    assert [each.model_id for each in late.uses] == ["large", "small"]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1000)), max_size=40))
def test_few_answers_are_kept(answers: list[tuple[int, int]]) -> None:
    session = pinned()
    for model, at in answers:
        session = record_use(session, use(f"m{model}", at_unix_s=NOW + at), "cluster")
    assert len(session.uses) <= MAX_USES
    ends = [each.ended_unix_s for each in session.uses]
    assert ends == sorted(ends, reverse=True)


@pytest.mark.spec("TRN-50")
def test_reasoning_is_foreign_after_a_switch_or_when_nothing_is_known() -> None:
    assert not is_model_switched(EMPTY, "large", is_history_known=True)
    assert not is_model_switched(USED, "large", is_history_known=True)
    assert is_model_switched(USED, "small", is_history_known=True)
    assert is_model_switched(USED, "large", is_history_known=False)
    switched = replace(USED, has_ever_switched=True)
    assert is_model_switched(switched, "large", is_history_known=True)


@pytest.mark.spec("TRN-53")
def test_only_a_confirmed_output_limit_saturates() -> None:
    long = TokenCounts(fresh=1, output=50_000)
    assert not is_saturated(record_use(pinned(), use(tokens=long), "cluster"))
    limited = record_use(pinned(), use(is_output_limited=True), "cluster")
    assert is_saturated(limited)
    assert limited.last_output_limit_unix_s == NOW + 10
    assert not is_saturated(record_use(limited, use(at_unix_s=NOW + 20), "cluster"))


@pytest.mark.spec("PLN-12", "PLN-13")
def test_a_cache_is_warm_until_exactly_its_end() -> None:
    assert cache_state(USED, choice(), NOW + 299.9) is CacheState.WARM
    assert cache_state(USED, choice(), NOW + 300) is CacheState.COLD
    assert cache_state(pinned(), choice(), NOW) is CacheState.COLD
    assert cache_state(USED, choice(provider="globex"), NOW) is CacheState.COLD


def test_an_answer_that_touched_no_cache_left_none() -> None:
    fresh = record_use(pinned(), use(tokens=TokenCounts(fresh=10, output=1)), "cluster")
    assert cache_state(fresh, choice(), NOW) is CacheState.COLD
    assert prefix_tokens(fresh, choice(), 1000) == 0


@pytest.mark.spec("TRN-60")
def test_a_cut_history_breaks_the_cache() -> None:
    long = observe_history(USED, History(20, 5, NOW))
    cut = observe_history(long, History(3, 0, NOW + 1))
    assert cache_state(cut, choice(), NOW + 2) is CacheState.BROKEN
    assert prefix_tokens(cut, choice(), 50_000) == 0
    renewed = record_use(cut, use(at_unix_s=NOW + 3, epoch=cut.history_epoch), "cluster")
    assert cache_state(renewed, choice(), NOW + 4) is CacheState.WARM


@pytest.mark.spec("PLN-15")
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_prefix_is_what_was_read_and_written_within_the_prompt(
    read: int, write: int, prompt: int
) -> None:
    tokens = TokenCounts(fresh=1, cache_read=read, cache_write=write)
    session = record_use(pinned(), use(tokens=tokens), "cluster")
    assert prefix_tokens(session, choice(), prompt) == min(read + write, prompt)


@pytest.mark.spec("PLN-16")
def test_an_unknown_prefix_is_not_zero() -> None:
    assert prefix_tokens(pinned(), choice(), 1000) is None


def test_a_long_cache_is_had_by_asking_where_it_is_honoured() -> None:
    def asked(ttl: str) -> Request:
        return Request(
            family=WireFamily.ANTHROPIC,
            model="m",
            is_stream=False,
            system=(SystemBlock("be kind", cache=CacheMark(b"{}")),),
            turns=(Turn(Role.USER, (Text("hi", CacheMark(b"{}", ttl)), Text("there"))),),
        )

    assert cache_ttl_s(asked("1h"), has_long_cache=True) == 3600
    assert cache_ttl_s(asked("1h"), has_long_cache=False) == 300
    assert cache_ttl_s(asked(""), has_long_cache=True) == 300
