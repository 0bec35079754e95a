"""Tries settings of the linear head on inner folds, and judges the choice on folds it never saw.

For each fold the settings are chosen by heads that learnt from three of the other four and are
judged on the fourth. The choice is then fitted on all four and judged on the fold itself, so that
no figure is of rows that had a say in it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from services.cli.train_scorer.corpus import Corpus
from services.cli.train_scorer.fitting import Heads, fit_heads
from services.cli.train_scorer.judging import (
    PAIR,
    measured_columns,
    whole_rows,
    without_questions,
)
from services.cli.train_scorer.linear import FIXED, LinearSettings, fit_linear
from services.cli.train_scorer.metrics import recovery
from services.cli.train_scorer.tables import FOLDS
from services.scorer.model.artifact import Floats, Indices
from services.scorer.policy.heads import cluster_quality, nearest, piece_quality

TRIED = (
    LinearSettings(regions=0, surface_ease=1.0),
    LinearSettings(regions=0),
    *(
        LinearSettings(regions=regions, surface_ease=ease)
        for regions in (4, 8, 12)
        for ease in (1.0, 4.0, 9.0)
    ),
    LinearSettings(region_ridge=10.0),
    LinearSettings(region_ridge=40.0),
)


@dataclass(frozen=True, slots=True)
class Trial:
    """One choice of settings on the inner folds."""

    settings: LinearSettings
    values: tuple[float, ...]
    """By table; the mean over the inner folds."""
    chosen: int
    """Folds that chose it."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What was tried, and what choosing is worth on rows that had no say in it."""

    tables: tuple[str, ...]
    trials: tuple[Trial, ...]
    nested: tuple[float, ...]
    """By table, each fold with its own choice; over all rows."""


def search(
    corpus: Corpus,
    rows: Indices,
    tables: Sequence[str],
    vocabulary: int,
    seed: int,
    progress: Callable[[int, int], None],
    tried: Sequence[LinearSettings] = TRIED,
) -> Searched:
    """Return the trials on ``rows`` of some tables."""
    values = []
    quality = np.full(corpus.scores.shape, np.nan)
    chosen: Counter[int] = Counter()
    for fold in range(FOLDS):
        is_held = corpus.folds[rows] == fold
        values.append(inner_values(corpus, rows[~is_held], fold, tables, vocabulary, seed, tried))
        best = int(_known_mean(values[-1], axis=1).argmax())
        chosen[best] += 1
        final = _Trials(corpus, rows[~is_held], rows[is_held], vocabulary, seed)
        quality[final.held] = final.quality(tried[best])[final.held]
        progress(fold + 1, FOLDS)
    means = _known_mean(np.array(values), axis=0)
    return Searched(
        tables=tuple(tables),
        trials=tuple(
            Trial(settings, tuple(map(float, means[index])), chosen[index])
            for index, settings in enumerate(tried)
        ),
        nested=tuple(_value(corpus, rows, quality, name) for name in tables),
    )


def inner_values(
    corpus: Corpus,
    outside: Indices,
    fold: int,
    tables: Sequence[str],
    vocabulary: int,
    seed: int,
    tried: Sequence[LinearSettings],
) -> Floats:
    """Return what each setting is worth on each table, by the rows ``outside`` a fold alone."""
    inner = corpus.folds[outside] == (fold + 1) % FOLDS
    trials = _Trials(corpus, outside[~inner], outside[inner], vocabulary, seed)
    found = (trials.quality(settings) for settings in tried)
    return np.array(
        [[_value(corpus, trials.held, quality, name) for name in tables] for quality in found]
    )


