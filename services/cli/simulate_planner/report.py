"""The figures as tables: each contestant, and the production rule against its goals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.cli.simulate_planner.campaign import (
    ANY_MODEL,
    AS_SAFE,
    BOUND,
    CORRECTED,
    NOISY_WORLD,
    SUMMARIES,
    VALUE,
)
from services.cli.simulate_planner.world import WorldConfig

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.cli.simulate_planner.campaign import Campaign, Result

    Row = dict[str, object]


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
    low, high = result.interval(bound)
    return {
        "rule": name,
        "ratio": round(result.ratio(bound), 4),
        "interval": f"{low:.3f}-{high:.3f}",
        "cost_usd": round(account.cost_usd / count, 4),
        "under_served_usd": round(account.under_served * result.risk_price_usd / count, 4),
        "switches": round(account.switches / count, 2),
        "ping_pongs": round(account.ping_pongs / count, 2),
        "in_tool_loops": round(account.mid_loop_switches / count, 2),
        "summaries": round(account.summaries / count, 2),
    }


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
    by_price = [ratio for campaign, ratio in swept if campaign.config == WorldConfig()]
    calm = [ratio for campaign, ratio in swept if campaign.config != NOISY_WORLD]
    noisy = [ratio for campaign, ratio in swept if campaign.config == NOISY_WORLD]
    return [
        Goal("worst price of risk", max(by_price), 1.16, 1.12),
        Goal("worst world, noise up to x1", max(calm), 1.15, 1.10),
        Goal("worst world, noise x2", max(noisy), 1.18, 1.13),
    ]


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
