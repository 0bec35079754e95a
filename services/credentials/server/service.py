"""The service behind the gRPC face: pool, grants, selections, reports, changes."""

from __future__ import annotations

import asyncio
import secrets as randomness
from typing import TYPE_CHECKING

from services.credentials.model import (
    AuditEntry,
    Pool,
    PresentedIdentity,
    PresentedState,
)
from services.credentials.policy import tokens
from services.credentials.policy.presented import recognise
from services.credentials.server.acquiring import Acquirer
from services.credentials.server.affinity import Affinities
from services.credentials.server.announcing import Announcer
from services.credentials.server.clockwatch import ClockWatch
from services.credentials.server.eligibility import EligibilityBook
from services.credentials.server.eye import Parts
from services.credentials.server.feed import Feed, Removed
from services.credentials.server.granting import Granter
from services.credentials.server.grants import Grants
from services.credentials.server.keepsakes import Keepsakes
from services.credentials.server.lapses import Lapses
from services.credentials.server.minting import Minter
from services.credentials.server.operator import Operator
from services.credentials.server.paths import Paths
from services.credentials.server.presented import PresentedBook
from services.credentials.server.redeclaring import Redeclarer
from services.credentials.server.refreshing import Refresher
from services.credentials.server.reports import Evidence, Reports
from services.credentials.server.resealing import Resealed, reseal
from services.credentials.server.selector import Selector
from services.credentials.server.setbacks import Setbacks
from services.credentials.server.slots import Slots
from services.credentials.server.usages import Usages
from services.credentials.server.vault import Vault
from services.runtime.background import in_background
from services.runtime.randomness import random_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.credentials.model import Presented, Query, Selected
    from services.credentials.ports import Cipher, Shared, Store, TokenEndpoint, TokenJournal
    from services.credentials.server.options import Options
    from services.runtime.clock import Clock


