"""Figures that the shipped artifact is to reach; they are reported, whatever comes out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.cli.train_scorer.apart import ApartFigures
from services.cli.train_scorer.judging import PairFigures, PickFigures

MMLU, GSM8K = "routellm/mmlu", "routellm/gsm8k"
ROUTERBENCH = "routerbench-slice"
UIUC, UIUC_TEST = "llmrouter-uiuc/train", "llmrouter-uiuc/test"


@dataclass(frozen=True, slots=True)
class Goal:
    """One figure beside what was to be reached."""

    table: str
    measure: str
    seen: float
    wanted: float
    is_least: bool
    """Whether more is better."""

    @property
    def is_met(self) -> bool:
        """Whether the figure is as good as wanted."""
        return self.seen >= self.wanted if self.is_least else self.seen <= self.wanted


PAIR_GOALS: Mapping[str, Mapping[str, float]] = {
    MMLU: {"APGR": 0.675, "CPT50": 0.275, "CPT80": 0.60},
    GSM8K: {"APGR": 0.635, "CPT50": 0.34, "CPT80": 0.64},
    f"{MMLU}, groups left out": {"APGR": 0.595, "APGR, lower bound": 0.57},
    f"{MMLU} to {GSM8K}": {"APGR": 0.59},
    f"{MMLU} to {ROUTERBENCH}": {"APGR": 0.52},
}
PICK_GOALS: Mapping[str, Mapping[str, float]] = {
    UIUC: {"gain": 0.025, "gain, lower bound": 0.018},
    UIUC_TEST: {"accuracy": 0.577},
}
BUDGETS: Mapping[str, Mapping[float, float]] = {ROUTERBENCH: {0.34: 0.808, 1.75: 0.852}}
"""Accuracy wanted for so many USD for 1,000 prompts."""
SPENDING_GOALS: Mapping[str, Mapping[str, float]] = {
    ROUTERBENCH: {
        "USD for 98 % of the best": 2.5,
        "over single models, by USD": 0.029,
        "over single models, by doublings": 0.024,
    }
}


def goals_of(
    pairs: Sequence[PairFigures],
    picks: Sequence[PickFigures],
    apart: Sequence[ApartFigures] = (),
) -> tuple[Goal, ...]:
    """Return the goals of the tables that were judged."""
    return (*_of_pairs(pairs), *_of_picks(picks), *_of_spending(apart))


def _of_pairs(pairs: Sequence[PairFigures]) -> Iterator[Goal]:
    for figures in pairs:
        seen = {
            "APGR": figures.recovery.apgr,
            "APGR, lower bound": figures.apgr.low,
            "CPT50": figures.recovery.cpt50,
            "CPT80": figures.recovery.cpt80,
        }
        for measure, wanted in PAIR_GOALS.get(figures.table, {}).items():
            is_least = measure.startswith("APGR")
            yield Goal(figures.table, measure, seen[measure], wanted, is_least)


def _of_picks(picks: Sequence[PickFigures]) -> Iterator[Goal]:
    for figures in picks:
        seen = {
            "accuracy": figures.picked,
            "gain": figures.gain.value,
            "gain, lower bound": figures.gain.low,
        }
        for measure, wanted in PICK_GOALS.get(figures.table, {}).items():
            yield Goal(figures.table, measure, seen[measure], wanted, is_least=True)


def _of_spending(apart: Sequence[ApartFigures]) -> Iterator[Goal]:
    for figures in apart:
        spent, table = figures.spending, figures.table
        for usd, wanted in BUDGETS.get(table, {}).items():
            name = f"accuracy for {usd:g} USD"
            yield Goal(table, name, spent.accuracy_at(usd), wanted, is_least=True)
        enough = math.inf if spent.enough_usd is None else spent.enough_usd
        seen = {
            "USD for 98 % of the best": enough,
            "over single models, by USD": spent.over_hull,
            "over single models, by doublings": spent.over_hull_log,
        }
        for measure, wanted in SPENDING_GOALS.get(table, {}).items():
            yield Goal(table, measure, seen[measure], wanted, not measure.startswith("USD"))
