"""How long to wait for response headers."""

from __future__ import annotations

LEAST_FACTOR = 3
TOKENS_PER_FACTOR = 1000
DEADLINE_MARGIN_S = 0.5
"""Kept of the call's own time, so that the caller still hears why nothing came."""
LEAST_S = 0.1


def header_wait_s(
    limit_s: float, *, is_stream: bool, max_output_tokens: int, time_left_s: float | None
) -> float:
    """Return how long the headers of an answer may take, in seconds.

    ``limit_s`` is meant for streams, whose headers come before the first token. A whole answer has
    none until it is written: three times as long, and more where the client asks for more than
    three thousand tokens (30 s then stand for a thousand, which is what slow models take).
    ``time_left_s`` of None: the call has no end of its own.
    """
    factor = 1.0 if is_stream else max(LEAST_FACTOR, max_output_tokens / TOKENS_PER_FACTOR)
    wait_s = limit_s * factor
    if time_left_s is None:
        return wait_s
    return max(LEAST_S, min(wait_s, time_left_s - DEADLINE_MARGIN_S))
