"""Fits the heads on measured cells; the same rows and seed give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.cli.train_scorer.corpus import Corpus
from services.cli.train_scorer.linear import fit_linear
from services.cli.train_scorer.means import spherical_means
from services.scorer.model.artifact import (
    ClusterHead,
    Floats,
    Halves,
    Indices,
    LinearHead,
    PieceHead,
    Pieces,
)
from services.scorer.policy.heads import piece_weights

CLUSTERS = 64
SHRINKAGE = 30.0
"""Rows of a model's mean that stand in every cell of the table."""
PIECE_RIDGE = 10.0
TOP_P = 4
TEMPERATURE = 0.1
_SOLVER_ROUNDS = 60
_SOLVER_TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class Heads:
    """Everything that is fitted on outcome rows."""

    clusters: ClusterHead
    cell_counts: Indices
    linear: LinearHead
    pieces: PieceHead
    means: Floats
    far_similarity: float


def fit_heads(corpus: Corpus, rows: Indices, vocabulary: int, seed: int) -> Heads:
    """Return the heads of ``rows``; a model is fitted on the rows that measured it."""
    scores = corpus.scores[rows]
    means = np.nanmean(scores, axis=0)
    centroids = spherical_means(corpus.unit[rows], CLUSTERS, seed)
    nearest = corpus.unit[rows] @ centroids.T
    assigned = nearest.argmax(axis=1)
    quality, counts = _table(scores, assigned, means)
    return Heads(
        clusters=ClusterHead(centroids, quality, TOP_P, TEMPERATURE),
        cell_counts=counts,
        linear=fit_linear(corpus.joint[rows], corpus.unit[rows], scores, seed),
        pieces=_pieces([corpus.vectors[i].pieces for i in rows], scores, vocabulary),
        means=means,
        far_similarity=float(np.quantile(nearest.max(axis=1), 0.01)),
    )


def _table(scores: Floats, assigned: Indices, means: Floats) -> tuple[Floats, Indices]:
    quality = np.empty((CLUSTERS, scores.shape[1]))
    counts = np.empty((CLUSTERS, scores.shape[1]), dtype=np.int64)
    for k in range(CLUSTERS):
        members = scores[assigned == k]
        counts[k] = (~np.isnan(members)).sum(axis=0)
        quality[k] = (np.nansum(members, axis=0) + SHRINKAGE * means) / (counts[k] + SHRINKAGE)
    return quality, counts


def _pieces(texts: Sequence[Pieces], scores: Floats, vocabulary: int) -> PieceHead:
    seen = np.zeros(vocabulary, dtype=np.int64)
    for pieces in texts:
        seen[pieces.ids] += 1
    idf: Halves = np.where(seen >= 2, np.log((1 + len(texts)) / (1 + seen)) + 1, 0).astype(
        np.float16
    )
    matrix = SparseRows(
        np.repeat(np.arange(len(texts)), [len(pieces.ids) for pieces in texts]),
        np.concatenate([pieces.ids for pieces in texts]),
        np.concatenate([piece_weights(pieces, idf) for pieces in texts]),
        (len(texts), vocabulary),
    )
    offsets = np.nanmean(scores, axis=0)
    weights = np.empty((vocabulary, scores.shape[1]), dtype=np.float16)
    for m in range(scores.shape[1]):
        measured = ~np.isnan(scores[:, m])
        gap = np.where(measured, scores[:, m] - offsets[m], 0.0)
        weights[:, m] = ridge(matrix, measured, gap)
    return PieceHead(weights, idf, offsets)


class SparseRows:
    """A sparse matrix by its entries, as far as a conjugate-gradient solver needs one."""

    def __init__(
        self, row: Indices, column: Indices, value: Floats, shape: tuple[int, int]
    ) -> None:
        self._row = row
        self._column = column
        self._value = value
        self._shape = shape

    def times(self, vector: Floats) -> Floats:
        """Return the matrix times a column."""
        products = self._value * vector[self._column]
        return np.bincount(self._row, products, minlength=self._shape[0]).astype(np.float64)

    def turned_times(self, vector: Floats) -> Floats:
        """Return the transposed matrix times a column."""
        products = self._value * vector[self._row]
        return np.bincount(self._column, products, minlength=self._shape[1]).astype(np.float64)


def ridge(matrix: SparseRows, measured: Floats, gap: Floats) -> Floats:
    """Return the w that solves ``(XᵀX + ridge) w = Xᵀ gap`` over the measured rows."""
    mask = measured.astype(np.float64)
    wanted = matrix.turned_times(gap)
    solution = np.zeros_like(wanted)
    residual, direction = wanted.copy(), wanted.copy()
    size = float(residual @ residual)
    goal = size * _SOLVER_TOLERANCE**2
    for _ in range(_SOLVER_ROUNDS):
        if size <= goal:
            break
        image = matrix.turned_times(mask * matrix.times(direction)) + PIECE_RIDGE * direction
        step = size / float(direction @ image)
        solution += step * direction
        residual -= step * image
        previous, size = size, float(residual @ residual)
        direction = residual + (size / previous) * direction
    return solution
