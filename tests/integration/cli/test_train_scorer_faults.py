"""Outcomes as operators have them: incomplete, overlapping, or saying nothing."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from services.cli.train_scorer import training, work
from services.cli.train_scorer.across import across, left_out
from services.cli.train_scorer.comparing import change_on
from services.cli.train_scorer.curves import Anchor
from services.cli.train_scorer.tables import TableError, fold_of, read_tables
from services.cli.train_scorer.training import Recipe
from services.runtime.launch import StartError
from services.scorer.adapters.bundle.loading import load
from services.scorer.adapters.bundle.members import LATEST
from tests.fakes import scorer_bundle as tiny
from tests.integration.cli.test_train_scorer import recipe, silent

WEAK, STRONG = 2, 3
"""Columns of the outcomes."""

Row = list[str]
Edit = Callable[[int, Row], Row]


def edited(path: Path, edit: Edit, header: Row | None = None) -> None:
    with path.open(newline="") as file:
        first, *rows = csv.reader(file)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header or first, *map(edit, range(len(rows)), rows)])


def without(column: int, row: Row) -> Row:
    return [*row[:column], "", *row[column + 1 :]]


def trained(made: Recipe, out: Path) -> str:
    return work.train(made, out, silent)


def test_nothing_is_the_latest_that_could_not_serve(tmp_path: Path) -> None:
    made, out = recipe(tmp_path), tmp_path / "out"
    trained(made, out)
    kept = {path.name: path.read_bytes() for path in (out / "trained-1").iterdir()}
    for version in ("trained-1", "", "..", "in/side", LATEST):
        with pytest.raises(StartError, match="must be a new name; a bundle never changes"):
            trained(replace(made, version=version), out)
    with pytest.raises(StartError, match=r"artifact '\.hidden'"):
        trained(replace(made, version=".hidden"), out)
    assert sorted(path.name for path in out.iterdir()) == [LATEST, "trained-1"]
    assert {path.name: path.read_bytes() for path in (out / "trained-1").iterdir()} == kept
    assert load(out).artifact.version == "trained-1"


def test_anchors_that_the_outcomes_turn_round_are_refused(tmp_path: Path) -> None:
    turned = replace(recipe(tmp_path), anchors=(Anchor("strong", 0.3), Anchor("weak", 0.8)))
    with pytest.raises(StartError, match="--anchor strong: does no worse than weak"):
        trained(turned, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_model_that_nothing_can_be_learnt_of_is_named(tmp_path: Path) -> None:
    made = recipe(tmp_path)
    header = ["prompt", "subject", "weak_correct", "strong_correct", "third_correct"]
    edited(made.held_out[0], lambda _, row: [*row[:4], "1"], header)
    with pytest.raises(StartError, match="third: has no outcome beside fold 0"):
        trained(made, tmp_path / "out")


def test_each_prompt_may_have_been_answered_by_one_model_alone(tmp_path: Path) -> None:
    made = recipe(tmp_path)
    for path in (*made.outcomes, *made.held_out):
        edited(path, lambda index, row: without((WEAK, STRONG)[index % 2], row))
    assert "## Risk" in trained(made, tmp_path / "out")
    assert load(tmp_path / "out").artifact.means[0] < load(tmp_path / "out").artifact.means[1]


def test_tables_that_say_nothing_of_each_other_are_not_judged(tmp_path: Path) -> None:
    made = recipe(tmp_path)
    alike = [name for name in map(str, range(20)) if fold_of(name) == fold_of("0")][:2]
    for path in made.outcomes:
        edited(path, lambda index, row: [row[0], alike[index % 2], *row[2:]])
    material = training.read_material(replace(made, held_out=()), silent)
    (table,) = material.learnt
    assert not left_out(material.corpus, [table], len(tiny.PIECES), 0)
    count = len(table.prompts)
    again = replace(material.corpus, tables=("a",) * (count // 2) + ("b",) * (count - count // 2))
    same = replace(again, stems=("one",) * count)
    twins = [replace(table, name=name) for name in "ab"]
    assert len(across(again, twins, len(tiny.PIECES), 0)) == 2
    assert not across(same, twins, len(tiny.PIECES), 0)


def test_a_blank_outcome_does_not_hide_a_step_back(tmp_path: Path) -> None:
    made = recipe(tmp_path)
    trained(made, tmp_path / "out")
    edited(made.held_out[0], lambda index, row: without(WEAK, row) if index == 0 else row)
    corpus = training.read_material(made, silent).corpus
    held = corpus.rows_of("set/held")
    worse = np.where(np.isnan(corpus.scores), 0.5, [0.0, 1.0] - corpus.scores)
    change = change_on(corpus, held, worse, load(tmp_path / "out"), 0)
    assert change is not None
    assert change.rows == len(held) - 1
    assert np.isfinite([change.difference.low, change.difference.high]).all()
    nothing = replace(corpus, scores=np.ones_like(corpus.scores))
    assert change_on(nothing, held, worse, load(tmp_path / "out"), 0) is None


def test_a_table_without_prompts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("prompt,score:m,contaminated\nsay,1,True\n")
    with pytest.raises(TableError, match="has no prompt"):
        read_tables([path])
