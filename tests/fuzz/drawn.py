"""Campaigns drawn by hypothesis: inputs by number, and the smallest input for each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz.checks import check
from tests.fuzz.choices import MOST, Choices
from tests.fuzz.findings import finding_of
from tests.fuzz.inputs import make_input

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fuzz.findings import Finding
    from tests.fuzz.inputs import Target

BATCH = 2_000
"""Examples of one run: hypothesis remembers all of a run, and stops at its first finding."""

NUMBERS = st.lists(st.integers(0, MOST), min_size=8, max_size=48)
"""Decisions of one input."""


def campaign(
    target: Target, examples: int, first_seed: int
) -> Iterator[tuple[int, Finding | None]]:
    """Try ``examples`` inputs; yield after each batch its size and what it found."""
    tried = 0
    while tried < examples:
        size = min(BATCH, examples - tried)
        finding = batch(target, size, first_seed + tried)
        tried += size
        yield size, finding


def batch(target: Target, examples: int, from_seed: int) -> Finding | None:
    """Try one batch and return the smallest input that broke something; None: all held."""
    last: list[Finding] = []

    @seed(from_seed)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(NUMBERS)
    def attempt(numbers: list[int]) -> None:
        data = make_input(target, Choices(numbers))
        try:
            check(target, data)
        except Exception as error:
            last[:] = [finding_of(target, data, error)]
            raise

    try:
        attempt()
    except Exception:
        if not last:
            raise  # no reader broke: the drawing itself did
    return last[0] if last else None
