"""Judges heads on what they saw nothing like: groups left out, and other tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from services.cli.train_scorer.corpus import Corpus
from services.cli.train_scorer.fitting import Heads, fit_heads
from services.cli.train_scorer.judging import (
    PAIR,
    PairFigures,
    folds_of_groups,
    judge_pair,
    measured_columns,
    out_of_fold,
    qualities,
    whole_rows,
    without_questions,
)
from services.cli.train_scorer.tables import Table
from services.scorer.model.artifact import Indices


def left_out(
    corpus: Corpus, tables: Sequence[Table], vocabulary: int, seed: int
) -> tuple[PairFigures, ...]:
    """Return the pair tables with groups, whole groups left out, where that leaves any."""
    figures, folds = [], folds_of_groups(corpus)
    for table in tables:
        if len(table.models) != PAIR or len(set(table.groups)) < PAIR:
            continue
        rows = whole_rows(corpus, corpus.rows_of(table.name))
        if len(np.unique(folds[rows])) < PAIR:
            continue
        alone = of_models(corpus, rows)
        quality = np.full(corpus.scores.shape, np.nan)
        columns = measured_columns(corpus, rows)
        quality[:, columns] = out_of_fold(alone, rows, folds, vocabulary, seed)
        judged = judge_pair(corpus, rows, quality, seed)
        figures.append(_named(judged, f"{table.name}, groups left out"))
    return tuple(figures)


def across(
    corpus: Corpus, tables: Sequence[Table], vocabulary: int, seed: int
) -> tuple[PairFigures, ...]:
    """Return each pair table judged by heads that learnt from another one alone.

    Tables that ask the same questions say nothing of each other.
    """
    pair_tables = [table for table in tables if len(table.models) == PAIR]
    figures = []
    for source in pair_tables:
        for target in pair_tables:
            if source is target or source.models != target.models:
                continue
            held = whole_rows(corpus, corpus.rows_of(target.name))
            rows = whole_rows(corpus, corpus.rows_of(source.name))
            learnt = without_questions(corpus, rows, held)
            if not learnt.size or not held.size:
                continue
            heads: Heads = fit_heads(of_models(corpus, learnt), learnt, vocabulary, seed)
            quality = np.full(corpus.scores.shape, np.nan)
            columns = np.array(measured_columns(corpus, learnt), dtype=np.int64)
            quality[np.ix_(held, columns)] = qualities(of_models(corpus, learnt), held, heads)
            judged = judge_pair(corpus, held, quality, seed)
            figures.append(_named(judged, f"{source.name} to {target.name}"))
    return tuple(figures)


def of_models(corpus: Corpus, rows: Indices) -> Corpus:
    """Return the corpus with only the models that ``rows`` measured."""
    columns = measured_columns(corpus, rows)
    return Corpus(
        models=tuple(corpus.models[m] for m in columns),
        tables=corpus.tables,
        prompts=corpus.prompts,
        groups=corpus.groups,
        stems=corpus.stems,
        folds=corpus.folds,
        scores=corpus.scores[:, columns],
        vectors=corpus.vectors,
        joint=corpus.joint,
        unit=corpus.unit,
        costs=None if corpus.costs is None else corpus.costs[:, columns],
    )


def _named(figures: PairFigures, name: str) -> PairFigures:
    return replace(figures, table=name)
