"""What can be said of the prompts of tables before anything is learnt from them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.cli.train_scorer.corpus import Corpus
from services.scorer.model.artifact import Floats


@dataclass(frozen=True, slots=True)
class TextFigures:
    """How much of a table's prompts the embedder knows, and how much of it repeats."""

    table: str
    rows: int
    copies: int
    """Rows whose question stands in the table before them."""
    unknown_share: float
    """Mean share of word pieces that the vocabulary lacks."""
    far_share: float
    """Share of prompts that lie far from every cluster."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Questions that two tables share."""

    first: str
    second: str
    questions: int


def text_figures(
    corpus: Corpus, names: Sequence[str], centroids: Floats, far_similarity: float
) -> tuple[TextFigures, ...]:
    """Return the figures of each table."""
    figures = []
    for name in names:
        rows = corpus.rows_of(name)
        nearest = (corpus.unit[rows] @ centroids.T).max(axis=1)
        figures.append(
            TextFigures(
                table=name,
                rows=len(rows),
                copies=len(rows) - len({corpus.stems[i] for i in rows}),
                unknown_share=float(np.mean([corpus.vectors[i].unknown_share for i in rows])),
                far_share=float((nearest < far_similarity).mean()),
            )
        )
    return tuple(figures)


def overlaps(corpus: Corpus, names: Sequence[str]) -> tuple[Overlap, ...]:
    """Return the pairs of tables that share questions."""
    stems = {name: {corpus.stems[i] for i in corpus.rows_of(name)} for name in names}
    pairs = (
        Overlap(first, second, len(stems[first] & stems[second]))
        for first, second in itertools.combinations(names, 2)
    )
    return tuple(pair for pair in pairs if pair.questions)
