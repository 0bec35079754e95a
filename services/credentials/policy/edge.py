"""Ways out that an edge has closed: how long a challenge page keeps requests off one."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_S = 30.0
LONGEST_S = 600.0
MAX_LEVEL = 8


@dataclass(frozen=True, slots=True)
class Barrier:
    """One way out that was challenged."""

    since_unix_s: float
    until_unix_s: float
    level: int = 0

    def is_up(self, now_unix_s: float) -> bool:
        """Return whether it keeps requests off now."""
        return now_unix_s < self.until_unix_s


def after_challenge(
    barrier: Barrier | None, send_unix_s: float | None, now_unix_s: float
) -> Barrier:
    """Return the barrier after a challenge page: 30 s, twice as long each time, 10 min at most.

    Pages while it is up are one, and so are those of requests that were sent before it went up.
    """
    if barrier is None:
        return Barrier(now_unix_s, now_unix_s + FIRST_S)
    is_old_news = send_unix_s is not None and send_unix_s < barrier.since_unix_s
    if barrier.is_up(now_unix_s) or is_old_news:
        return barrier
    level = min(barrier.level + 1, MAX_LEVEL)
    return Barrier(now_unix_s, now_unix_s + min(FIRST_S * 2.0**level, LONGEST_S), level)


def after_answer(barrier: Barrier, send_unix_s: float | None) -> Barrier | None:
    """Return the barrier after the provider itself answered; None: the way is open.

    An answer to a request that was sent before it went up proves nothing.
    """
    is_proof = send_unix_s is not None and send_unix_s >= barrier.since_unix_s
    return None if is_proof else barrier
