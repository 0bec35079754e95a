"""Levels and budgets of reasoning, which dialects exchange for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.effort import LEVELS
from services.domain.wire.model import TransformAction

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Record, Request, Target

REASONING_FLOOR_TOKENS = 16_384
"""Least output limit of a target whose hidden reasoning counts and cannot be switched off.

The limit is a ceiling, so this costs nothing on short answers; without it helper requests with a
limit of 1 or 64 tokens return nothing.
"""

USUAL_LEVELS = ("low", "medium", "high")
"""Levels of a target that says nothing of its own."""

DEFAULT_BUDGET_TOKENS = 8192
"""Budget of a level that is not known."""

BUDGETS: Mapping[str, int] = {
    "minimal": 512,
    "low": 1024,
    "medium": 8192,
    "high": 24576,
    "xhigh": 24576,
    "max": 24576,
}
"""Budget in tokens that a level stands for, before a target's own limits."""


def fitted_limit(
    request: Request,
    target: Target,
    record: Record,
    name: str = "max_tokens",
    *,
    least: int = 0,
    is_native: bool = False,
) -> int | None:
    """Return the output limit to ask for: above what the dialect and reasoning need, then capped.

    A client of the dialect means what it says: its limit is only capped.
    """
    limit, cap = request.limits.max_output_tokens, target.max_output_tokens
    if limit is None:
        return None
    floor = REASONING_FLOOR_TOKENS if target.facts.reasoning == "always" else least
    if limit < floor and not is_native:
        record.note("reasoning_floor", TransformAction.CLAMPED, name)
        limit = floor
    if cap is not None and limit > cap:
        record.note(name, TransformAction.CLAMPED, name)
        limit = cap
    return limit


def level_of_budget(budget_tokens: int) -> str:
    """Return the level that a token budget stands for."""
    if budget_tokens <= 0:
        return "medium"
    if budget_tokens <= 4096:
        return "low"
    return "medium" if budget_tokens <= 16384 else "high"


def nearest_level(level: str, supported: tuple[str, ...]) -> str:
    """Return the supported level next to ``level``, the lower one of two equally near.

    An unknown level counts as ``medium``. Nothing supported: the level itself.
    """
    known = [name for name in supported if name in LEVELS]
    if not known or level in supported:
        return level
    if level == "xhigh" and "max" in known:
        return "max"
    rank = LEVELS.index(level) if level in LEVELS else LEVELS.index("medium")
    return min(known, key=lambda name: (abs(LEVELS.index(name) - rank), LEVELS.index(name)))
