"""Sets a recipe against an earlier bundle on rows that neither learnt from, pair by pair."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from services.cli.train_scorer.corpus import Corpus
from services.cli.train_scorer.judging import PAIR, measured_columns
from services.cli.train_scorer.metrics import Interval, interval, recovery
from services.scorer.adapters.bundle.loading import Loaded
from services.scorer.model.artifact import Floats, Indices
from services.scorer.policy.heads import predict

LEAST_CHANGE = -0.01
"""An interval that lies below this says that the newer one is worse."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a recipe changes on one held-out table, over an earlier bundle."""

    bundle: str
    """Version of the earlier bundle."""
    table: str
    rows: int
    measure: str
    earlier: float
    newer: float
    difference: Interval

    @property
    def is_worse(self) -> bool:
        """Whether the whole interval lies below what chance explains."""
        return self.difference.high < LEAST_CHANGE


def change_on(
    corpus: Corpus, rows: Indices, quality: Floats, earlier: Loaded, seed: int
) -> Change | None:
    """Return the change on one table; None where there is nothing to compare.

    That is so where the bundle lacks all but one of its models, no row measured all of them, or of
    a pair the strong one gains nothing. Both are judged on the same resampled rows. The bundle
    embeds and predicts as it serves.
    """
    known = earlier.artifact.aliases
    columns = [m for m in measured_columns(corpus, rows) if corpus.models[m] in known]
    rows = rows[~np.isnan(corpus.scores[rows][:, columns]).any(axis=1)]
    if len(columns) < PAIR or not rows.size:
        return None
    scores, newer = corpus.scores[rows][:, columns], quality[rows][:, columns]
    own = [known[corpus.models[m]] for m in columns]
    older = np.stack([_predicted(earlier, corpus.prompts[i])[own] for i in rows])
    measure, value = _measure(scores)

    def difference(drawn: Indices) -> float:
        return value(newer, drawn) - value(older, drawn)

    every = np.arange(len(rows))
    if math.isnan(value(older, every)):
        return None
    return Change(
        bundle=earlier.artifact.version,
        table=corpus.tables[rows[0]],
        rows=len(rows),
        measure=measure,
        earlier=value(older, every),
        newer=value(newer, every),
        difference=interval(len(rows), seed, difference),
    )


def _measure(scores: Floats) -> tuple[str, Callable[[Floats, Indices], float]]:
    if scores.shape[1] == PAIR:

        def apgr(quality: Floats, drawn: Indices) -> float:
            gain = quality[drawn, 1] - quality[drawn, 0]
            return recovery(gain, scores[drawn, 0], scores[drawn, 1]).apgr

        return "APGR", apgr

    def accuracy(quality: Floats, drawn: Indices) -> float:
        picks = quality[drawn].argmax(axis=1)
        return float(scores[drawn, picks].mean())

    return "accuracy of the pick", accuracy


def _predicted(loaded: Loaded, text: str) -> Floats:
    return predict(loaded.artifact, loaded.embedder.embed(text)).quality
