"""Windows of models: how much goes into one, and what of it is kept free for the answer. Pure."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.domain.catalog import Binding, ModelFacts

LEAST_RESERVE_TOKENS = 8_000
"""Room for an answer of which the client says nothing."""
LONG_CONTEXT_TOKENS = 1_000_000


def window_of(binding: Binding, facts: ModelFacts, *, is_long_asked: bool) -> int:
    """Return the window of a binding: the long one where it is asked for and the model has it."""
    window = binding.context_window_tokens
    return max(window, LONG_CONTEXT_TOKENS) if is_long_asked and facts.extended_context else window


def reserve_of(window: int, wanted_tokens: int) -> int:
    """Return the room for the answer: what is asked for, and no more than half of the window.

    Where little or nothing is asked for, that is 8,000 tokens, and at most a quarter of the window.
    """
    return max(min(LEAST_RESERVE_TOKENS, window // 4), min(wanted_tokens, window // 2))


@functools.lru_cache(maxsize=1_024)
def room_in(window: int, wanted_tokens: int) -> int:
    """Return the largest prompt that leaves the answer its room; it grows with the window."""
    return window - reserve_of(window, wanted_tokens)
