"""Views of lanes, kept as long as neither the pool nor time changes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.policy.view import View
from services.credentials.server.bounded import Bounded

if TYPE_CHECKING:
    from services.credentials.model import Pool, Subject

MAX_VIEWS = 512


class Views:
    """Remembers the view of each lane and model that was asked about lately."""

    def __init__(self) -> None:
        self._kept: Bounded[tuple[str, str, Subject], View] = Bounded(MAX_VIEWS)

    def at(
        self, pool: Pool, installation_id: str, provider: str, subject: Subject, now_unix_s: float
    ) -> View:
        """Return how a tenant's lane at a provider stands towards a model now."""
        owner, lane = pool.lane_of(installation_id, provider)
        key = (owner, provider, subject)
        kept = self._kept.get(key)
        if kept is not None and kept.lane is lane and now_unix_s < kept.change_unix_s:
            return kept
        fresh = View.of(lane, subject, now_unix_s, kept)
        self._kept.put(key, fresh)
        return fresh
