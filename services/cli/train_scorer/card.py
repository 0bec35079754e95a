"""Writes the model card and the report: what was learnt from what, and what it is worth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from services.cli.train_scorer.apart import ApartFigures
from services.cli.train_scorer.card_money import apart, spending
from services.cli.train_scorer.comparing import LEAST_CHANGE, Change
from services.cli.train_scorer.curves import Anchor
from services.cli.train_scorer.fitting import Heads
from services.cli.train_scorer.goals import goals_of
from services.cli.train_scorer.judging import PairFigures, PickFigures, RiskFigures
from services.cli.train_scorer.metrics import Interval, Recovery, Reliability
from services.cli.train_scorer.searching import Searched, told
from services.cli.train_scorer.spending import CostFigures
from services.cli.train_scorer.tables import Table
from services.cli.train_scorer.texts import Overlap, TextFigures
from services.scorer.model.artifact import Curve


@dataclass(frozen=True, slots=True, eq=False)
class Account:
    """Everything that a card tells."""

    version: str
    as_of: str
    remark: str
    learnt: tuple[Table, ...]
    held_out: tuple[Table, ...]
    learnt_rows: int
    pairs: tuple[PairFigures, ...]
    picks: tuple[PickFigures, ...]
    across: tuple[PairFigures, ...]
    risk: RiskFigures
    changes: tuple[Change, ...]
    spending: tuple[CostFigures, ...]
    texts: tuple[TextFigures, ...]
    overlaps: tuple[Overlap, ...]
    models: tuple[str, ...]
    heads: Heads
    curve: Curve | None
    anchors: tuple[Anchor, Anchor] | None
    apart: tuple[ApartFigures, ...] = ()
    """Tables that were judged by themselves; a bundle's card has none."""
    searched: Searched | None = None
    """What was tried on inner folds; None: nothing."""


def card(account: Account) -> str:
    """Return the model card."""
    return "\n".join([*_opening(account), *limits(), *sources(account), *report(account)]) + "\n"


def report(account: Account) -> Iterator[str]:
    """Yield the lines of the held-out figures."""
    yield from _pairs(account)
    yield from _picks(account)
    yield from spending(account.spending)
    yield from apart(account.apart)
    yield from _changes(account)
    yield from _goals(account)
    if account.searched is not None:
        yield from told(account.searched)
    yield from _texts(account)
    yield from _risk(account.risk)
    yield from _skills(account)


def _opening(account: Account) -> Iterator[str]:
    yield f"# Scoring artifact {account.version}"
    yield ""
    yield f"Made {account.as_of} from {account.learnt_rows:,} prompts with measured outcomes of"
    yield f"{len(account.models)} models. Format 2: static word-piece vectors with surface"
    yield f"features, {account.heads.clusters.count} clusters, a linear head that differs by region"
    yield "of texts, a word-piece head and, where anchors are given, an item-response curve."
    yield ""
    if account.remark:
        yield account.remark
        yield ""


def limits() -> Iterator[str]:
    """Yield the lines that say what the figures do not show."""
    yield "## What it knows, and what not"
    yield ""
    yield "- It knows the outcomes of the models and prompts of its tables. A catalog model that"
    yield "  was not measured is placed by a stated or tier-default skill (`estimated`), or borrows"
    yield "  a measured model's cells (`borrowed`)."
    yield "- Most of what it can tell apart is the topic or kind of task, and length. On topics"
    yield "  that are not in its tables it falls to about what prompt length gives."
    yield "- It hardly ranks inside one topic. It reads English; other scripts fall to single"
    yield "  letters."
    yield "- Where the two anchors of the skill scale lie is a judgement, not a measurement."
    yield "- A tenant's own outcomes will matter more than any choice made here."
    yield ""


def sources(account: Account) -> Iterator[str]:
    """Yield the lines about the tables, what they were for and under which licence."""
    yield "## Sources"
    yield ""
    yield "| Table | Licence | Rows | Dropped as contaminated | Use | SHA-256 |"
    yield "| --- | --- | --- | --- | --- | --- |"
    uses = [(table, "learnt") for table in account.learnt]
    for table, use in (*uses, *((table, "held out") for table in account.held_out)):
        licence = table.licence or "none stated"
        rows = f"{len(table.prompts):,} | {table.dropped_rows}"
        yield f"| {table.name} | {licence} | {rows} | {use} | `{table.digest[:16]}` |"
    yield ""
    yield "Rows whose question stands in a held-out table were not learnt from. The embedder's"
    yield "projection saw texts of tables, never outcomes."
    yield ""


