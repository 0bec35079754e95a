"""Tables that are judged by themselves: told in the report, labelled, and in no bundle."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from services.cli.__main__ import run
from services.cli.train_scorer import work
from services.cli.train_scorer.apart import judge_apart, read_alone
from services.cli.train_scorer.tables import TableError, read_folders
from services.cli.train_scorer.training import Recipe
from services.runtime.launch import StartError
from services.runtime.sources import ConfigError
from tests.fakes import scorer_bundle as tiny

MODELS = ("weak", "vendor/strong")
WORDS = ("prove", "theorem", "sum", "numbers", "hello", "say", "now", "two")


def write_apart(folder: Path, rows: int = 300, *, has_split: bool = True) -> tuple[Path, ...]:
    """Write a table in two files that states costs and splits, and has a blank cell."""
    source = np.random.default_rng(5)
    columns = ["split", "prompt"] if has_split else ["prompt"]
    header = [*columns, *(f"{kind}:{m}" for kind in ("score", "cost_usd") for m in MODELS)]
    folder.mkdir()
    paths = folder / "a.csv", folder / "b.csv"
    for part, path in enumerate(paths):
        lines: list[list[object]] = []
        for n in range(part, rows, 2):
            words = " ".join(source.choice(WORDS, size=6))
            weak = "" if n == 1 else int("prove" not in words)
            line = ["test" if n % 3 else "train", f"{words} number {n}"]
            lines.append([*line[-len(columns) :], weak, 1, 0.001, 0.01])
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([header, *lines])
    return paths


def write_pairs(folder: Path) -> Path:
    """Write a table of a weak and a strong model."""
    source = np.random.default_rng(6)
    folder.mkdir(parents=True)
    (folder / "README.md").write_text("Licence: MIT\n")
    lines: list[list[object]] = [["prompt", "weak_correct", "strong_correct"]]
    for n in range(320):
        words = " ".join(source.choice(WORDS, size=6))
        lines.append([f"{words} case {n}", int("prove" not in words), 1])
    with (folder / "pairs.csv").open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    return folder / "pairs.csv"


def embedder(folder: Path) -> Path:
    folder.mkdir()
    for name, content in tiny.members().items():
        (folder / name).write_bytes(content)
    return folder


def recipe(folder: Path, apart: tuple[Path, ...], twins: tuple[str, ...] = ()) -> Recipe:
    pairs = write_pairs(folder / "set")
    tables = embedder(folder / "embedder")
    return work.recipe([pairs], [], tables, [], apart=apart, twins=twins)


def silent(done: int, total: int) -> None:
    """Report nothing."""


def test_a_table_apart_is_told_with_its_label_and_its_plot(tmp_path: Path) -> None:
    asked = recipe(tmp_path, write_apart(tmp_path / "bench"), (f"{MODELS[1]}=strong",))
    account = work.evaluate(asked, silent)
    (figures,) = account.apart
    assert (figures.table, figures.licence, figures.spending.rows) == ("bench", "", 199)
    assert figures.learnt_rows == 100
    assert account.models == ("weak", "strong")
    assert "set/pairs to bench" in [row.table for row in account.across]
    work.write(account, tmp_path / "report")
    told = (tmp_path / "report" / "REPORT.md").read_text()
    assert "its figures cannot be\n  reproduced from there" in told
    assert "![bench, by cost](bench-by-cost.svg)" in told
    assert (tmp_path / "report" / "bench-by-cost.svg").stat().st_size
    document = json.loads((tmp_path / "report" / "report.json").read_text())
    assert document["apart"][0]["spending"]["singles"].keys() == set(MODELS)


def test_what_the_train_rows_teach_shows_in_the_test_rows(tmp_path: Path) -> None:
    (table,) = read_folders(write_apart(tmp_path / "bench"))
    made = tiny.embedder()
    spent = judge_apart(read_alone(table, made), made.vocabulary, 0).spending
    cheap, dear = spent.singles["weak"], spent.singles[MODELS[1]]
    half = (cheap[0] + dear[0]) / 2
    assert spent.accuracy_at(half) > (cheap[1] + dear[1]) / 2 + 0.1
    assert spent.over_hull > 0.05


def test_a_model_without_a_twin_is_another_model(tmp_path: Path) -> None:
    account = work.evaluate(recipe(tmp_path, write_apart(tmp_path / "bench")), silent)
    assert not [row for row in account.across if "bench" in row.table]


def test_a_table_without_splits_is_refused_by_name(tmp_path: Path) -> None:
    (table,) = read_folders(write_apart(tmp_path / "bench", has_split=False))
    made = tiny.embedder()
    with pytest.raises(TableError, match="bench: needs a column split"):
        judge_apart(read_alone(table, made), made.vocabulary, 0)


def test_a_twin_that_names_nothing_and_a_missing_file_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--twin: give NAME=MODEL"):
        recipe(tmp_path / "a", (), ("strong",))
    asked = recipe(tmp_path / "b", (tmp_path / "none.csv",))
    with pytest.raises(StartError, match=r"none\.csv"):
        work.evaluate(asked, silent)


def test_the_command_prints_the_goals_of_a_known_table_and_fails_for_none_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["scorer", "evaluate", "--outcomes", str(write_pairs(tmp_path / "set"))]
    asked += ["--embedder", str(embedder(tmp_path / "embedder"))]
    for path in write_apart(tmp_path / "routerbench-slice"):
        asked += ["--apart", str(path)]
    assert run(asked) == 0
    told = capsys.readouterr().out
    assert "| routerbench-slice | USD for 98 % of the best |" in told
    assert "**no**" in told
