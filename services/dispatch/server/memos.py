"""What endpoints were found not to know, for an hour: soft, per process, bounded."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.dispatch.policy.lessons import Lesson
    from services.runtime.clock import Clock

TTL_S = 3600.0
MAX_MEMOS = 4096
"""Endpoints, and models at endpoints, of which something is kept."""


class Memos:
    """Features that are not to be tried, by endpoint or by model there."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rows: OrderedDict[tuple[str, str], dict[str, float]] = OrderedDict()

    def learn(self, base_url: str, model: str, lesson: Lesson) -> None:
        """Keep a lesson; the oldest go first when there are too many."""
        if not lesson.is_kept:
            return
        key = (base_url, model if lesson.is_of_model else "")
        row = self._rows.setdefault(key, {})
        self._rows.move_to_end(key)
        row[lesson.feature] = self._clock.monotonic_s() + TTL_S
        while len(self._rows) > MAX_MEMOS:
            self._rows.popitem(last=False)

    def given_up(self, base_url: str, model: str) -> frozenset[str]:
        """Return the features that a request to a model of an endpoint is built without."""
        if not self._rows:
            return frozenset()
        now_s = self._clock.monotonic_s()
        rows = (self._rows.get((base_url, name), {}) for name in ("", model))
        return frozenset(
            feature for row in rows for feature, until_s in row.items() if until_s > now_s
        )
