"""The figures as tables: each contestant, and the production rule against its goals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.cli.simulate_planner.campaign import (
    ANY_MODEL,
    AS_SAFE,
    BOUND,
    CORRECTED,
    FOLLOW,
    LEGACY,
    NEVER,
    NOISY_WORLD,
    SUMMARIES,
    VALUE,
)
from services.cli.simulate_planner.world import WorldConfig
from services.cli.train_scorer.plots import Line, Plot, svg

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.cli.simulate_planner.campaign import Campaign, Result

    Row = dict[str, object]


DRAWN = (BOUND, VALUE, CORRECTED, LEGACY, FOLLOW, NEVER)


@dataclass(frozen=True, slots=True)
class Goal:
    """One figure and the most that it should be."""

    figure: str
    measured: float
    goal: float
    stretch: float

    @property
    def is_met(self) -> bool:
        """Whether the figure is within its goal."""
        return self.measured <= self.goal


def contestant_rows(results: Mapping[str, Result]) -> list[Row]:
    """Return one row per contestant; money and counts are means per session."""
    return [_row(name, result, results[BOUND]) for name, result in results.items()]


def _row(name: str, result: Result, bound: Result) -> Row:
    count, account = len(result.accounts), result.sum
    return {
        "rule": name,
        "ratio": round(result.ratio(bound), 4),
        "interval": _span(result.interval(bound)),
        "cost_usd": round(account.cost_usd / count, 4),
        "cost_interval": _span(result.cost_interval_usd),
        "under_served_usd": round(account.under_served * result.risk_price_usd / count, 4),
        "under_served_interval": _span(result.under_served_interval_usd),
        "switches": round(account.switches / count, 2),
        "ping_pongs": round(account.ping_pongs / count, 2),
        "in_tool_loops": round(account.mid_loop_switches / count, 2),
        "summaries": round(account.summaries / count, 2),
    }


def _span(interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{low:.3f}-{high:.3f}"


def plot(results: Mapping[str, Result]) -> str:
    """Return a drawing of the main rules on both axes, as SVG; a cross spans both intervals."""
    return svg(
        Plot(
            "Cost and under-serving per session",
            "cost, USD",
            "priced under-serving, USD",
            [Line(name, _cross(results[name])) for name in DRAWN if name in results],
        )
    )


def _cross(result: Result) -> list[tuple[float, float]]:
    """Return a line along both intervals, through the middle."""
    account, count = result.sum, len(result.accounts)
    x = account.cost_usd / count
    y = account.under_served * result.risk_price_usd / count
    (left, right), (low, high) = result.cost_interval_usd, result.under_served_interval_usd
    return [(left, y), (right, y), (x, y), (x, low), (x, high)]


def goals(results: Mapping[str, Result], swept: Sequence[tuple[Campaign, float]]) -> list[Goal]:
    """Return the production rule's figures with their goals; ``swept`` may be empty."""
    own, safe, other = (results[name] for name in (VALUE, AS_SAFE, CORRECTED))
    count, account = len(own.accounts), own.sum
    believed = account.believed_usd / account.believed_bill_usd
    found = [
        Goal("ratio to the bound, upper end", own.interval(results[BOUND])[1], 1.10, 1.07),
        Goal("ratio to any model", own.ratio(results[ANY_MODEL]), 1.18, 1.12),
        Goal(
            "cost against corrected, as safe",
            _more(safe.sum.cost_usd, other.sum.cost_usd),
            -0.12,
            -0.20,
        ),
        Goal("under-serving there", _more(safe.sum.under_served, other.sum.under_served), 0.0, 0.0),
        Goal("switches per session", account.switches / count, 2.5, 2.0),
        Goal("ping-pongs per session", account.ping_pongs / count, 0.7, 0.3),
        Goal("believed against billed", abs(believed - 1), 0.05, 0.01),
        Goal("ratio with kept summaries", results[SUMMARIES].ratio(results[BOUND]), 1.05, 1.00),
    ]
    return found + _worst_goals(swept) if swept else found


def _more(amount: float, than: float) -> float:
    """Return the relative difference."""
    return amount / than - 1


def _worst_goals(swept: Sequence[tuple[Campaign, float]]) -> list[Goal]:
    by_price = [ratio for campaign, ratio in swept if is_base(campaign)]
    calm = [
        ratio
        for campaign, ratio in swept
        if not is_base(campaign) and campaign.config != NOISY_WORLD
    ]
    noisy = [ratio for campaign, ratio in swept if campaign.config == NOISY_WORLD]
    return [
        Goal("worst price of risk", max(by_price), 1.16, 1.12),
        Goal("worst world, noise up to x1", max(calm), 1.15, 1.10),
        Goal("worst world, noise x2", max(noisy), 1.18, 1.13),
    ]


def is_base(campaign: Campaign) -> bool:
    """Return whether it is played in the base world, at whatever price of risk."""
    return campaign.config == WorldConfig() and not campaign.is_pick_calibrated


def sweep_rows(swept: Sequence[tuple[str, float]]) -> list[Row]:
    """Return one row per price of risk and world that was tried."""
    return [{"tried": name, "ratio": round(ratio, 4)} for name, ratio in swept]


def headline(results: Mapping[str, Result]) -> str:
    """Return the production rule in one line; the bound must be among the results."""
    own, bound = results[VALUE], results[BOUND]
    count = len(own.accounts)
    return (
        f"planner: {own.ratio(bound):.3f} of the bound ({_span(own.interval(bound))}),"
        f" {own.sum.switches / count:.2f} switches and {own.sum.ping_pongs / count:.2f}"
        f" ping-pongs in {count} simulated sessions"
    )


def goal_rows(found: Sequence[Goal]) -> list[Row]:
    """Return one row per goal."""
    return [
        {
            "figure": goal.figure,
            "measured": round(goal.measured, 4),
            "goal": goal.goal,
            "stretch": goal.stretch,
            "met": goal.is_met,
        }
        for goal in found
    ]
