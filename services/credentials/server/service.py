"""The service behind the gRPC face: pool, grants, selections, reports, changes."""

from __future__ import annotations

import asyncio
import contextlib
import secrets as randomness
from dataclasses import replace
from typing import TYPE_CHECKING

from services.credentials.model import (
    Credential,
    Material,
    Pool,
    PresentedIdentity,
    Selected,
)
from services.credentials.policy.auth import scheme_of
from services.credentials.policy.presented import recognise
from services.credentials.server.eligibility import EligibilityBook
from services.credentials.server.feed import Feed, Removed
from services.credentials.server.grants import Grants
from services.credentials.server.lapses import Lapses
from services.credentials.server.operator import Operator
from services.credentials.server.presented import PresentedBook
from services.credentials.server.reports import Reports
from services.credentials.server.selector import Selector
from services.credentials.server.vault import Vault
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.credentials.model import Presented, Query
    from services.credentials.ports import Cipher, Store
    from services.credentials.server.options import Options
    from services.runtime.clock import Clock

SECRET_CACHE_S = 60.0
"""Longest time that dispatch may hold a secret."""


class Service:
    """Everything that the RPCs do, in values."""

    def __init__(self, store: Store, cipher: Cipher, options: Options, clock: Clock) -> None:
        self._options = options
        self._clock = clock
        self.feed = Feed(randomness.token_hex(6))
        self.vault = Vault(store, cipher, clock, self._changed, is_cooling=options.is_cooling)
        self.grants = Grants(options.lease_ttl_s, clock, self._room_changed)
        self.presented = PresentedBook()
        lapses = Lapses()
        self.eligibility = EligibilityBook(self.vault, self.grants, self.feed, lapses, clock)
        self.selector = Selector(self.vault, self.grants, options, clock, _new_grant_id)
        self.reports = Reports(
            self.vault, self.grants, self.presented, self.feed, lapses, clock, options.rules
        )
        self.operator = Operator(self.vault, self.grants, self.reports, clock, options.rules)
        self._tasks: tuple[asyncio.Task[None], ...] = ()

    async def start(self) -> None:
        """Open the store, bring the declared pool into it, begin to watch both.

        Raises:
            StartError: the store cannot be used.
        """
        await self.vault.start(self._options.declared)
        running = [
            asyncio.create_task(self.eligibility.run()),
            asyncio.create_task(self.reports.run()),
        ]
        if self._options.poll_s > 0:
            running.append(asyncio.create_task(self._poll()))
        self._tasks = tuple(running)

    async def aclose(self) -> None:
        """End the background tasks and close the store."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self._tasks = ()
        await self.vault.aclose()

    def readiness(self) -> Mapping[str, bool]:
        """Return whether the store answers."""
        return {"store": self.vault.is_store_up}

    def recognised(
        self, installation_id: str, presented: Sequence[Presented]
    ) -> list[PresentedIdentity]:
        """Return the identities of the presented credentials that can be used."""
        found = ((one, recognise(one)) for one in presented)
        identities = [
            PresentedIdentity(
                self.vault.hasher.presented(installation_id, one.secret), kind[1], kind[0]
            )
            for one, kind in found
            if kind is not None
        ]
        for identity in identities:
            self.presented.meet(identity, self._clock.now_unix_s())
        return identities

    def material(self, selected: Selected, rejected_version: int = 0) -> Material:
        """Return the key material of a grant.

        Raises:
            RouterError: GRANT_UNKNOWN when the credential is gone or was presented,
                CREDENTIALS_UNAVAILABLE when it was switched off since, CREDENTIAL_NEEDS_LOGIN
                when it cannot be had in a version newer than ``rejected_version``.
        """
        credential = self.vault.pool.by_id.get(selected.grant.credential_id)
        if credential is None:
            raise RouterError(Reason.GRANT_UNKNOWN, "the grant's credential is gone: select anew")
        _check_usable(credential)
        if rejected_version and credential.credential_version <= rejected_version:
            raise RouterError(
                Reason.CREDENTIAL_NEEDS_LOGIN, "the upstream refused the newest secret there is"
            )
        spec = credential.spec
        until = None
        if spec.kind is not CredentialKind.NONE:
            until = self._clock.now_unix_s() + SECRET_CACHE_S
            until = min(until, credential.token_expire_unix_s or until)
        return Material(
            scheme=scheme_of(spec.kind, self._options.families.get(spec.provider)),
            secrets=self.vault.secrets_of(credential.id),
            spec=spec,
            cache_until_unix_s=until,
        )

    def granted(self, grant_id: str, action_id: str, installation_id: str) -> Selected:
        """Return a grant of an action, naming the newest secret.

        Raises:
            RouterError: GRANT_UNKNOWN, also for another action's, or GRANT_EXPIRED.
        """
        selected = self.grants.get(grant_id)
        grant = selected.grant
        if (grant.action_id, grant.installation_id) != (action_id, installation_id):
            raise RouterError(Reason.GRANT_UNKNOWN, "no such grant: select anew")
        credential = self.vault.pool.by_id.get(grant.credential_id)
        if credential is not None and credential.credential_version != grant.credential_version:
            newest = replace(
                grant,
                credential_version=credential.credential_version,
                cache_key=credential.cache_key,
            )
            return replace(selected, grant=newest)
        return selected

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
                self.feed.publish(credential.spec.installation_id, credential)
        if before.by_id.keys() <= after.by_id.keys():
            return
        for identity, credential in before.by_id.items():
            if identity not in after.by_id:
                self.feed.publish(credential.spec.installation_id, Removed(identity))

    def _room_changed(self) -> None:
        self.eligibility.touch()

    async def _poll(self) -> None:
        while True:
            await self._clock.sleep(self._options.poll_s)
            await self.vault.poll()


def _check_usable(credential: Credential) -> None:
    if credential.is_usable:
        return
    if credential.spec.is_enabled:
        raise RouterError(
            Reason.CREDENTIAL_NEEDS_LOGIN, "the grant's credential needs a new secret"
        )
    raise RouterError(
        Reason.CREDENTIALS_UNAVAILABLE, "the grant's credential was switched off: select anew"
    )


def _new_grant_id() -> str:
    return randomness.token_urlsafe(16)
