"""The figures as one table and a plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.cli.simulate_credentials.ledger import LONGEST_HELD_S, ledger, random_ledger
from services.cli.simulate_credentials.loop import Loop, Tally
from services.cli.simulate_credentials.replay import EVERY_RULE, Outcome, replay, shipped
from services.cli.train_scorer.plots import Line, Plot, svg
from services.credentials.model import Cause

Row = dict[str, object]

MANY_ACCOUNTS = ("c1", "c2", "c3")
ABSENCE = 0.3
SHORT = 300
"""Answers of each random ledger."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything that was played."""

    outcomes: dict[str, Outcome]
    tallies: dict[str, Tally]
    many: Outcome
    """The shipped rule over many random ledgers, added up."""

    @property
    def is_sound(self) -> bool:
        """Whether the shipped rule held no mark, set none without cause, and showed no avoidable
        error."""
        own = (self.outcomes["shipped"], self.many)
        is_clean = not any(one.held_s or one.unfounded or one.overdue for one in own)
        return is_clean and not self.tallies["shipped"].avoidable


def play(seed: int, many: int) -> Figures:
    """Return the figures of one ledger, of one closed loop and of many random ledgers."""
    answers = ledger(seed)
    outcomes = {name: replay(answers, rule) for name, rule in EVERY_RULE.items()}
    tallies = {
        "shipped": Loop(seed, is_warning_heard=True).run(),
        "reactive": Loop(seed, is_warning_heard=False).run(),
    }
    total = Outcome()
    for other in range(seed, seed + many):
        one = replay(random_ledger(other, SHORT, MANY_ACCOUNTS, ABSENCE), shipped)
        total.set_by_window.update(one.set_by_window)
        total.cleared_by.update(one.cleared_by)
        total.held_s += one.held_s
        total.unfounded += one.unfounded
        total.overdue += one.overdue
    return Figures(outcomes, tallies, total)


def rows(figures: Figures) -> list[Row]:
    """Return one row per rule; the closed loop's figures stand beside the rules that it plays."""
    found = [
        _row(name, outcome, figures.tallies.get(name)) for name, outcome in figures.outcomes.items()
    ]
    found.append(_row("shipped, random ledgers", figures.many, None))
    reactive = figures.tallies["reactive"]
    return [*found, _row("reactive", None, reactive)]


def _row(name: str, outcome: Outcome | None, tally: Tally | None) -> Row:
    cleared = outcome.cleared_by if outcome else {}
    return {
        "rule": name,
        "set": _or_dash(outcome and sum(outcome.set_by_window.values())),
        "by_own": _or_dash(outcome and cleared.get(Cause.OWN_STATUS, 0)),
        "by_aggregate": _or_dash(outcome and cleared.get(Cause.AGGREGATE, 0)),
        "by_reset": _or_dash(outcome and cleared.get(Cause.RESET, 0)),
        "held": _or_dash(outcome and len(outcome.held_s)),
        "longest_s": _or_dash(outcome and round(max(outcome.held_s, default=0.0))),
        "rejections": _or_dash(tally and tally.rejections),
        "caller_errors": _or_dash(tally and tally.errors),
        "avoidable": _or_dash(tally and tally.avoidable),
    }


def _or_dash(figure: object) -> object:
    return "-" if figure is None else figure


def plot(seed: int) -> str:
    """Return the marks around the longest held case as an SVG, shipped rule against naive one."""
    answers = ledger(seed)
    lines: list[Line] = []
    begin: float | None = None
    for name in ("own_allowed_unheard", "shipped"):
        outcome = replay(answers, EVERY_RULE[name])
        if begin is None:
            begin = _begin_of_longest(outcome, replay(answers, shipped))
        near = [(at - begin, count) for at, count in outcome.active if -600 <= at - begin <= 900]
        lines.append(Line(name, _steps(near)))
    return svg(Plot("Warnings that stand", "seconds", "marks", lines))


def _begin_of_longest(naive: Outcome, right: Outcome) -> float:
    """Return when the naive rule first has a mark too many for the longest time."""
    best, begun, found = -1.0, None, naive.active[0][0]
    for (at, count), (_, due) in zip(naive.active, right.active, strict=True):
        if count > due:
            begun = at if begun is None else begun
        elif begun is not None:
            if at - begun > best:
                best, found = at - begun, begun
            begun = None
    return found if best <= LONGEST_HELD_S * 2 else naive.active[0][0]


def _steps(points: Sequence[tuple[float, int]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for index, (at, count) in enumerate(points):
        if index:
            found.append((at, float(points[index - 1][1])))
        found.append((at, float(count)))
    return found
