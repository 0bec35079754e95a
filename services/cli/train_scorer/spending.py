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
_GRID = 2_001
"""Costs at which heights are averaged."""


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
    over_hull_log: float
    """The same where each doubling of the cost counts alike."""
    enough_usd: float | None
    """Least cost of 98 % of the best single model's accuracy; None: never reached."""

    def accuracy_at(self, usd: float) -> float:
        """Return the accuracy for so much money, between the turns of the dial."""
        costs, accuracies = zip(*self.curve, strict=True)
        return float(np.interp(usd, costs, accuracies))


def judge_spending(corpus: Corpus, rows: Indices, quality: Floats) -> CostFigures | None:
    """Return the figures of whole rows of a table; None where it states no costs.

    What an answer will cost is guessed from the folds that a row is not in.
    """
    columns = priced(corpus, rows)
    if len(columns) < PAIR:
        return None
    guessed = np.zeros((len(rows), len(columns)))
    for fold in range(FOLDS):
        held = corpus.folds[rows] == fold
        learnt = rows if held.all() else rows[~held]
        guessed[held] = guessed_costs(corpus, learnt, rows[held], columns)
    return figures_of(corpus, rows, quality, guessed)


def figures_of(corpus: Corpus, rows: Indices, quality: Floats, guessed: Floats) -> CostFigures:
    """Return the figures of whole rows with costs; ``guessed`` has a column per priced model."""
    columns = priced(corpus, rows)
    costs, scores = _costs(corpus)[rows][:, columns], corpus.scores[rows][:, columns]
    dearest = float(guessed.mean(axis=0).max())
    relative = guessed / dearest if dearest > 0 else guessed
    points = set()
    for weight in WEIGHTS:
        picks = (quality[rows][:, columns] - weight * relative).argmax(axis=1)
        at = np.arange(len(rows)), picks
        points.add((1_000 * float(costs[at].mean()), float(scores[at].mean())))
    curve = sorted(points)
    singles = {
        corpus.models[column]: (1_000 * float(costs[:, m].mean()), float(scores[:, m].mean()))
        for m, column in enumerate(columns)
    }
    wanted = ENOUGH * max(accuracy for _, accuracy in singles.values())
    hull = upper_hull(list(singles.values()))
    return CostFigures(
        table=corpus.tables[rows[0]],
        rows=len(rows),
        curve=tuple(curve),
        singles=singles,
        over_hull=height_over(curve, hull),
        over_hull_log=height_over(curve, hull, is_log=True),
        enough_usd=min((usd for usd, accuracy in curve if accuracy >= wanted), default=None),
    )


def guessed_costs(corpus: Corpus, learnt: Indices, rows: Indices, columns: Sequence[int]) -> Floats:
    """Return what the answers to ``rows`` would cost: a share for the answer, one by length.

    Both shares of a model are those that fit its costs in ``learnt`` best.
    """
    spent = _costs(corpus)[learnt][:, columns]
    shares, *_ = np.linalg.lstsq(_by_length(corpus, learnt), spent)
    guessed: Floats = np.maximum(_by_length(corpus, rows) @ shares, 0.0)
    return guessed


def _by_length(corpus: Corpus, rows: Indices) -> Floats:
    return np.array([(1.0, len(corpus.prompts[i])) for i in rows]).reshape(-1, PAIR)


def _costs(corpus: Corpus) -> Floats:
    if corpus.costs is None:
        raise ValueError("the tables state no costs")
    return corpus.costs


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


def height_over(curve: Sequence[Point], hull: Sequence[Point], *, is_log: bool = False) -> float:
    """Return how far a curve lies above a hull on average, over the costs that it spans.

    With ``is_log`` the mean is taken over the logarithm of the cost; what costs nothing has none.
    """
    paid = [point for point in curve if point[0] > 0] if is_log else []
    usd, accuracy = (np.array(axis) for axis in zip(*(paid or curve), strict=True))
    corner_usd, corner_accuracy = (np.array(axis) for axis in zip(*hull, strict=True))
    spread = np.geomspace if paid else np.linspace
    grid = spread(usd[0], usd[-1], _GRID)
    above = np.interp(grid, usd, accuracy) - np.interp(grid, corner_usd, corner_accuracy)
    return float(above.mean())


def _slope(first: Point, second: Point) -> float:
    width = second[0] - first[0]
    return (second[1] - first[1]) / width if width > 0 else float("inf")


def priced(corpus: Corpus, rows: Indices) -> list[int]:
    """Return the columns of a table's models whose every answer has a cost."""
    costs = corpus.costs
    if costs is None:
        return []
    return [m for m in measured_columns(corpus, rows) if not np.isnan(costs[rows][:, m]).any()]
