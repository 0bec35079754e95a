"""What endpoints were found not to know, for an hour: soft, bounded, shared where there is a way.

Places are told to other replicas as digests: no address of a tenant leaves the process.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING

from services.dispatch.policy.lessons import FAST_TIER, GIVEN_UP, RESPONSES_API
from services.dispatch.ports import Memo

if TYPE_CHECKING:
    from services.dispatch.policy.lessons import Lesson
    from services.dispatch.ports import SharedMemos
    from services.runtime.clock import Clock

TTL_S = 3600.0
MAX_MEMOS = 4096
"""Endpoints, and models at endpoints, of which something is kept."""
_FEATURES = frozenset({RESPONSES_API, FAST_TIER, *GIVEN_UP})


class Memos:
    """Features that are not to be tried: by endpoint, by model there, by tenant of that."""

    def __init__(self, clock: Clock, shared: SharedMemos | None = None) -> None:
        self._clock = clock
        self._shared = shared
        self._rows: OrderedDict[str, dict[str, float]] = OrderedDict()

    def learn(self, base_url: str, model: str, lesson: Lesson, tenant: str = "") -> None:
        """Keep a lesson, and tell the others."""
        if not lesson.ttl_s:
            return
        place = _place(
            base_url,
            model if lesson.is_of_model else "",
            tenant if lesson.is_of_tenant else "",
        )
        memo = Memo(place, lesson.feature, lesson.ttl_s)
        self.hear(memo)
        if self._shared is not None:
            self._shared.learned(memo)

    def hear(self, memo: Memo) -> None:
        """Keep what was learned, here or elsewhere; the oldest go first when there are too many."""
        if memo.feature not in _FEATURES or not 0 < memo.left_s <= TTL_S:
            return
        row = self._rows.setdefault(memo.place, {})
        self._rows.move_to_end(memo.place)
        until_s = self._clock.monotonic_s() + memo.left_s
        row[memo.feature] = max(until_s, row.get(memo.feature, 0.0))
        while len(self._rows) > MAX_MEMOS:
            self._rows.popitem(last=False)

    def given_up(self, base_url: str, model: str, tenant: str = "") -> frozenset[str]:
        """Return the features that a request to a model of an endpoint is built without."""
        if not self._rows:
            return frozenset()
        now_s = self._clock.monotonic_s()
        places = (_place(base_url), _place(base_url, model), _place(base_url, model, tenant))
        rows = (self._rows.get(place, {}) for place in places)
        return frozenset(
            feature for row in rows for feature, until_s in row.items() if until_s > now_s
        )


def _place(base_url: str, model: str = "", tenant: str = "") -> str:
    return hashlib.sha256(f"{base_url}\0{model}\0{tenant}".encode()).hexdigest()[:32]
