"""Keeps eligibility snapshots fresh for the installations that gateways ask about."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from services.credentials.policy.eligibility import snapshot_of
from services.credentials.server.bounded import Bounded

if TYPE_CHECKING:
    from services.credentials.model import Snapshot
    from services.credentials.server.feed import Feed
    from services.credentials.server.grants import Grants
    from services.credentials.server.lapses import Lapses
    from services.credentials.server.usages import Usages
    from services.credentials.server.vault import Vault
    from services.runtime.clock import Clock

MAX_INSTALLATIONS = 10_000
ASKED_TTL_S = 600.0
MERGE_S = 0.1
LONGEST_PAUSE_S = 60.0


class EligibilityBook:
    """Answers snapshots, and publishes a new one whenever an asked-for one has changed."""

    def __init__(
        self,
        vault: Vault,
        grants: Grants,
        usages: Usages,
        feed: Feed,
        lapses: Lapses,
        clock: Clock,
    ) -> None:
        self._vault = vault
        self._grants = grants
        self._usages = usages
        self._feed = feed
        self._lapses = lapses
        self._clock = clock
        self._asked: Bounded[str, str] = Bounded(MAX_INSTALLATIONS, ASKED_TTL_S)
        self._cache: Bounded[str, tuple[float, Snapshot]] = Bounded(MAX_INSTALLATIONS)
        self._dirty = asyncio.Event()

    def ask(self, installation_id: str) -> Snapshot:
        """Return what can serve an installation, and watch it for ten minutes."""
        snapshot = self._snapshot(installation_id)
        self._asked.put(installation_id, snapshot.version, self._clock.monotonic_s())
        return snapshot

    def keep(self, installation_id: str) -> None:
        """Go on watching an installation that was asked about: it has traffic."""
        version = self._asked.get(installation_id, self._clock.monotonic_s())
        if version is not None:
            self._asked.put(installation_id, version, self._clock.monotonic_s())

    def asked(self) -> list[Snapshot]:
        """Return the snapshots of all installations asked about lately."""
        live = self._asked.live(self._clock.monotonic_s())
        return [self._snapshot(installation_id) for installation_id, _ in live]

    def touch(self) -> None:
        """Note that something changed."""
        self._cache = Bounded(MAX_INSTALLATIONS)
        self._dirty.set()

    async def run(self) -> None:
        """Publish changed snapshots until cancelled; changes close together are merged."""
        while True:
            await self._until_something_changes()
            await self._clock.sleep(MERGE_S)
            self._dirty.clear()
            self._publish_changed()

    def _publish_changed(self) -> None:
        now_s = self._clock.monotonic_s()
        for installation_id, version in self._asked.live(now_s):
            snapshot = self._snapshot(installation_id)
            if snapshot.version != version:
                # The age of the question stays: publishing is no asking.
                self._asked.replace(installation_id, snapshot.version)
                self._feed.publish(installation_id, snapshot)

    async def _until_something_changes(self) -> None:
        pause_s = LONGEST_PAUSE_S
        now, monotonic_s = self._clock.now_unix_s(), self._clock.monotonic_s()
        due = self._lapses.next_unix_s(self._vault.pool, now)
        if due is not None:
            pause_s = min(pause_s, max(0.0, due - now))
        lapse_s = self._grants.next_due_s()
        if lapse_s is not None:
            pause_s = min(pause_s, max(MERGE_S, lapse_s - monotonic_s))
        either = {
            asyncio.ensure_future(self._dirty.wait()),
            asyncio.ensure_future(self._clock.sleep(pause_s)),
        }
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in either:
                task.cancel()
            # Not awaited one by one: a cancellation of ours must not be taken for one of theirs.
            await asyncio.wait(either)
        self._grants.expire_due()

    def _snapshot(self, installation_id: str) -> Snapshot:
        now = self._clock.now_unix_s()
        kept = self._cache.get(installation_id)
        if kept is not None and now < kept[0]:
            return kept[1]
        pool = self._vault.pool
        snapshot = snapshot_of(pool, installation_id, self._grants.in_flight, now, self._usages.of)
        due = self._lapses.next_unix_s(pool, now)
        # Windows of plans end by time as well, and no mark says when.
        until = min(now + LONGEST_PAUSE_S, float("inf") if due is None else due)
        self._cache.put(installation_id, (until, snapshot))
        return snapshot
