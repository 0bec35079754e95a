"""How much a target is asked to reason, by the words of OpenAI's dialects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.levels import level_of_budget
from services.domain.wire.model import TransformAction
from services.domain.wire.openai_chat.refusals import nearest_level

if TYPE_CHECKING:
    from services.domain.wire.model import Request, Target
    from services.domain.wire.openai_chat.render import Rendering


def wished_effort(request: Request, target: Target, rendering: Rendering, path: str) -> str | None:
    """Return the effort to ask for; ``auto`` leaves it to the target.

    ``path`` is the member that says it, for the record of what was done to the wish.
    """
    reasoning, levels = request.reasoning, target.facts.reasoning_levels
    if reasoning.mode == "off":
        if rendering.is_native or "none" in levels:
            return "none"
        if target.facts.reasoning == "none":
            return None
        rendering.note("reasoning_off", TransformAction.PROJECTED, path)
        return "minimal" if "minimal" in levels else None
    if reasoning.mode == "budget":
        wanted = level_of_budget(reasoning.budget_tokens)
        rendering.note("reasoning_budget", TransformAction.PROJECTED, path)
    elif reasoning.mode == "level":
        wanted = reasoning.level
    else:
        return None
    level = nearest_level(wanted, target, is_native=rendering.is_native)
    if level != wanted:
        rendering.note("reasoning_level", TransformAction.CLAMPED, path)
    return level