class Service:
    """Everything that the RPCs do, in values."""

    def __init__(
        self,
        store: Store,
        cipher: Cipher,
        options: Options,
        clock: Clock,
        shared: Shared,
        tokens_of: TokenEndpoint,
        journal: TokenJournal,
    ) -> None:
        self._store = store
        self._cipher = cipher
        self._options = options
        self._clock = clock
        self._shared = shared
        self.feed = Feed(randomness.token_hex(6))
        self._announcing = Announcer(shared, clock)
        self._clock_watch = ClockWatch(store, clock)
        self.vault = Vault(
            store,
            cipher,
            clock,
            self._changed,
            self._announcing.note,
            options.defaults,
        )
        self.grants = Grants(options.lease_ttl_s, clock, self._room_changed)
        self.presented = PresentedBook()
        lapses = Lapses()
        usages = Usages(self._room_changed)
        self.eligibility = EligibilityBook(
            self.vault, self.grants, usages, self.feed, lapses, clock
        )
        self.granter = Granter(self.vault, self.grants, options.lease_ttl_s, clock, _new_nonce)
        setbacks = Setbacks(options.transient_s, clock)
        slots = self._slots = Slots(self.vault, self.grants, shared, options.lease_ttl_s)
        paths = Paths(self.vault.secrets_of, clock)
        affinities = Affinities(
            self._shared, options.affinity_ttl_s, clock, is_on=options.is_affinity_on
        )
        self.selector = Selector(
            Parts(
                self.vault,
                self.grants,
                self.granter,
                affinities,
                setbacks,
                paths,
                self._shared,
                slots,
                clock,
            ),
            options,
        )
        self.reports = Reports(
            Evidence(
                self.vault,
                slots,
                self.presented,
                setbacks,
                paths,
                affinities,
                usages,
                self.feed,
                lapses,
                clock,
            ),
            options.rules,
        )
        self.operator = Operator(self.vault, self.grants, self.reports, clock, options.rules)
        keepsakes = Keepsakes(journal, cipher, self.vault)
        minter = Minter(self.vault, self.reports, store, tokens_of, keepsakes, options, clock)
        self.refresher = Refresher(self.vault, minter, keepsakes, tokens_of, clock)
        self.acquirer = Acquirer(
            self.vault,
            slots,
            self.granter,
            self.selector,
            self.refresher,
            options,
            clock,
        )
        self.redeclarer = Redeclarer(self.vault, clock)
        self._tasks: tuple[asyncio.Task[None], ...] = ()

    async def start(self) -> None:
        """Open the store, bring the declared pool into it, begin to watch both.

        Raises:
            StartError: the store cannot be used.
        """
        await self.vault.start(self._options.declared)
        await self._shared.start(self.vault.hasher.shared("space"))
        await self.refresher.start()
        running = {
            "credentials-eligibility": self.eligibility.run(),
            "credentials-reports": self.reports.run(),
            "credentials-refreshes": self.refresher.run(),
            "credentials-redeclaring": self.redeclarer.run(),
            "credentials-speaking": self._announcing.speak(),
            "credentials-listening": self._announcing.listen(self.vault, self._slots),
            "credentials-meeting": self._announcing.meet(self._slots),
        }
        if self._options.poll_s > 0:
            running["credentials-poll"] = self._poll()
            running["credentials-clock"] = self._clock_watch.run()
        self._tasks = tuple(in_background(work, name) for name, work in running.items())

    async def aclose(self) -> None:
        """End the background tasks and close the store."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = ()
        await self.refresher.aclose()
        await self._shared.aclose()
        await self.vault.aclose()

    def readiness(self) -> Mapping[str, bool]:
        """Return whether the store answers, all background tasks run, and the clock is right."""
        is_kept_up = not any(task.done() for task in self._tasks)
        return {
            "store": self.vault.is_store_up,
            "upkeep": is_kept_up,
            "clock": self._clock_watch.is_right,
        }

    def recognised(
        self, installation_id: str, presented: Sequence[Presented]
    ) -> list[PresentedState]:
        """Return what the presented credentials that can be used are, and what is known of them."""
        found = ((one, recognise(one)) for one in presented)
        identities = [
            PresentedIdentity(
                self.vault.hasher.presented(installation_id, one.secret), kind[1], kind[0]
            )
            for one, kind in found
            if kind is not None
        ]
        now = self._clock.now_unix_s()
        return [self.presented.state_of(identity, now) for identity in identities]

    async def reseal(self, actor: str) -> Resealed:
        """Seal every secret anew under the first key and return how many were.

        Raises:
            RouterError: STORE_UNAVAILABLE, or VERSION_CONFLICT.
        """
        audit = AuditEntry(actor, "reencrypt", self._clock.now_unix_s())
        return await reseal(self._store, self._cipher, self.vault, audit)

    async def select(self, query: Query) -> tuple[Selected, float]:
        """Return a grant and the seconds that the pick took.

        Raises:
            RouterError: why nothing could be picked.
        """
        self.eligibility.keep(query.installation_id)
        return await self.selector.select(query)

    def _changed(self, before: Pool, after: Pool) -> None:
        """Tell watchers what a write or a reload changed."""
        self.eligibility.touch()
        for identity, credential in after.by_id.items():
            if before.by_id.get(identity) is not credential:
                self.reports.note_changed(identity)
                self.feed.publish(credential.spec.installation_id, credential)
                self.grants.line.call_all(identity)
        if before.by_id.keys() <= after.by_id.keys():
            return
        self.refresher.note_removal()
        for identity, credential in before.by_id.items():
            if identity not in after.by_id:
                self.feed.publish(credential.spec.installation_id, Removed(identity))
                self.grants.line.call_all(identity)

    def _room_changed(self) -> None:
        self.eligibility.touch()

    async def _poll(self) -> None:
        while True:
            await self._clock.sleep(self._options.poll_s)
            await self.vault.poll()


def _new_nonce() -> bytes:
    return random_bytes(tokens.NONCE_BYTES)
