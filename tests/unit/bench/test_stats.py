from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from tests.bench.stats import Summary, difference, median, percentile, ratio, summary

samples = st.lists(st.floats(min_value=0, max_value=1e6), min_size=1, max_size=50)
percents = st.floats(min_value=0.5, max_value=100)


def test_percentiles_are_nearest_ranks() -> None:
    hundred = [float(number) for number in range(1, 101)]
    assert summary(reversed(hundred)) == Summary(100, 50.0, 99.0, 100.0)
    assert summary([7.0]) == Summary(1, 7.0, 7.0, 7.0)


def test_no_samples_make_no_figures() -> None:
    assert summary([]) == Summary(0, None, None, None)
    assert median([]) is None


@given(samples, percents)
def test_enough_samples_are_no_larger_than_a_percentile(
    values: list[float], percent: float
) -> None:
    found = percentile(sorted(values), percent)
    assert found in values
    assert sum(value <= found for value in values) >= len(values) * percent / 100
    assert sum(value < found for value in values) < math.ceil(len(values) * percent / 100)


@given(samples, percents, percents)
def test_a_higher_percentile_is_never_smaller(
    values: list[float], one: float, other: float
) -> None:
    low, high = sorted((one, other))
    assert percentile(sorted(values), low) <= percentile(sorted(values), high)


def test_missing_figures_stay_missing() -> None:
    assert median([None, 3.0, None, 1.0, 2.0]) == 2.0
    assert difference(2.0, None) is None
    assert ratio(None, 2.0) is None
    assert ratio(2.0, 0.0) is None
    assert difference(2.5, 2.0) == 0.5
    assert ratio(3.0, 2.0) == 1.5
