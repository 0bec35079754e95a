"""What needs no artifact: TF-IDF over words, fitted on the folds that a row is not in."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from services.cli.train_scorer.corpus import Corpus
from services.cli.train_scorer.fitting import SparseRows, ridge
from services.cli.train_scorer.tables import FOLDS
from services.scorer.model.artifact import Floats, Indices

LEAST_TEXTS = 2
"""Texts that a term must stand in to count."""
_WORD = re.compile(r"[a-z0-9]+")
_KEPT_CHARACTERS = 4_096


def tfidf_gain(corpus: Corpus, rows: Indices, gain: Floats) -> Floats:
    """Return each row's gain as TF-IDF predicts it from the rows of other folds."""
    terms = [_terms(corpus.prompts[i]) for i in rows]
    folds = corpus.folds[rows]
    guessed = np.zeros(len(rows))
    for fold in range(FOLDS):
        held = folds == fold
        if held.all() or not held.any():
            continue
        learnt = np.flatnonzero(~held)
        columns, idf = _vocabulary([terms[i] for i in learnt])
        mean = float(gain[learnt].mean())
        matrix = SparseRows([_weighted(terms[i], columns, idf) for i in learnt], len(idf))
        weights = ridge(matrix, np.ones(len(learnt), dtype=np.bool_), gain[learnt] - mean)
        for i in np.flatnonzero(held):
            ids, values = _weighted(terms[i], columns, idf)
            guessed[i] = mean + values @ weights[ids]
    return guessed


def _terms(text: str) -> Counter[str]:
    words = _WORD.findall(text[-_KEPT_CHARACTERS:].lower())
    pairs = (f"{first} {second}" for first, second in itertools.pairwise(words))
    return Counter([*words, *pairs])


def _vocabulary(texts: Sequence[Counter[str]]) -> tuple[Mapping[str, int], Floats]:
    """Return the column and the weight of each term."""
    seen = Counter(itertools.chain.from_iterable(texts))
    kept = sorted(term for term, count in seen.items() if count >= LEAST_TEXTS)
    counts = np.array([seen[term] for term in kept], dtype=np.float64)
    idf = np.log((1 + len(texts)) / (1 + counts)) + 1
    return {term: column for column, term in enumerate(kept)}, idf


def _weighted(
    text: Counter[str], columns: Mapping[str, int], idf: Floats
) -> tuple[Indices, Floats]:
    known = sorted((columns[term], count) for term, count in text.items() if term in columns)
    ids = np.array([column for column, _ in known], dtype=np.int64)
    counts = np.array([count for _, count in known], dtype=np.float64)
    values = (1.0 + np.log(counts)) * idf[ids]
    size = float(np.linalg.norm(values))
    return ids, values / size if size > 0 else values
