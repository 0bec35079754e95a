"""Judges how accuracy grows with money where a table says what each answer cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from services.cli.train_scorer.corpus import Corpus
from services.cli.train_scorer.judging import PAIR, measured_columns
from services.cli.train_scorer.metrics import Point
from services.cli.train_scorer.tables import FOLDS
from services.scorer.model.artifact import Floats, Indices

WEIGHTS = (0.0, *np.geomspace(1e-3, 1e3, 120).tolist())
"""Accuracy that a model must add for the price of the dearest: the dial, turned 121 times."""
ENOUGH = 0.98


@dataclass(frozen=True, slots=True)
class CostFigures:
    """Accuracy by cost, USD for 1,000 prompts, beside the single models."""

    table: str
    rows: int
    curve: tuple[Point, ...]
    """Cost and accuracy at each turn of the dial, the cheapest first."""
    singles: Mapping[str, Point]
    over_hull: float
    """Mean accuracy above the line between single models, over the costs that the dial reaches."""
    enough_usd: float | None
    """Least cost of 98 % of the best single model's accuracy; None: never reached."""


def judge_spending(corpus: Corpus, rows: Indices, quality: Floats) -> CostFigures | None:
    """Return the figures of whole rows of a table; None where it states no costs.

    A model's price is its mean cost in the folds that a row is not in.
    """
    columns = _priced(corpus, rows)
    if corpus.costs is None or len(columns) < PAIR:
        return None
    scores, costs = corpus.scores[rows][:, columns], corpus.costs[rows][:, columns]
    expected = _expected(costs, corpus.folds[rows])
    expected = expected / expected.max()
    curve = []
    for weight in WEIGHTS:
        picks = (quality[rows][:, columns] - weight * expected).argmax(axis=1)
        at = np.arange(len(rows)), picks
        curve.append((1_000 * float(costs[at].mean()), float(scores[at].mean())))
    curve.sort()
    singles = {
        corpus.models[column]: (1_000 * float(costs[:, m].mean()), float(scores[:, m].mean()))
        for m, column in enumerate(columns)
    }
    wanted = ENOUGH * max(accuracy for _, accuracy in singles.values())
    return CostFigures(
        table=corpus.tables[rows[0]],
        rows=len(rows),
        curve=tuple(curve),
        singles=singles,
        over_hull=height_over(curve, upper_hull(list(singles.values()))),
        enough_usd=min((usd for usd, accuracy in curve if accuracy >= wanted), default=None),
    )


def upper_hull(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return the corners that mixing single models by chance can reach at best, cheapest first."""
    hull: list[Point] = []
    for point in sorted(points):
        if hull and point[1] <= hull[-1][1]:
            continue
        while len(hull) >= PAIR and _slope(hull[-2], hull[-1]) <= _slope(hull[-2], point):
            hull.pop()
        hull.append(point)
    return tuple(hull)


def height_over(curve: Sequence[Point], hull: Sequence[Point]) -> float:
    """Return how far a curve lies above a hull on average, over the costs that it spans."""
    usd, accuracy = (np.array(axis) for axis in zip(*curve, strict=True))
    corner_usd, corner_accuracy = (np.array(axis) for axis in zip(*hull, strict=True))
    above = accuracy - np.interp(usd, corner_usd, corner_accuracy)
    width = float(usd[-1] - usd[0])
    return float(np.trapezoid(above, usd)) / width if width > 0 else float(above.mean())


def _slope(first: Point, second: Point) -> float:
    width = second[0] - first[0]
    return (second[1] - first[1]) / width if width > 0 else float("inf")


def _priced(corpus: Corpus, rows: Indices) -> list[int]:
    costs = corpus.costs
    if costs is None:
        return []
    return [m for m in measured_columns(corpus, rows) if not np.isnan(costs[rows][:, m]).any()]


def _expected(costs: Floats, folds: Indices) -> Floats:
    expected = np.broadcast_to(costs.mean(axis=0), costs.shape).copy()
    for fold in range(FOLDS):
        held = folds == fold
        if held.any() and not held.all():
            expected[held] = costs[~held].mean(axis=0)
    return expected
