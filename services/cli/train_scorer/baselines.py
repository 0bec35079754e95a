"""What needs no artifact: TF-IDF over words, fitted on the folds that a row is not in."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.cli.train_scorer.corpus import Corpus
from services.cli.train_scorer.fitting import SparseRows, ridge
from services.cli.train_scorer.tables import FOLDS
from services.scorer.model.artifact import Floats, Indices

LEAST_TEXTS = 2
"""Texts that a term must stand in to count."""
_WORD = re.compile(r"[a-z0-9]+")
_KEPT_CHARACTERS = 4_096


@dataclass(frozen=True, slots=True, eq=False)
class _Entries:
    """Every term of every text once: text, term, and 1 + log of how often it stands there."""

    row: Indices
    column: Indices
    weight: Floats
    terms: int


def tfidf_gain(corpus: Corpus, rows: Indices, gain: Floats) -> Floats:
    """Return each row's gain as TF-IDF predicts it from the rows of other folds."""
    entries = _entries([corpus.prompts[i] for i in rows])
    folds = corpus.folds[rows]
    guessed = np.zeros(len(rows))
    for fold in range(FOLDS):
        held = folds == fold
        if held.all() or not held.any():
            continue
        mean = float(gain[~held].mean())
        matrix = _weighted(entries, ~held)
        weights = ridge(matrix, ~held, np.where(held, 0.0, gain - mean))
        guessed[held] = mean + matrix.times(weights)[held]
    return guessed


def _entries(texts: Sequence[str]) -> _Entries:
    known: dict[str, int] = {}
    row, column, count = [], [], []
    for index, text in enumerate(texts):
        words = _WORD.findall(text[-_KEPT_CHARACTERS:].lower())
        pairs = (f"{first} {second}" for first, second in itertools.pairwise(words))
        for term, times in Counter([*words, *pairs]).items():
            row.append(index)
            column.append(known.setdefault(term, len(known)))
            count.append(times)
    weight = 1.0 + np.log(np.array(count, dtype=np.float64))
    return _Entries(np.array(row), np.array(column), weight, len(known))


def _weighted(entries: _Entries, learnt: Indices) -> SparseRows:
    """Return the texts as unit rows; terms and their weights are those of the learnt ones."""
    seen = np.bincount(entries.column[learnt[entries.row]], minlength=entries.terms)
    idf = np.log((1 + learnt.sum()) / (1 + seen)) + 1
    kept = (seen >= LEAST_TEXTS)[entries.column]
    row, column = entries.row[kept], entries.column[kept]
    value = entries.weight[kept] * idf[column]
    size = np.sqrt(np.bincount(row, value**2, minlength=len(learnt)))
    return SparseRows(row, column, value / size[row], (len(learnt), entries.terms))
