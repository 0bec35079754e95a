"""Medians and percentiles of samples. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Summary:
    """Percentiles of some samples, in their unit; None without samples."""

    count: int
    p50: float | None
    p99: float | None
    largest: float | None


def summary(samples: Iterable[float]) -> Summary:
    """Return the percentiles of `samples`, in any order."""
    ordered = sorted(samples)
    if not ordered:
        return Summary(0, None, None, None)
    return Summary(len(ordered), percentile(ordered, 50), percentile(ordered, 99), ordered[-1])


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Return the nearest-rank percentile of a sorted, non-empty sequence; `percent` in (0, 100].

    It is always one of the samples: at least `percent` of them are no larger.
    """
    rank = math.ceil(len(ordered) * percent / 100)
    return ordered[max(rank, 1) - 1]


def median(values: Iterable[float | None]) -> float | None:
    """Return the median of the values that are there; None when none is."""
    present = [value for value in values if value is not None]
    return statistics.median(present) if present else None


def difference(value: float | None, base: float | None) -> float | None:
    """Return `value` less `base`; None when either is missing."""
    return None if value is None or base is None else value - base


def ratio(value: float | None, base: float | None) -> float | None:
    """Return `value` by `base`; None when either is missing or the base is not positive."""
    return None if value is None or base is None or base <= 0 else value / base
