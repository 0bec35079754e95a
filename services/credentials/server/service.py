"""The service behind the gRPC face: pool, grants, selections, reports, changes."""

from __future__ import annotations

import asyncio
import contextlib
import secrets as randomness
from dataclasses import replace
from typing import TYPE_CHECKING

from services.credentials.model import (
    AuditEntry,
    Credential,
    Material,
    Origin,
    Pool,
    PresentedIdentity,
    Selected,
    SystemState,
)
from services.credentials.policy.auth import scheme_of
from services.credentials.policy.declared import without_auth_marks
from services.credentials.policy.marks import cleared_by_operator
from services.credentials.policy.presented import recognise
from services.credentials.server.eligibility import EligibilityBook
from services.credentials.server.feed import Feed, Removed
from services.credentials.server.grants import Grants
from services.credentials.server.reports import Reports
from services.credentials.server.selector import Selector
from services.credentials.server.vault import Vault
from services.domain.errors import InvalidRequestError, Reason, RouterError
from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.credentials.codec.credential import Creation, Listing, Update
    from services.credentials.model import Presented, Query, Transition
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
        self.vault = Vault(store, cipher, clock, self._changed)
        self.grants = Grants(options.lease_ttl_s, clock, self._room_changed)
        self.eligibility = EligibilityBook(self.vault, self.grants, self.feed, clock)
        self.selector = Selector(self.vault, self.grants, options, clock, _new_grant_id)
        self.reports = Reports(self.vault, self.grants, self.feed, clock)
        self._tasks: tuple[asyncio.Task[None], ...] = ()

    async def start(self) -> None:
        """Open the store, bring the declared pool into it, begin to watch both.

        Raises:
            StartError: the store cannot be used.
        """
        await self.vault.start(self._options.declared)
        running = [asyncio.create_task(self.eligibility.run())]
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
        return [
            PresentedIdentity(
                self.vault.hasher.presented(installation_id, one.secret), kind[1], kind[0]
            )
            for one, kind in found
            if kind is not None
        ]

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

    async def reset(
        self, credential_id: str, model_id: str, actor: str
    ) -> tuple[Credential, tuple[Transition, ...]]:
        """Clear the marks of a credential and return it with what was cleared.

        Raises:
            RouterError: CREDENTIAL_NOT_FOUND or STORE_UNAVAILABLE.
        """
        before = self._existing(credential_id)

        def edit(current: Credential) -> Credential:
            nonlocal before
            before = current
            return replace(current, marks=cleared_by_operator(current.marks, model_id))

        audit = self._audit(actor, "reset", model_id)
        after = await self.vault.change(credential_id, edit, audit=audit)
        return after, await self.reports.changed(before, after, "manual")

    async def create(self, creation: Creation) -> Credential:
        """Store a new credential.

        Raises:
            RouterError: CREDENTIAL_DUPLICATE or STORE_UNAVAILABLE.
        """
        self._refuse_duplicate(creation)
        now = self._clock.now_unix_s()
        credential = Credential(
            id=randomness.token_hex(16),
            spec=creation.spec,
            origin=Origin.STORED,
            create_unix_s=now,
            update_unix_s=now,
        )
        audit = self._audit(creation.actor, "create", creation.spec.provider)
        return await self.vault.add(credential, creation.secrets, creation.idempotency_key, audit)

    async def update(self, update: Update) -> Credential:
        """Change a credential.

        Raises:
            RouterError: CREDENTIAL_NOT_FOUND, VERSION_CONFLICT, STORE_UNAVAILABLE, or
                INVALID_REQUEST when it comes from the configuration file.
        """
        before = self._existing(update.credential_id)
        if before.origin is not Origin.STORED and (
            update.secrets is not None or update.changed - {"is_enabled"}
        ):
            raise InvalidRequestError.of(
                "credential_id",
                "comes from the configuration file: change it there; only is_enabled can be"
                " changed here",
            )
        is_rotated = update.secrets is not None

        def edit(current: Credential) -> Credential:
            nonlocal before
            before = current
            spec = update.applied_to(current.spec)
            if not is_rotated and spec == current.spec:
                return current
            changed = replace(current, spec=spec, update_unix_s=self._clock.now_unix_s())
            if not is_rotated:
                return changed
            return replace(
                changed,
                credential_version=current.credential_version + 1,
                system_state=SystemState.OK,
                marks=without_auth_marks(current.marks),
            )

        after = await self.vault.change(
            update.credential_id,
            edit,
            expected=update.expected_state_version,
            secrets=update.merged_into if is_rotated else None,
            audit=self._audit(update.actor, "update", ",".join(sorted(update.changed))),
        )
        await self.reports.changed(before, after, "login")
        return after

    async def delete(self, credential_id: str, expected: int, actor: str) -> int:
        """Remove a credential and return how many grants were open on it.

        Raises:
            RouterError: VERSION_CONFLICT or STORE_UNAVAILABLE.
        """
        await self.vault.remove(credential_id, expected, self._audit(actor, "remove", ""))
        return self.grants.drop_credential(credential_id)

    def page(self, listing: Listing) -> tuple[list[Credential], bool]:
        """Return one page of credentials in list order, and whether more follow."""
        wanted = [
            (key, one)
            for one in self.vault.pool.by_id.values()
            if (key := listing.key_of(one)) is not None
        ]
        wanted.sort(key=lambda pair: pair[0])
        page = [one for _, one in wanted[: listing.page_size]]
        return page, len(wanted) > listing.page_size

    def _existing(self, credential_id: str) -> Credential:
        found = self.vault.pool.by_id.get(credential_id)
        if found is None:
            raise RouterError(Reason.CREDENTIAL_NOT_FOUND, "no such credential")
        return found

    def _refuse_duplicate(self, creation: Creation) -> None:
        """Refuse a secret or a label that a credential of the same lane has."""
        spec, value = creation.spec, creation.secrets.value
        for one in self.vault.pool.by_id.values():
            is_same_lane = (one.spec.installation_id, one.spec.provider, one.spec.kind) == (
                spec.installation_id,
                spec.provider,
                spec.kind,
            )
            if not is_same_lane or self.vault.is_made_by(one.id, creation.idempotency_key):
                continue
            has_label = bool(spec.label) and one.spec.label == spec.label
            has_secret = bool(value) and self.vault.secrets_of(one.id).value == value
            if has_label or has_secret:
                what = "secret" if has_secret else "label"
                raise RouterError(
                    Reason.CREDENTIAL_DUPLICATE,
                    f"a credential of {spec.provider} with this {what} exists: {one.fingerprint}",
                    metadata={"fingerprint": one.fingerprint, "field": what},
                )

    def _audit(self, actor: str, action: str, detail: str) -> AuditEntry:
        return AuditEntry(actor, action, self._clock.now_unix_s(), detail)

    def _changed(self, before: Pool, after: Pool) -> None:
        """Tell watchers what a write or a reload changed."""
        self.eligibility.touch()
        for identity, credential in after.by_id.items():
            if before.by_id.get(identity) != credential:
                self.feed.publish(credential.spec.installation_id, credential)
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
