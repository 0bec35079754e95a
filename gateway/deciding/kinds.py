"""What each kind of action means for deciding: who chooses its model. Pure."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.model.decision import Strategy, SummaryMode
from services.domain.vocab import TurnType

if TYPE_CHECKING:
    from collections.abc import Mapping


class Choosing(enum.Enum):
    """Who chooses the model of an action."""

    HARD_PIN = enum.auto()
    """A fixed or the cheapest model; the session does not hear of it."""
    SESSION = enum.auto()
    """What served the session last; the session does not hear of it."""
    SCORER = enum.auto()
    """The scorer alone; the session does not hear of it."""
    SCORER_AND_PIN = enum.auto()
    """The scorer, and the planner where the session is pinned."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How the deployment wants decisions made."""

    strategy: Strategy = Strategy.REQUESTED
    hard_pin: tuple[str, str] | None = None
    """Model and provider of hard-pinned actions; None: the fastest or cheapest."""
    is_sub_agent_pinned: bool = True
    sub_agent_pin: tuple[str, str] | None = None
    is_tool_result_scored: bool = True
    is_planner_on: bool = True
    passthrough_below_ratio: float | None = None
    """Use up to which a plan of the caller's serves what it asks for; None: never in a
    conversation."""
    is_escalation_on: bool = False
    escalation_model: str = ""
    """Model for agents that go round in circles; empty: the dearest of the highest tier."""
    escalation_holdout_percent: int = 10
    """Share of sessions that are left alone, to compare with."""
    summary_mode: SummaryMode = SummaryMode.PLANNED
    summarizer_model: str = ""
    compaction_ratio: float = 0.85
    """Share of the largest window at which a conversation is compacted; 0: never."""
    compaction_model: str = ""
    """Model whose family writes the summary of such a conversation; empty: only the session's, and
    that with a large window."""


_CHOOSING: Mapping[TurnType, Choosing] = {
    TurnType.PROBE: Choosing.HARD_PIN,
    TurnType.TITLE_GEN: Choosing.HARD_PIN,
    TurnType.COMPACTION: Choosing.SESSION,
    TurnType.RECAP: Choosing.SCORER,
    TurnType.CLASSIFIER: Choosing.SCORER,
}


def choosing(turn_type: TurnType, rules: Rules) -> Choosing:
    """Return who chooses the model of an action of this kind."""
    is_sub_agent = turn_type is TurnType.SUB_AGENT_DISPATCH
    if is_sub_agent and (rules.is_sub_agent_pinned or rules.sub_agent_pin is not None):
        return Choosing.HARD_PIN
    return _CHOOSING.get(turn_type, Choosing.SCORER_AND_PIN)


def hard_pin_of(turn_type: TurnType, rules: Rules) -> tuple[str, str] | None:
    """Return the fixed model and provider of an action of this kind; None: none is fixed."""
    if turn_type is TurnType.SUB_AGENT_DISPATCH and rules.sub_agent_pin is not None:
        return rules.sub_agent_pin
    return rules.hard_pin


def is_sticky(turn_type: TurnType, rules: Rules) -> bool:
    """Return whether a live pin answers an action of this kind without asking anybody."""
    is_spared = turn_type is TurnType.TOOL_RESULT and not rules.is_tool_result_scored
    return is_spared or not rules.is_planner_on
