"""Judges the recipe on tables by themselves: nothing of them reaches a bundle.

Such a table says which of its rows to learn from (``split``: ``train``) and which to judge on
(``test``), and what each answer cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from services.cli.train_scorer.across import of_models
from services.cli.train_scorer.corpus import Corpus, gather
from services.cli.train_scorer.fitting import fit_heads
from services.cli.train_scorer.judging import (
    PAIR,
    PairFigures,
    judge_pair,
    qualities,
    whole_rows,
)
from services.cli.train_scorer.spending import CostFigures, figures_of, guessed_costs, priced
from services.cli.train_scorer.tables import Table, TableError, stems_of
from services.scorer.model.artifact import Indices
from services.scorer.ports import Embedder

LEARNT, JUDGED = "train", "test"


@dataclass(frozen=True, slots=True, eq=False)
class Alone:
    """A table, read and embedded for itself."""

    table: Table
    corpus: Corpus


@dataclass(frozen=True, slots=True)
class ApartFigures:
    """A table judged by itself, with the recipe and the embedder of the bundle."""

    table: str
    licence: str
    digest: str
    learnt_rows: int
    spending: CostFigures


def read_alone(table: Table, embedder: Embedder) -> Alone:
    """Return a table embedded for itself."""
    return Alone(table, gather((table,), embedder, lambda _done, _total: None))


def judge_apart(alone: Alone, vocabulary: int, seed: int) -> ApartFigures:
    """Return what its test rows say of heads that learnt from its train rows.

    Raises:
        TableError: it has no such rows, or states no costs.
    """
    table, corpus = alone.table, alone.corpus
    learnt, held = (_rows(alone, split) for split in (LEARNT, JUDGED))
    questions = table.questions
    asked = {questions[i] for i in held}
    learnt = np.array([i for i in learnt if questions[i] not in asked], dtype=np.int64)
    if not learnt.size or not held.size:
        raise TableError(f"{table.name}: needs a column split with rows {LEARNT} and {JUDGED}")
    columns = priced(corpus, held)
    if len(columns) < PAIR:
        raise TableError(f"{table.name}: needs the costs of two models, cost_usd:<model>")
    quality = np.full(corpus.scores.shape, np.nan)
    quality[held] = qualities(corpus, held, fit_heads(corpus, learnt, vocabulary, seed))
    guessed = guessed_costs(corpus, learnt, held, columns)
    return ApartFigures(
        table=table.name,
        licence=table.licence,
        digest=table.digest,
        learnt_rows=len(learnt),
        spending=figures_of(corpus, held, quality, guessed),
    )


def judge_transfer(
    corpus: Corpus,
    source: Table,
    alone: Alone,
    twins: Mapping[str, str],
    vocabulary: int,
    seed: int,
) -> PairFigures | None:
    """Return heads of a pair table of ``corpus`` judged on the same two models of another table.

    ``twins`` names the models of the other table as the pair table does. None: it has not both, or
    asks the same questions.
    """
    names = {twins.get(model, model): m for m, model in enumerate(alone.corpus.models)}
    if len(source.models) != PAIR or not set(source.models) <= names.keys():
        return None
    columns = [names[model] for model in source.models]
    target = replace(
        alone.corpus, models=source.models, scores=alone.corpus.scores[:, columns], costs=None
    )
    rows = corpus.rows_of(source.name)
    learnt = whole_rows(corpus, rows[_unshared(source, alone.table)])
    held = whole_rows(target, np.arange(len(target.prompts)))
    if not learnt.size or not held.size:
        return None
    heads = fit_heads(of_models(corpus, rows), learnt, vocabulary, seed)
    quality = np.full(target.scores.shape, np.nan)
    quality[held] = qualities(target, held, heads)
    judged = judge_pair(target, held, quality, seed)
    return replace(judged, table=f"{source.name} to {alone.table.name}")


def _rows(alone: Alone, split: str) -> Indices:
    """Return the rows of one part whose every cell was measured."""
    rows = whole_rows(alone.corpus, np.arange(len(alone.corpus.prompts)))
    return np.array([i for i in rows if alone.table.splits[i] == split], dtype=np.int64)


def _unshared(source: Table, other: Table) -> list[int]:
    """Return the rows of ``source`` whose question is not in the other table."""
    stems = stems_of([*source.questions, *other.questions])
    count = len(source.prompts)
    refused = set(stems[count:])
    return [i for i, stem in enumerate(stems[:count]) if stem not in refused]
