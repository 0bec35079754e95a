"""Writes a report to a folder: text, the figures as JSON, and a plot for every pair of models."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from services.cli.train_scorer.card import Account, limits, report, sources
from services.cli.train_scorer.goals import goals_of
from services.cli.train_scorer.judging import PairFigures
from services.cli.train_scorer.metrics import Point
from services.cli.train_scorer.plots import Line, Plot, svg
from services.cli.train_scorer.spending import CostFigures, upper_hull
from services.cli.train_scorer.writing import json_bytes

REPORT = "REPORT.md"
FIGURES = "report.json"
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


def figures(account: Account) -> dict[str, object]:
    """Return the held-out figures as plain values."""
    pairs = (*account.pairs, *account.across)
    goals = goals_of(pairs, account.picks, account.apart)
    return {
        "pairs": [dataclasses.asdict(row) for row in pairs],
        "picks": [dataclasses.asdict(row) for row in account.picks],
        "risk": dataclasses.asdict(account.risk),
        "spending": [dataclasses.asdict(row) for row in account.spending],
        "apart": [dataclasses.asdict(row) for row in account.apart],
        "searched": None if account.searched is None else dataclasses.asdict(account.searched),
        "changes": [dataclasses.asdict(row) for row in account.changes],
        "goals": [{**dataclasses.asdict(goal), "is_met": goal.is_met} for goal in goals],
        "texts": [dataclasses.asdict(row) for row in account.texts],
        "overlaps": [dataclasses.asdict(row) for row in account.overlaps],
    }


def report_files(account: Account) -> Mapping[str, bytes]:
    """Return the files of a report by name; equal figures give equal bytes."""
    pairs = [_plot(row) for row in (*account.pairs, *account.across)]
    spent = [*account.spending, *(row.spending for row in account.apart)]
    costs = [_cost_plot(row) for row in spent if row.curve[-1][0] > 0]
    told = (*limits(), *sources(account), *report(account), "")
    by_share = _shown("Accuracy by share sent to the strong model", pairs)
    lines = [
        "# Held-out figures of a scoring artifact",
        "",
        *told,
        *by_share,
        *_shown("Accuracy by cost", costs),
    ]
    return {
        REPORT: ("\n".join(lines) + "\n").encode(),
        FIGURES: json_bytes(figures(account)),
        **{_file(plot): svg(plot).encode() for plot in (*pairs, *costs)},
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


def _cost_plot(row: CostFigures) -> Plot:
    hull = upper_hull(list(row.singles.values()))
    single = Line("single models, by chance", _logarithmic(hull))
    lines = [Line("artifact", _logarithmic(row.curve)), single]
    return Plot(f"{row.table}, by cost", "USD for 1,000 prompts, log 10", "accuracy", lines)


def _logarithmic(points: Sequence[Point]) -> Sequence[Point]:
    return [(math.log10(usd), accuracy) for usd, accuracy in points if usd > 0]


def _shown(title: str, plots: Sequence[Plot]) -> Iterator[str]:
    if not plots:
        return
    yield f"## {title}"
    yield ""
    for plot in plots:
        yield f"![{plot.title}]({_file(plot)})"
        yield ""


def _file(plot: Plot) -> str:
    return f"{_NOT_IN_NAMES.sub('-', plot.title.lower()).strip('-')}.svg"