class _Trials:
    """Heads of some rows, of which only the linear one changes."""

    def __init__(
        self, corpus: Corpus, learnt: Indices, held: Indices, vocabulary: int, seed: int
    ) -> None:
        self.held = held
        self._corpus = corpus
        self._seed = seed
        self._learnt = without_questions(corpus, learnt, held)
        self._heads: Heads = fit_heads(corpus, self._learnt, vocabulary, seed)
        clusters, pieces = self._heads.clusters, self._heads.pieces
        texts = [corpus.vectors[i] for i in held]
        nearby = [nearest(clusters, text.unit) for text in texts]
        far = self._heads.far_similarity
        self._far = np.array([bool(near.similarities[0] < far) for near in nearby])
        self._others = np.stack(
            [
                cluster_quality(clusters, near) + piece_quality(pieces, text.pieces)
                for near, text in zip(nearby, texts, strict=True)
            ]
        )

    def quality(self, settings: LinearSettings) -> Floats:
        """Return what serving would predict for the held rows; others stay NaN."""
        corpus, rows = self._corpus, self._learnt
        head = fit_linear(
            corpus.joint[rows], corpus.unit[rows], corpus.scores[rows], self._seed, settings
        )
        joint, regions = corpus.joint[self.held], head.regions
        linear = joint @ head.weights + head.offsets
        if regions is not None:
            near = np.flatnonzero(~self._far)
            inside = (corpus.unit[self.held[near]] @ regions.centroids.T).argmax(axis=1)
            linear[near] = np.einsum("nd,ndm->nm", joint[near], regions.weights[inside])
            linear[near] += regions.offsets[inside]
        mean = (self._others + linear) / 3
        mean[self._far] = (mean[self._far] + self._heads.means) / 2
        found = np.full(corpus.scores.shape, np.nan)
        found[self.held] = np.clip(mean, 0.0, 1.0)
        return found


def _value(corpus: Corpus, rows: Indices, quality: Floats, table: str) -> float:
    """Return how much of what the best pick gains over a single model the quality finds.

    Of a pair that is the APGR; of many models the share of the gap between best single and oracle.
    NaN where no row tells.
    """
    inside = np.array([i for i in rows if corpus.tables[i] == table], dtype=np.int64)
    inside = whole_rows(corpus, inside)
    if not inside.size:
        return math.nan
    columns = measured_columns(corpus, inside)
    scores, found = corpus.scores[inside][:, columns], quality[inside][:, columns]
    if len(columns) == PAIR:
        return recovery(found[:, 1] - found[:, 0], scores[:, 0], scores[:, 1]).apgr
    picked = float(scores[np.arange(len(inside)), found.argmax(axis=1)].mean())
    single, oracle = float(scores.mean(axis=0).max()), float(scores.max(axis=1).mean())
    return (picked - single) / (oracle - single) if oracle > single else 0.0


def _known_mean(values: Floats, axis: int) -> Floats:
    """Return the means of what is a number; 0 where nothing is."""
    is_known = ~np.isnan(values)
    total = np.where(is_known, values, 0.0).sum(axis=axis)
    means: Floats = total / np.maximum(is_known.sum(axis=axis), 1)
    return means


def told(searched: Searched) -> Sequence[str]:
    """Return the lines of a report about what was tried."""
    lines = [
        "## Settings tried on inner folds",
        "",
        "Of the linear head, everything else fixed. Each fold chooses by heads that learnt from",
        "three of the other four folds and are judged on the fourth: APGR, or the share of the gap",
        "between the best single model and the oracle. The last row judges each fold's own choice",
        "on that fold, which had no say in it.",
        "",
        f"| Regions | Surface ease | Region ridge | {' | '.join(searched.tables)} | Chosen |",
        f"| --- | --- | --- | {' | '.join('---' for _ in searched.tables)} | --- |",
    ]
    for trial in searched.trials:
        found = " | ".join(f"{value:.3f}" for value in trial.values)
        by = trial.settings
        mark = " (fixed)" if by == FIXED else ""
        ridge = f"{by.region_ridge:g}" if by.regions else "-"
        cells = f"{by.regions}{mark} | {by.surface_ease:g} | {ridge} | {found}"
        lines.append(f"| {cells} | {trial.chosen} of {FOLDS} |")
    nested = " | ".join(f"**{value:.3f}**" for value in searched.nested)
    return [*lines, f"| each fold's choice | | | {nested} | |", ""]
