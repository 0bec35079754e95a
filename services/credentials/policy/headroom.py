"""How much of their quota windows the accounts of a lane have left, for whoever weighs models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.model import OVERAGE_INCLUDED, Headroom, MarkKind
from services.credentials.policy.plans import coarse, is_past

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from services.credentials.model import Credential, Usage, WindowUse

SPENT = 0.0
STEPS = 2
"""Digits that are told: uses come in steps of 0.05."""


def headroom_of(
    lane: Iterable[Credential], usage_of: Callable[[str], Usage], now_unix_s: float
) -> Headroom:
    """Return the headroom of a lane, and of the families that draw on a window of their own.

    Names no account. Of several accounts the best one counts; where that one is spent and another
    was never observed, nothing is known.
    """
    accounts = [_Account(one, usage_of(one.id), now_unix_s) for one in lane if one.is_usable]
    families = sorted({family for account in accounts for family in account.families})
    return Headroom(
        _best(account.left("") for account in accounts),
        tuple((family, _best(account.left(family) for account in accounts)) for family in families),
    )


class _Account:
    """The windows of one account that have not passed, and what blocks it."""

    def __init__(self, credential: Credential, usage: Usage, now_unix_s: float) -> None:
        self._bound = credential.bound_families
        self._blocks = [
            mark
            for mark in credential.active_marks(now_unix_s)
            if mark.kind is MarkKind.QUOTA and not (mark.model_id or mark.feature)
        ]
        self._current = coarse(tuple(use for use in usage if not is_past(use, now_unix_s)))
        blocked = {mark.family for mark in self._blocks if mark.family}
        self.families = blocked | set(self._bound)

    def left(self, family: str) -> float | None:
        """Return the lowest unused share of the windows that bind a family; None: not known."""
        if any(mark.family in ("", family) for mark in self._blocks):
            return SPENT
        unused = [
            _unused(use)
            for use in self._current
            if use.window != OVERAGE_INCLUDED or family in self._bound
        ]
        return min((share for share in unused if share is not None), default=None)


def _unused(use: WindowUse) -> float | None:
    if use.utilization_ratio is None:
        return None
    return round(max(SPENT, 1.0 - use.utilization_ratio), STEPS)


def _best(found: Iterable[float | None]) -> float | None:
    shares = list(found)
    best = max((share for share in shares if share is not None), default=None)
    return None if best == SPENT and None in shares else best
