"""Judges the recipe on rows that it did not learn from, with the code that serves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from services.cli.train_scorer.baselines import tfidf_gain
from services.cli.train_scorer.corpus import Corpus
from services.cli.train_scorer.curves import Anchor, fit_curve
from services.cli.train_scorer.fitting import Heads, fit_heads
from services.cli.train_scorer.metrics import (
    Interval,
    Point,
    Recovery,
    Reliability,
    accuracies,
    interval,
    recovery,
    reliability,
)
from services.cli.train_scorer.tables import FOLDS, fold_of
from services.scorer.model.artifact import (
    Artifact,
    ArtifactKnobs,
    Curve,
    EmbedderRecipe,
    Floats,
    Indices,
)
from services.scorer.policy.curve import calibrated, chance, need
from services.scorer.policy.heads import predict

PAIR = 2
"""Models of a table that is judged as weak against strong; the first column is the weak one."""


@dataclass(frozen=True, slots=True)
class PairFigures:
    """A strong/weak table: how well the predicted gain sorts it, beside what needs no text."""

    table: str
    rows: int
    recovery: Recovery
    apgr: Interval
    length: Recovery
    groups: Recovery | None
    """Out-of-fold mean gain of the group; None for a table without groups."""
    oracle: Recovery
    tfidf: Recovery
    """Ridge on TF-IDF of words and pairs of words, fitted on the other folds of that table."""
    weak: float
    """Accuracy of always the weak model, the cheapest choice."""
    strong: float
    """Accuracy of always the strong one."""
    curves: Mapping[str, tuple[Point, ...]]
    """Accuracy by share of prompts that go to the strong model."""


@dataclass(frozen=True, slots=True)
class PickFigures:
    """A table of many models: accuracy of the predicted best against the best single model."""

    table: str
    rows: int
    picked: float
    best_single: float
    oracle: float
    gain: Interval


@dataclass(frozen=True, slots=True)
class RiskFigures:
    """How well risks are calibrated, out of fold: by cells, and by the curve and a skill alone."""

    measured: Reliability
    curve: Reliability | None


def out_of_fold(
    corpus: Corpus, rows: Indices, folds: Indices, vocabulary: int, seed: int
) -> Floats:
    """Return each row's qualities from heads that saw neither its fold nor its question.

    ``folds`` has an entry per row of the corpus. Rows that are not in ``rows`` stay NaN.
    """
    quality = np.full(corpus.scores.shape, np.nan)
    for fold in range(FOLDS):
        held = rows[folds[rows] == fold]
        if not held.size:
            continue
        learnt = without_questions(corpus, rows[folds[rows] != fold], held)
        quality[held] = qualities(corpus, held, fit_heads(corpus, learnt, vocabulary, seed))
    return quality


def folds_of_groups(corpus: Corpus) -> Indices:
    """Return folds in which no group is split; a row without a group goes by its question."""
    return np.array(
        [
            fold_of(group) if group else int(fold)
            for group, fold in zip(corpus.groups, corpus.folds, strict=True)
        ],
        dtype=np.int64,
    )


def without_questions(corpus: Corpus, rows: Indices, held: Indices) -> Indices:
    """Return ``rows`` less those whose question is among the held-out ones."""
    refused = {corpus.stems[i] for i in held}
    return np.array([i for i in rows if corpus.stems[i] not in refused], dtype=np.int64)


def qualities(corpus: Corpus, rows: Indices, heads: Heads) -> Floats:
    """Return what serving would predict for some rows."""
    artifact = bare_artifact(corpus.models, heads)
    return np.stack([predict(artifact, corpus.vectors[i]).quality for i in rows])


def bare_artifact(models: tuple[str, ...], heads: Heads, curve: Curve | None = None) -> Artifact:
    """Return fitted heads in the form that serving reads; for judging only, it has no recipe."""
    count, width = heads.clusters.centroids.shape
    return Artifact(
        version="unnamed",
        digest="",
        embedder=EmbedderRecipe("", width, 0, "", np.zeros(width)),
        measured=models,
        aliases={model: m for m, model in enumerate(models)},
        means=heads.means,
        clusters=heads.clusters,
        knobs=ArtifactKnobs((0.5,) * count, (0.0,) * count),
        linear=heads.linear,
        pieces=heads.pieces,
        curve=curve,
        far_similarity=heads.far_similarity,
    )


def judge_pair(corpus: Corpus, rows: Indices, quality: Floats, seed: int) -> PairFigures:
    """Return the figures of a table with two measured models."""
    columns = measured_columns(corpus, rows)
    weak, strong = corpus.scores[rows][:, columns].T
    gain = quality[rows][:, columns[1]] - quality[rows][:, columns[0]]
    lengths = np.array([len(corpus.prompts[i]) for i in rows], dtype=np.float64)
    by_group = _group_gain(corpus, rows, strong - weak)

    def apgr(drawn: Indices) -> float:
        return recovery(gain[drawn], weak[drawn], strong[drawn]).apgr

    by_words = tfidf_gain(corpus, rows, strong - weak)
    orders = {"artifact": gain, "TF-IDF": by_words, "length": lengths, "oracle": strong - weak}
    return PairFigures(
        table=corpus.tables[rows[0]],
        rows=len(rows),
        recovery=recovery(gain, weak, strong),
        apgr=interval(len(rows), seed, apgr),
        length=recovery(lengths, weak, strong),
        groups=None if by_group is None else recovery(by_group, weak, strong),
        oracle=recovery(strong - weak, weak, strong),
        tfidf=recovery(by_words, weak, strong),
        weak=float(weak.mean()),
        strong=float(strong.mean()),
        curves={name: accuracies(order, weak, strong) for name, order in orders.items()},
    )


def judge_pick(corpus: Corpus, rows: Indices, quality: Floats, seed: int) -> PickFigures:
    """Return the figures of a table with many measured models; the best single is that of it."""
    columns = measured_columns(corpus, rows)
    scores = corpus.scores[rows][:, columns]
    picked = scores[np.arange(len(rows)), quality[rows][:, columns].argmax(axis=1)]

    def gain(drawn: Indices) -> float:
        return float(picked[drawn].mean() - scores[drawn].mean(axis=0).max())

    return PickFigures(
        table=corpus.tables[rows[0]],
        rows=len(rows),
        picked=float(picked.mean()),
        best_single=float(scores.mean(axis=0).max()),
        oracle=float(scores.max(axis=1).mean()),
        gain=interval(len(rows), seed, gain),
    )


def judge_risk(
    corpus: Corpus, rows: Indices, quality: Floats, anchors: tuple[Anchor, Anchor] | None
) -> RiskFigures:
    """Return how calibrated out-of-fold risks are; the curve is refitted without each fold."""
    scores = corpus.scores[rows]
    predicted = quality[rows]
    measured = ~np.isnan(scores)
    means = np.broadcast_to(np.nanmean(scores, axis=0), scores.shape)[measured]
    seen = scores[measured]
    by_curve = None
    chances = predicted
    if anchors is not None:
        guessed, chances = np.empty_like(scores), np.empty_like(scores)
        for fold in range(FOLDS):
            held = corpus.folds[rows] == fold
            curve = fit_curve(predicted[~held], scores[~held], corpus.models, *anchors)
            chances[held] = calibrated(curve, predicted[held])
            for i in np.flatnonzero(held):
                asked = need(curve, predicted[i])
                guessed[i] = [chance(curve, skill, asked) for skill in curve.skills]
        by_curve = reliability(guessed[measured], seen, means)
    return RiskFigures(reliability(chances[measured], seen, means), by_curve)


def measured_columns(corpus: Corpus, rows: Indices) -> list[int]:
    """Return the columns that a table measured, if not in every row."""
    return [int(m) for m in np.flatnonzero(~np.isnan(corpus.scores[rows]).all(axis=0))]


def whole_rows(corpus: Corpus, rows: Indices) -> Indices:
    """Return the rows of a table that measured all of its models: blank is not wrong."""
    scores = corpus.scores[rows][:, measured_columns(corpus, rows)]
    return rows[~np.isnan(scores).any(axis=1)]


def _group_gain(corpus: Corpus, rows: Indices, gain: Floats) -> Floats | None:
    groups = np.array([corpus.groups[i] for i in rows])
    if len(set(groups.tolist())) < PAIR:
        return None
    folds = corpus.folds[rows]
    guessed = np.zeros(len(rows))
    for group in sorted(set(groups.tolist())):
        for fold in range(FOLDS):
            inside = groups == group
            rest = inside & (folds != fold)
            guessed[inside & (folds == fold)] = gain[rest].mean() if rest.any() else gain.mean()
    return guessed
