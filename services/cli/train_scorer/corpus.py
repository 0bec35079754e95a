"""All tables as one: every distinct model a column, every text embedded with the serving code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from services.cli.train_scorer.tables import Table, fold_of, stems_of
from services.scorer.model.artifact import Floats, Indices, TextVector
from services.scorer.ports import Embedder


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Rows of all tables; a score that nobody measured is NaN."""

    models: tuple[str, ...]
    tables: tuple[str, ...]
    """Name of each row's table."""
    prompts: tuple[str, ...]
    groups: tuple[str, ...]
    stems: tuple[str, ...]
    folds: Indices
    scores: Floats
    vectors: tuple[TextVector, ...]
    joint: Floats
    """The vectors as a matrix."""
    unit: Floats
    """The same at unit length."""
    costs: Floats | None = None
    """What each answer cost, USD; NaN where nobody says. None: no table says."""

    def rows_of(self, table: str) -> Indices:
        """Return the rows of one table."""
        return np.array([i for i, name in enumerate(self.tables) if name == table], dtype=np.int64)


def gather(
    tables: Sequence[Table], embedder: Embedder, progress: Callable[[int, int], None]
) -> Corpus:
    """Return the rows of all tables, each text embedded once."""
    models = tuple(dict.fromkeys(model for table in tables for model in table.models))
    prompts = tuple(prompt for table in tables for prompt in table.prompts)
    questions = tuple(question for table in tables for question in table.questions)
    scores = np.full((len(prompts), len(models)), np.nan)
    costs = np.full_like(scores, np.nan)
    start = 0
    for table in tables:
        columns = [models.index(model) for model in table.models]
        scores[start : start + len(table.prompts), columns] = table.scores
        if table.costs is not None:
            costs[start : start + len(table.prompts), columns] = table.costs
        start += len(table.prompts)
    vectors = _embedded(prompts, embedder, progress)
    return Corpus(
        models=models,
        tables=tuple(table.name for table in tables for _ in table.prompts),
        prompts=prompts,
        groups=tuple(group for table in tables for group in table.groups),
        stems=stems_of(questions),
        folds=np.array([fold_of(question) for question in questions], dtype=np.int64),
        scores=scores,
        vectors=vectors,
        joint=np.stack([vector.joint for vector in vectors]),
        unit=np.stack([vector.unit for vector in vectors]),
        costs=None if all(table.costs is None for table in tables) else costs,
    )


def _embedded(
    prompts: Sequence[str], embedder: Embedder, progress: Callable[[int, int], None]
) -> tuple[TextVector, ...]:
    known: dict[str, TextVector] = {}
    for count, prompt in enumerate(prompts):
        if prompt not in known:
            known[prompt] = embedder.embed(prompt)
        progress(count + 1, len(prompts))
    return tuple(known[prompt] for prompt in prompts)
