"""Which of several equal candidates is next."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from services.credentials.model import Cursor, Strategy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.credentials.model import Credential


def choose(
    strategy: Strategy, candidates: Sequence[Credential], cursor: Cursor
) -> tuple[Credential, Strategy, Cursor]:
    """Return the next of one or more candidates in id order, the rule used and the new cursor."""
    if len(candidates) == 1:
        only = candidates[0]
        return only, Strategy.SOLE, Cursor(only.id, cursor.current_weights)
    match strategy:
        case Strategy.FILL_FIRST:
            first = min(candidates, key=lambda c: (c.spec.order, c.create_unix_s, c.id))
            return first, strategy, Cursor(first.id)
        case Strategy.WEIGHTED:
            return _weighted(candidates, cursor)
        case _:
            return _round_robin(candidates, cursor)


def _round_robin(
    candidates: Sequence[Credential], cursor: Cursor
) -> tuple[Credential, Strategy, Cursor]:
    """Go on after the last id, so that a change of membership skips and repeats nobody."""
    after = bisect_right(candidates, cursor.last_id, key=lambda c: c.id)
    following = candidates[after % len(candidates)]
    return following, Strategy.ROUND_ROBIN, Cursor(following.id)


def _weighted(
    candidates: Sequence[Credential], cursor: Cursor
) -> tuple[Credential, Strategy, Cursor]:
    """Smooth weighted turns: each gains its weight, the richest serves and pays the sum."""
    before = dict(cursor.current_weights)
    gained = {c.id: before.get(c.id, 0) + c.spec.effective_weight for c in candidates}
    total = sum(c.spec.effective_weight for c in candidates)
    chosen = max(candidates, key=lambda c: gained[c.id])
    gained[chosen.id] -= total
    return chosen, Strategy.WEIGHTED, Cursor(chosen.id, tuple(gained.items()))
