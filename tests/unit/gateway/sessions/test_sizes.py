"""What refusals for length teach about estimates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.sessions.model import Session
from gateway.sessions.sizes import MOST_RATIO, correct_estimate
from tests.unit.gateway.sessions.made import ADDRESS

EMPTY = Session(ADDRESS)
sizes = st.integers(1, 10**7)


@given(st.integers(1, 10**6), st.floats(1, MOST_RATIO - 0.01))
def test_a_prompt_like_the_refused_one_does_not_fit_there_any_more(
    estimated: int, missed_by: float
) -> None:
    window = int(estimated * missed_by)
    corrected = correct_estimate(EMPTY, estimated, window)
    assert estimated * corrected.fit_ratio > window


@given(sizes, sizes, sizes, sizes)
def test_estimates_are_only_ever_raised_and_within_bounds(
    estimated: int, window: int, again: int, other: int
) -> None:
    once = correct_estimate(EMPTY, estimated, window)
    twice = correct_estimate(once, again, other)
    assert 1 <= once.fit_ratio <= twice.fit_ratio <= MOST_RATIO
    assert correct_estimate(once, estimated, window) == once


@pytest.mark.parametrize(("estimated", "window"), [(0, 100), (100, 0)])
def test_what_is_not_known_teaches_nothing(estimated: int, window: int) -> None:
    assert correct_estimate(EMPTY, estimated, window) == EMPTY
