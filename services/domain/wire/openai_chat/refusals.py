"""What a chat target would refuse, read from its catalog facts: one answer for both request paths.

Source: https://platform.openai.com/docs/guides/reasoning
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.effort import LEVELS
from services.domain.wire.levels import USUAL_LEVELS

if TYPE_CHECKING:
    from services.domain.wire.model import Target

_REFUSED_BY_REASONING = frozenset(
    [
        "stop",
        "temperature",
        "top_p",
        "presence_penalty",
        "frequency_penalty",
        "logit_bias",
        "logprobs",
        "top_logprobs",
    ]
)
_ALLOWED_AT_ONE = frozenset(["temperature", "top_p"])
_LEVELS = ("none", *LEVELS)

MAX_STOP_SEQUENCES = 4
"""Stop sequences that a chat upstream takes."""


def is_refused(key: str, value: object, target: Target) -> bool:
    """Whether ``target`` would refuse the request for its member ``key``."""
    if key in target.facts.refused_parameters:
        return True
    if key == "reasoning_effort":
        return target.facts.reasoning == "none"
    if key in _REFUSED_BY_REASONING and is_vendor_reasoning(target):
        return not (key in _ALLOWED_AT_ONE and value == 1)
    return False


def is_vendor_reasoning(target: Target) -> bool:
    """Whether the target is a reasoning model at the dialect's own vendor, which is strict."""
    return target.is_vendor and target.facts.reasoning != "none"


def output_limit_key(target: Target) -> str:
    """Return the name of the output limit that ``target`` reads."""
    if is_vendor_reasoning(target) or "max_tokens" in target.facts.refused_parameters:
        return "max_completion_tokens"
    return "max_tokens"


def nearest_level(level: str, target: Target, *, is_native: bool) -> str:
    """Return the supported level nearest to ``level``, of two the lower.

    A target whose levels are not known takes what its own clients send, the vendor without its
    highest, and low, medium or high of others.
    """
    supported = target.facts.reasoning_levels
    if not supported and level == "max" and target.is_vendor:
        return "xhigh"
    supported = supported or (() if is_native else USUAL_LEVELS)
    if not supported or level in supported:
        return level
    known = [name for name in supported if name in _LEVELS]
    if level not in _LEVELS or not known:
        return supported[0]
    wanted = _LEVELS.index(level)
    return min(known, key=lambda name: (abs(_LEVELS.index(name) - wanted), _LEVELS.index(name)))
