"""How a wish for reasoning is put to a target of this dialect, by its catalog facts.

Some models take a level, others a budget of tokens; none takes both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from services.domain.wire.levels import (
    BUDGETS,
    DEFAULT_BUDGET_TOKENS,
    USUAL_LEVELS,
    level_of_budget,
    nearest_level,
)

if TYPE_CHECKING:
    from services.domain.catalog import ModelFacts
    from services.domain.wire.model import Reasoning


class Plan(NamedTuple):
    """The ``thinkingConfig`` to send, None for no member, and what was done to the wish."""

    config: dict[str, object] | None = None
    code: str = ""


def plan_thinking(wish: Reasoning, facts: ModelFacts) -> Plan:
    """Return how to ask ``facts``' model for what ``wish`` says; thoughts are asked for with it."""
    if wish.mode == "unset":
        return Plan()
    if facts.reasoning == "none":
        return Plan(code="" if wish.mode == "off" else "reasoning_unsupported")
    if wish.mode == "auto":
        return Plan({"includeThoughts": True})
    if wish.mode == "off":
        is_possible = facts.reasoning_budget and facts.reasoning != "always"
        return Plan({"thinkingBudget": 0}) if is_possible else Plan(code="reasoning_always_on")
    shown: dict[str, object] = {"includeThoughts": True}
    if facts.reasoning_budget:
        if wish.mode == "budget":
            return Plan({**shown, "thinkingBudget": wish.budget_tokens})
        budget = BUDGETS.get(wish.level, DEFAULT_BUDGET_TOKENS)
        return Plan({**shown, "thinkingBudget": budget}, "level_to_budget")
    wanted = level_of_budget(wish.budget_tokens) if wish.mode == "budget" else wish.level
    level = nearest_level(wanted, facts.reasoning_levels or USUAL_LEVELS)
    is_met = wish.mode == "level" and level == wanted
    return Plan({**shown, "thinkingLevel": level}, "" if is_met else "reasoning_projected")
