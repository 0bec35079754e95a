"""Views of lanes, kept as long as neither the pool nor time changes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.policy.matching import split_prefix
from services.credentials.policy.view import View
from services.credentials.server.bounded import Bounded

if TYPE_CHECKING:
    from services.credentials.model import Pool, Subject
    from services.credentials.policy.evidence import Rules

MAX_VIEWS = 512


class Views:
    """Remembers the view of each lane and model that was asked about lately."""

    def __init__(self, rules: Rules, *, is_prefix_forced: bool = False) -> None:
        self._rules = rules
        self._is_prefix_forced = is_prefix_forced
        self._kept: Bounded[tuple[str, str, str, Subject], View] = Bounded(MAX_VIEWS)

    def at(
        self, pool: Pool, installation_id: str, provider: str, model_id: str, now_unix_s: float
    ) -> View:
        """Return how a tenant's lane at a provider stands towards a model now."""
        owner, lane = pool.lane_of(installation_id, provider)
        prefix, bare = split_prefix(model_id, pool.prefixes)
        subject = self._rules.subject(bare)
        key = (owner, provider, prefix, subject)
        kept = self._kept.get(key)
        if kept is not None and kept.lane is lane and now_unix_s < kept.change_unix_s:
            return kept
        fresh = View.of(
            lane,
            subject,
            now_unix_s,
            kept,
            prefix=prefix,
            is_prefix_forced=self._is_prefix_forced,
        )
        self._kept.put(key, fresh)
        return fresh
