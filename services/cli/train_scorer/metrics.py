"""Figures of merit; definitions are those of the published router benchmarks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from services.scorer.model.artifact import Floats, Indices

BOOTSTRAPS = 200
BINS = 10
CURVE_POINTS = 41
Point: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Recovery:
    """How fast sending prompts to the strong model recovers what it gains over the weak one."""

    apgr: float
    cpt50: float
    cpt80: float


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """How predicted chances compare with outcomes; a bin is (predicted, seen, rows)."""

    brier: float
    base_brier: float
    """Brier score of always saying the model's mean."""
    calibration_error: float
    bins: tuple[tuple[float, float, int], ...]


def recovery(predicted_gain: Floats, weak: Floats, strong: Floats) -> Recovery:
    """Return area and thresholds of the gain recovered when prompts go strong in that order.

    Where the strong model gains nothing over all rows there is nothing to recover: NaN.
    """
    order = np.argsort(-predicted_gain, kind="stable")
    gain = (strong - weak)[order]
    if gain.sum() <= 0:
        return Recovery(math.nan, math.nan, math.nan)
    curve = np.concatenate([[0.0], np.cumsum(gain) / gain.sum()])
    share = np.linspace(0.0, 1.0, len(curve))
    return Recovery(
        apgr=float(np.trapezoid(curve, share)),
        cpt50=float(share[np.argmax(curve >= 0.5)]),
        cpt80=float(share[np.argmax(curve >= 0.8)]),
    )


def accuracies(order: Floats, weak: Floats, strong: Floats) -> tuple[Point, ...]:
    """Return accuracy by the share of prompts that go strong, the first of ``order`` first."""
    ranked = np.argsort(-order, kind="stable")
    climbed = np.concatenate([[0.0], np.cumsum((strong - weak)[ranked])])
    at = np.linspace(0, len(ranked), CURVE_POINTS).round().astype(np.int64)
    means = (weak.sum() + climbed[at]) / len(ranked)
    return tuple((float(k) / len(ranked), float(y)) for k, y in zip(at, means, strict=True))


def interval(rows: int, seed: int, figure: Callable[[Indices], float]) -> Interval:
    """Return ``figure`` of all rows with the spread that resampled rows give it."""
    source = np.random.default_rng(seed)
    drawn = [figure(source.integers(rows, size=rows)) for _ in range(BOOTSTRAPS)]
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return Interval(figure(np.arange(rows)), float(low), float(high))


def reliability(predicted: Floats, seen: Floats, means: Floats) -> Reliability:
    """Return how well chances match outcomes; ``means`` is what a guess without text would say."""
    edges = np.clip((predicted * BINS).astype(np.int64), 0, BINS - 1)
    bins = tuple(
        (float(predicted[inside].mean()), float(seen[inside].mean()), int(inside.sum()))
        for inside in (edges == b for b in range(BINS))
        if inside.any()
    )
    total = sum(rows for *_, rows in bins)
    return Reliability(
        brier=float(np.mean((predicted - seen) ** 2)),
        base_brier=float(np.mean((means - seen) ** 2)),
        calibration_error=sum(abs(p - s) * rows for p, s, rows in bins) / total,
        bins=bins,
    )
