"""Settings are chosen on inner folds; the fold that judges a choice has no say in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from services.cli.train_scorer.corpus import Corpus
from services.cli.train_scorer.linear import LinearSettings
from services.cli.train_scorer.searching import Searched, inner_values, search, told
from services.scorer.model.artifact import NO_PIECES, Floats, TextVector

ROWS = 1_200
PLAIN, SPLIT = LinearSettings(regions=0), LinearSettings(regions=8)


def corpus(seed: int = 3) -> Corpus:
    """Return texts of two topics; what makes the strong model worth it turns with the topic."""
    source = np.random.default_rng(seed)
    joint = np.hstack([0.5 * source.normal(size=(ROWS, 30)), np.zeros((ROWS, 47))])
    topic = source.integers(2, size=ROWS)
    joint[np.arange(ROWS), topic] += 9.0
    hard = np.where(topic == 0, joint[:, 4], -joint[:, 4]) > 0
    scores = np.stack([~hard, np.ones(ROWS)], axis=1).astype(np.float64)
    prompts = tuple(f"text {n}" for n in range(ROWS))
    return Corpus(
        models=("weak", "strong"),
        tables=("t",) * ROWS,
        prompts=prompts,
        groups=("",) * ROWS,
        stems=prompts,
        folds=np.arange(ROWS) % 5,
        scores=scores,
        vectors=tuple(TextVector(row, NO_PIECES, 0.0, 9) for row in joint),
        joint=joint,
        unit=joint / np.linalg.norm(joint, axis=1, keepdims=True),
    )


def quiet(done: int, total: int) -> None:
    """Report nothing."""


def searched(made: Corpus) -> Searched:
    steps: list[tuple[int, int]] = []
    found = search(
        made,
        np.arange(ROWS),
        ["t"],
        1,
        0,
        lambda done, total: steps.append((done, total)),
        (PLAIN, SPLIT),
    )
    assert steps == [(n, 5) for n in range(1, 6)]
    return found


def test_what_helps_is_chosen_and_judged_where_it_had_no_say() -> None:
    found = searched(corpus())
    plain, split = found.trials
    assert split.values[0] > plain.values[0] + 0.05
    assert (plain.chosen, split.chosen) == (0, 5)
    assert found.nested[0] == pytest.approx(split.values[0], abs=0.1)
    lines = told(found)
    assert any(line.startswith("| 8 (fixed) | 9 | 20 |") and "5 of 5" in line for line in lines)
    assert any(line.startswith("| each fold's choice |") for line in lines)


def test_outcomes_of_noise_promise_nothing_on_the_fold_that_judges() -> None:
    made = corpus()
    noise = np.random.default_rng(4).integers(2, size=(ROWS, 2)).astype(np.float64)
    noise[:, 1] = np.maximum(noise[:, 0], noise[:, 1])
    found = searched(replace(made, scores=noise))
    assert found.nested[0] == pytest.approx(0.5, abs=0.08)


def test_a_table_that_tells_nothing_in_a_fold_has_no_say_there() -> None:
    made = corpus()
    few = np.flatnonzero(made.folds == 0)[:3]
    made = replace(made, tables=tuple("u" if row in few else "t" for row in range(ROWS)))
    outside = np.flatnonzero(made.folds != 3)
    tables, tried = ["t", "u"], (PLAIN, SPLIT)
    values = inner_values(made, outside, 3, tables, 1, 0, tried)
    assert np.isnan(values).tolist() == [[False, True]] * 2
    found = search(made, np.arange(ROWS), tables, 1, 0, quiet, tried)
    assert [trial.chosen for trial in found.trials] == [0, 5]
    assert np.isfinite([trial.values for trial in found.trials]).all()


def test_a_fold_has_no_say_in_what_is_chosen_for_it() -> None:
    made = corpus()

    def values(turned_fold: int) -> Floats:
        scores = made.scores.copy()
        rows = made.folds == turned_fold
        scores[rows, 0] = 1 - scores[rows, 0]
        outside = np.flatnonzero(made.folds != 0)
        return inner_values(replace(made, scores=scores), outside, 0, ["t"], 1, 0, (PLAIN, SPLIT))

    untouched, of_inner, of_learnt = values(0), values(1), values(2)
    assert untouched.tolist() == values(-1).tolist()
    assert of_inner.tolist() != untouched.tolist()
    assert of_learnt.tolist() != untouched.tolist()