def _pairs(account: Account) -> Iterator[str]:
    yield "## Weak against strong, rows not learnt from"
    yield ""
    yield "Five folds by question, learnt from all tables. `groups left out`: from that table"
    yield "alone, no group on both sides. `A to B`: learnt from table A alone, judged on B."
    yield ""
    yield "| Table | Rows | APGR | CPT50 / CPT80 | by length | TF-IDF | by group | oracle |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for figures in (*account.pairs, *account.across):
        groups = "-" if figures.groups is None else f"{figures.groups.apgr:.3f}"
        cells = (
            figures.table,
            f"{figures.rows:,}",
            _spread(figures.apgr, 3),
            _thresholds(figures.recovery),
            f"{figures.length.apgr:.3f}, {_thresholds(figures.length)}",
            f"{figures.tfidf.apgr:.3f}, {_thresholds(figures.tfidf)}",
            groups,
            f"{figures.oracle.apgr:.3f}",
        )
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield "Random order is 0.500. Group figures are out-of-fold means of the group. TF-IDF is a"
    yield "ridge on words and pairs of words, always fitted on the other folds of that very table."
    yield ""
    yield "| Table | Always weak | Always strong | Half by chance | Half by artifact |"
    yield "| --- | --- | --- | --- | --- |"
    for figures in account.pairs:
        points = figures.curves["artifact"]
        half = points[len(points) // 2][1]
        ends = f"{figures.weak:.3f} | {figures.strong:.3f}"
        chance = (figures.weak + figures.strong) / 2
        yield f"| {figures.table} | {ends} | {chance:.3f} | {half:.3f} |"
    yield ""


def _picks(account: Account) -> Iterator[str]:
    yield "## Best of many, rows not learnt from"
    yield ""
    yield "| Table | Rows | Picked | Best single | Oracle | Gain, points |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for figures in account.picks:
        gain = figures.gain
        points = Interval(100 * gain.value, 100 * gain.low, 100 * gain.high)
        cells = (
            figures.table,
            f"{figures.rows:,}",
            f"{figures.picked:.3f}",
            f"{figures.best_single:.3f}",
            f"{figures.oracle:.3f}",
            _spread(points, 2),
        )
        yield f"| {' | '.join(cells)} |"
    yield ""


def _changes(account: Account) -> Iterator[str]:
    if not account.changes:
        return
    yield f"## Against the earlier bundle {account.changes[0].bundle}, held-out tables"
    yield ""
    yield "| Table | Rows | Measure | Earlier | This | Difference |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for change in account.changes:
        values = f"{change.earlier:.3f} | {change.newer:.3f} | {_spread(change.difference, 3)}"
        yield f"| {change.table} | {change.rows:,} | {change.measure} | {values} |"
    yield ""
    yield f"Both on the same resampled rows. An interval below {LEAST_CHANGE:g} is a step back."
    yield ""


def _goals(account: Account) -> Iterator[str]:
    goals = goals_of((*account.pairs, *account.across), account.picks, account.apart)
    if not goals:
        return
    yield "## Goals"
    yield ""
    yield "| Table | Measure | Seen | Wanted | Met |"
    yield "| --- | --- | --- | --- | --- |"
    for goal in goals:
        sign = "at least" if goal.is_least else "at most"
        met = "yes" if goal.is_met else "**no**"
        wanted = f"{goal.seen:.4f} | {sign} {goal.wanted:g} | {met}"
        yield f"| {goal.table} | {goal.measure} | {wanted} |"
    yield ""


def _texts(account: Account) -> Iterator[str]:
    yield "## Texts"
    yield ""
    yield "| Table | Rows | Copies | Unknown word pieces | Far from every cluster |"
    yield "| --- | --- | --- | --- | --- |"
    for figures in account.texts:
        shares = f"{100 * figures.unknown_share:.2f} % | {100 * figures.far_share:.1f} %"
        yield f"| {figures.table} | {figures.rows:,} | {figures.copies:,} | {shares} |"
    yield ""
    for shared in account.overlaps:
        yield f"- {shared.first} and {shared.second} share {shared.questions:,} questions."
    yield ""


def _risk(risk: RiskFigures) -> Iterator[str]:
    yield "## Risk, rows not learnt from"
    yield ""
    yield "| Chance from | Brier | of means alone | Calibration error |"
    yield "| --- | --- | --- | --- |"
    named = [("measured cells", risk.measured)]
    if risk.curve is not None:
        named.append(("curve and skill", risk.curve))
    for name, figures in named:
        scores = f"{figures.brier:.4f} | {figures.base_brier:.4f}"
        yield f"| {name} | {scores} | {figures.calibration_error:.4f} |"
    for name, figures in named:
        yield from _bins(name, figures)
    yield ""


def _bins(name: str, figures: Reliability) -> Iterator[str]:
    yield ""
    yield f"| {name}: predicted | seen | cells |"
    yield "| --- | --- | --- |"
    for predicted, seen, rows in figures.bins:
        yield f"| {predicted:.3f} | {seen:.3f} | {rows:,} |"


def _skills(account: Account) -> Iterator[str]:
    if account.curve is None or account.anchors is None:
        return
    low, high = account.anchors
    yield "## Skills"
    yield ""
    yield f"Scale: `{low.model}` is {low.skill:g} and `{high.model}` {high.skill:g}; slope"
    yield f"{account.curve.slope:.3f}. A skill below 0 is below the weakest tier's scale."
    yield ""
    yield "| Measured model | Skill | Mean outcome |"
    yield "| --- | --- | --- |"
    for m, model in enumerate(account.models):
        skill, mean = account.curve.skills[m], account.heads.means[m]
        yield f"| {model} | {skill:.3f} | {mean:.3f} |"


def _spread(figure: Interval, digits: int) -> str:
    return f"{figure.value:.{digits}f} [{figure.low:.{digits}f}, {figure.high:.{digits}f}]"


def _thresholds(figures: Recovery) -> str:
    return f"{100 * figures.cpt50:.1f} / {100 * figures.cpt80:.1f} %"
