"""The running mean of a model's risk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.risk import NEWEST_SHARE, running_mean

RISKS = st.floats(0, 1)


def mean_of(risks: list[float]) -> float | None:
    mean = None
    for index, risk in enumerate(risks):
        mean = running_mean(mean, risk, index)
    return mean


def test_the_first_actions_weigh_alike_and_then_the_newest_keeps_its_share() -> None:
    assert mean_of([0.4]) == 0.4
    assert mean_of([0.0, 0.5, 1.0]) == pytest.approx(0.5)
    assert mean_of([0.0, 0.0, 0.0, 1.0]) == pytest.approx(NEWEST_SHARE)
    assert mean_of([0.0] * 99 + [1.0]) == pytest.approx(NEWEST_SHARE)


@given(st.lists(RISKS, min_size=1, max_size=100))
def test_a_mean_stays_within_what_was_seen(risks: list[float]) -> None:
    mean = mean_of(risks)
    assert mean is not None
    assert min(risks) - 1e-12 <= mean <= max(risks) + 1e-12


@given(RISKS, st.integers(0, 300))
def test_a_model_seen_for_the_first_time_starts_with_its_risk(risk: float, index: int) -> None:
    assert running_mean(None, risk, index) == risk
