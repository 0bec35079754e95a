"""Figures that the shipped artifact is to reach; they are reported, whatever comes out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from services.cli.train_scorer.judging import PairFigures, PickFigures

MMLU, GSM8K = "routellm/mmlu", "routellm/gsm8k"
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
}
PICK_GOALS: Mapping[str, Mapping[str, float]] = {
    UIUC: {"gain": 0.025, "gain, lower bound": 0.018},
    UIUC_TEST: {"accuracy": 0.577},
}


def goals_of(pairs: tuple[PairFigures, ...], picks: tuple[PickFigures, ...]) -> tuple[Goal, ...]:
    """Return the goals of the tables that were judged."""
    return (*_of_pairs(pairs), *_of_picks(picks))


def _of_pairs(pairs: tuple[PairFigures, ...]) -> Iterator[Goal]:
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


def _of_picks(picks: tuple[PickFigures, ...]) -> Iterator[Goal]:
    for figures in picks:
        seen = {
            "accuracy": figures.picked,
            "gain": figures.gain.value,
            "gain, lower bound": figures.gain.low,
        }
        for measure, wanted in PICK_GOALS.get(figures.table, {}).items():
            yield Goal(figures.table, measure, seen[measure], wanted, is_least=True)
