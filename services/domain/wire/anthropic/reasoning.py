"""How a wish for reasoning is put to a Messages target, by what its catalog facts say."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from services.domain.wire.levels import (
    BUDGETS,
    DEFAULT_BUDGET_TOKENS,
    level_of_budget,
    nearest_level,
)
from services.domain.wire.model import Thinking, ToolResult

if TYPE_CHECKING:
    from services.domain.catalog import ModelFacts
    from services.domain.wire.model import Reasoning, Request, Target

MIN_BUDGET_TOKENS = 1024
"""Smallest thinking budget that the dialect accepts."""


class Plan(NamedTuple):
    """The members to send. ``thinking`` is None for no member, ``effort`` empty for none."""

    thinking: dict[str, object] | None = None
    effort: str = ""
    max_tokens: int | None = None
    code: str = ""
    """What was done to the wish; empty when it is met as it is."""

    @property
    def is_thinking(self) -> bool:
        """Whether the target will reason."""
        return self.thinking is not None and self.thinking.get("type") != "disabled"


def plan_reasoning(
    wish: Reasoning, facts: ModelFacts, *, max_tokens: int, cap: int | None, has_open_tools: bool
) -> Plan:
    """Return how to ask ``facts``' model for what ``wish`` says.

    ``has_open_tools`` says that the last turn answers tool calls which no signed reasoning came
    before: a budget is refused there, so reasoning is switched off for this turn.
    """
    if wish.mode in ("unset", "auto"):
        return Plan()
    if facts.reasoning == "none":
        return Plan(code="" if wish.mode == "off" else "reasoning_unsupported")
    if wish.mode == "off":
        return _off(facts)
    level = wish.level if wish.mode == "level" else level_of_budget(wish.budget_tokens)
    if facts.adaptive_thinking and (wish.mode == "level" or not facts.reasoning_budget):
        effort = nearest_level(level, facts.reasoning_levels)
        is_met = wish.mode == "level" and effort == level
        return Plan({"type": "adaptive"}, effort, code="" if is_met else "reasoning_projected")
    budget = (
        wish.budget_tokens if wish.mode == "budget" else BUDGETS.get(level, DEFAULT_BUDGET_TOKENS)
    )
    if has_open_tools:
        return Plan(code="reasoning_off_in_tool_loop")
    return _budgeted(budget, max_tokens, cap, "" if wish.mode == "budget" else "level_to_budget")


def _off(facts: ModelFacts) -> Plan:
    if facts.reasoning != "always":
        return Plan({"type": "disabled"})
    lowest = nearest_level("minimal", facts.reasoning_levels) if facts.reasoning_levels else ""
    return Plan(effort=lowest if facts.adaptive_thinking else "", code="reasoning_always_on")


def _budgeted(budget: int, max_tokens: int, cap: int | None, code: str) -> Plan:
    """Return the plan of a budget that must stay below the output limit.

    The limit is raised up to the target's cap, else the budget lowered, else reasoning left off.
    """
    budget = max(MIN_BUDGET_TOKENS, budget)
    limit = max_tokens
    if budget >= limit:
        limit = budget + max_tokens if cap is None else min(cap, budget + max_tokens)
        code = "max_tokens_raised"
    if budget >= limit:
        budget = limit - 1
        code = "budget_lowered"
    if budget < MIN_BUDGET_TOKENS:
        return Plan(code="budget_does_not_fit")
    thinking: dict[str, object] = {"type": "enabled", "budget_tokens": budget}
    return Plan(thinking, max_tokens=limit if limit != max_tokens else None, code=code)


def answers_unsigned_calls(request: Request, target: Target) -> bool:
    """Whether the last turn answers calls that no reasoning comes before which stays signed."""
    turns = request.turns
    if len(turns) < 2 or not any(isinstance(block, ToolResult) for block in turns[-1].blocks):
        return False
    if target.is_model_switched:
        return True
    said = [b for b in turns[-2].blocks if not isinstance(b, Thinking) or b.state]
    return not (said and isinstance(said[0], Thinking))


def is_of_reasoning(edit: object) -> bool:
    """Whether an edit of context is one that clears old reasoning."""
    return isinstance(edit, dict) and str(edit.get("type")).startswith("clear_thinking")
