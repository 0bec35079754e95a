"""The figures of a run, asked for by what they mean. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tests.bench.shapes import Case, LoadFigures, Measurement
from tests.bench.stats import median

DIRECT = "direct"
BASE = "proxy"
FLOOR = "edge+hops"
"""What an action cannot be below that is decided apart."""

Pick = Callable[[LoadFigures], float | None]


class Book:
    """Keeps measurements; every value is the median over the rounds."""

    def __init__(self, measurements: Iterable[Measurement]) -> None:
        self._figures: dict[tuple[str, Case], list[LoadFigures]] = {}
        for entry in measurements:
            self._figures.setdefault((entry.target, entry.case), []).append(entry.figures)

    def targets(self) -> tuple[str, ...]:
        """Return the names of the targets, in the order they were first measured."""
        return tuple(dict.fromkeys(target for target, _ in self._figures))

    def has(self, target: str, case: Case) -> bool:
        """Tell whether the target was measured so."""
        return (target, case) in self._figures

    def value(self, target: str, case: Case, pick: Pick) -> float | None:
        """Return the median of a figure; None when it was not measured."""
        return median(pick(figures) for figures in self._figures.get((target, case), ()))

    def errors(self, target: str, cases: Iterable[Case]) -> int:
        """Return how many requests of these loads failed, over all rounds."""
        return sum(
            figures.errors for case in cases for figures in self._figures.get((target, case), ())
        )

    def rss_bytes(self, target: str) -> int:
        """Return the most memory the target held at the end of a load."""
        held = (
            figures.rss_bytes
            for (name, _), rounds in self._figures.items()
            if name == target
            for figures in rounds
        )
        return max(held, default=0)


def base_case(case: Case) -> Case:
    """Return the case that targets without translation are measured on, for comparison."""
    return Case(case.shape, case.route.same_dialect, case.clients)


def rate(figures: LoadFigures) -> float | None:
    """Return answers per second."""
    return figures.answered / figures.seconds if figures.answered else None


def cpu_ms(figures: LoadFigures) -> float | None:
    """Return CPU milliseconds of the target per answer; None when it was not measured."""
    if not figures.answered or not figures.cpu_seconds:
        return None
    return figures.cpu_seconds / figures.answered * 1e3
