"""Writes a report to a folder: text, the figures as JSON, and a plot for every pair of models."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from services.cli.train_scorer.card import Account, limits, report, sources
from services.cli.train_scorer.goals import goals_of
from services.cli.train_scorer.judging import PairFigures
from services.cli.train_scorer.plots import Line, Plot, svg
from services.cli.train_scorer.writing import json_bytes

REPORT = "REPORT.md"
FIGURES = "report.json"
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


def figures(account: Account) -> dict[str, object]:
    """Return the held-out figures as plain values."""
    pairs = (*account.pairs, *account.across)
    goals = goals_of(pairs, account.picks)
    return {
        "pairs": [dataclasses.asdict(row) for row in pairs],
        "picks": [dataclasses.asdict(row) for row in account.picks],
        "risk": dataclasses.asdict(account.risk),
        "spending": [dataclasses.asdict(row) for row in account.spending],
        "changes": [dataclasses.asdict(row) for row in account.changes],
        "goals": [{**dataclasses.asdict(goal), "is_met": goal.is_met} for goal in goals],
        "texts": [dataclasses.asdict(row) for row in account.texts],
        "overlaps": [dataclasses.asdict(row) for row in account.overlaps],
    }


def report_files(account: Account) -> Mapping[str, bytes]:
    """Return the files of a report by name; equal figures give equal bytes."""
    plots = {f"{_slug(row.table)}.svg": row for row in (*account.pairs, *account.across)}
    told = (*limits(), *sources(account), *report(account))
    lines = ["# Held-out figures of a scoring artifact", "", *told, "", *_shown(plots)]
    return {
        REPORT: ("\n".join(lines) + "\n").encode(),
        FIGURES: json_bytes(figures(account)),
        **{name: svg(_plot(row)).encode() for name, row in plots.items()},
    }


def write_report(account: Account, folder: Path) -> None:
    """Write a report.

    Raises:
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in report_files(account).items():
        (folder / name).write_bytes(content)


def _plot(row: PairFigures) -> Plot:
    by_chance = Line("by chance", ((0.0, row.weak), (1.0, row.strong)))
    lines = [Line(name, points) for name, points in row.curves.items()]
    return Plot(row.table, "share sent to the strong model", "accuracy", [*lines, by_chance])


def _shown(plots: Mapping[str, PairFigures]) -> Iterator[str]:
    yield "## Accuracy by share sent to the strong model"
    yield ""
    for name, row in plots.items():
        yield f"![{row.table}]({name})"
        yield ""


def _slug(name: str) -> str:
    return _NOT_IN_NAMES.sub("-", name.lower()).strip("-")
