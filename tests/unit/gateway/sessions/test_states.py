from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.sessions.history import carry_over
from gateway.sessions.states import MAX_STATES, MAX_STATES_BYTES, keep_states
from services.domain.vocab import WireFamily
from services.domain.wire.model import ProviderState
from services.domain.wire.state.kept import Kept, Place
from tests.unit.gateway.sessions.made import EMPTY, NOW


def kept(name: str, payload: str = "x") -> Kept:
    """Return the state of a call."""
    return Kept(Place.CALL, name, "", ProviderState(WireFamily.GEMINI, "signature", payload))


@pytest.mark.spec("XLT-181")
def test_state_is_kept_once_the_latest_last() -> None:
    first = keep_states(EMPTY, [kept("a"), kept("b")], NOW)
    again = keep_states(first, [kept("a")], NOW + 1)
    assert [each.call_id for each in again.states] == ["b", "a"]
    assert again.last_seen_unix_s == NOW + 1
    assert keep_states(again, [], NOW + 2) is again
    assert keep_states(again, [kept("a")], NOW + 1) == again


@pytest.mark.spec("XLT-181")
@given(st.lists(st.integers(1, MAX_STATES_BYTES + 10), max_size=12))
def test_a_session_stays_small_and_drops_the_oldest(sizes: list[int]) -> None:
    session = EMPTY
    for at, size in enumerate(sizes):
        session = keep_states(session, [kept(f"{at:02}", "x" * size)], NOW)
        assert sum(len(each.state.payload) for each in session.states) <= MAX_STATES_BYTES
    if sizes and sizes[-1] < MAX_STATES_BYTES - 10:
        assert session.states[-1].call_id == f"{len(sizes) - 1:02}"


@pytest.mark.spec("XLT-181")
def test_there_are_never_too_many() -> None:
    session = keep_states(EMPTY, [kept(str(number)) for number in range(MAX_STATES + 5)], NOW)
    assert len(session.states) == MAX_STATES
    assert session.states[0].call_id == "5"


@pytest.mark.spec("XLT-181")
def test_a_thread_that_goes_on_elsewhere_takes_its_state_along() -> None:
    earlier = keep_states(EMPTY, [kept("a")], NOW)
    assert carry_over(EMPTY, earlier, NOW).states == earlier.states
    own = replace(EMPTY, states=(kept("b"),))
    assert carry_over(own, earlier, NOW).states == own.states
