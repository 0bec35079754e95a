"""The inputs of a plan after clamping and defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.planner.model.decision import UsedInputs
from services.planner.model.question import Economics

if TYPE_CHECKING:
    from services.planner.model.question import Question
    from services.planner.model.rules import Rules

UNKNOWN_SHARE = 0.85
"""Cached share that value assumes where none is known: the median of real sessions."""


def used_inputs(question: Question, rules: Rules, *, is_cold: bool) -> UsedInputs:
    """Return the inputs as the sums read them; quality has no price outside of value."""
    tokens, known = question.input_tokens, question.prefix_tokens
    is_value = rules.economics is Economics.VALUE
    if known is not None:
        prefix, share = _clamped(known, tokens)
    elif is_value:
        prefix, share = _clamped(int(UNKNOWN_SHARE * tokens), tokens)
    else:
        prefix, share = tokens, 1.0
    return UsedInputs(
        input_tokens=tokens,
        prefix_tokens=prefix,
        is_prefix_known=known is not None,
        cached_share=share,
        output_tokens=question.output_tokens,
        leftover_tokens=min(question.fresh.leftover_tokens, prefix),
        remaining_actions=rules.remaining_actions,
        threshold_usd=rules.threshold,
        risk_price_usd=rules.risk_price_usd if is_value else 0.0,
        persistence=rules.persistence if is_value else 0.0,
        is_cold=is_cold,
    )


def _clamped(prefix: int, tokens: int) -> tuple[int, float]:
    """Return the prefix within the prompt and its share; a prefix of 0 has a share of 0."""
    prefix = min(max(prefix, 0), tokens)
    return prefix, prefix / tokens if prefix else 0.0
