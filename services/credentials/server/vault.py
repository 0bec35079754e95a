"""Writes to the pool: one writer per process, every write a compare-and-set."""

from __future__ import annotations

import asyncio
import os
import random
from dataclasses import replace
from typing import TYPE_CHECKING

from services.credentials.model import (
    AuditEntry,
    Credential,
    Pool,
    Record,
    Secrets,
    SystemState,
    in_order,
    version_conflict,
)
from services.credentials.policy import declared
from services.credentials.policy.hashing import KEY_BYTES, Hasher
from services.credentials.server import telling
from services.credentials.server.mirror import NO_DEFAULTS, Mirror
from services.credentials.server.reconciling import Reconciler
from services.domain.errors import Reason, RouterError
from services.runtime.launch import StartError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.credentials.policy.declared import Declared
    from services.credentials.policy.defaults import Defaults
    from services.credentials.ports import Cipher, Store
    from services.runtime.clock import Clock

HASH_KEY = "hash"
MAX_TRIES = 8
LONGEST_JITTER_S = 0.01
"""Longest pause before a write that was overtaken is tried again."""

_log = get_logger("credentials")


class Vault(Mirror):
    """The mirror of the pool, and the only way to change what is stored."""

    def __init__(
        self,
        store: Store,
        cipher: Cipher,
        clock: Clock,
        on_change: Callable[[Pool, Pool], None],
        on_write: Callable[[int], None] = lambda _: None,
        defaults: Defaults = NO_DEFAULTS,
    ) -> None:
        super().__init__(store, cipher, on_change, on_write, defaults)
        self._cipher = cipher
        self._clock = clock

    async def start(self, wanted: tuple[Declared, ...] | None) -> None:
        """Open the store, bring the declared pool into it, and load it; None: leave what is there.

        Raises:
            StartError: the store cannot be used, its hash key cannot be read, or two credentials
                would be shown under one name.
        """
        await self._store.start()
        await self._cipher.start()
        try:
            await self._start(wanted)
        except RouterError as error:
            raise StartError(f"the credentials store cannot be read: {error.message}") from error
        shown = [c.fingerprint for c in self.pool.by_id.values()]
        if len(set(shown)) != len(shown):
            raise StartError("two credentials have the same fingerprint: add one of them anew")

    async def _start(self, wanted: tuple[Declared, ...] | None) -> None:
        fresh = self._cipher.seal(os.urandom(KEY_BYTES), HASH_KEY)
        key = self._cipher.open(await self._store.deployment_key(HASH_KEY, fresh), HASH_KEY)
        if key is None:
            raise StartError(
                "the store was sealed under another key: set services.credentials.encryption_keys"
                " (or put the key file back beside the database)"
            )
        self.hasher = Hasher(key)
        await self.reload()
        if wanted is not None:
            await self._reconcile(wanted)

    async def aclose(self) -> None:
        """Close the store and forget every secret."""
        self._held.forget_secrets()
        await self._store.aclose()

    async def add(
        self, credential: Credential, secrets: Secrets, idempotency_key: str, audit: AuditEntry
    ) -> Credential:
        """Store a new credential; a repeat of the key answers the one that was made.

        Raises:
            RouterError: STORE_UNAVAILABLE.
        """
        async with self._writing:
            earlier = self._held.made_by(idempotency_key)
            if earlier is not None:
                return earlier
            record = Record(
                self._sealer.named(credential, secrets, self.hasher),
                self._sealer.seal(credential, secrets),
                secret_digest=self.hasher.declared(declared.secret_text(secrets)),
                idempotency_key=idempotency_key,
            )
            revision = await self._store.insert((record,), audit)
            if revision is None:
                await self._catch_up()
                earlier = self._held.made_by(idempotency_key)
                if earlier is None:
                    raise RouterError(Reason.CREDENTIAL_DUPLICATE, "its identity is taken")
                return earlier
            return await self._adopt(record, revision, secrets)

    async def change(
        self,
        credential_id: str,
        edit: Callable[[Credential], Credential],
        *,
        expected: int = 0,
        secrets: Callable[[Secrets], Secrets] | None = None,
        audit: AuditEntry | None = None,
    ) -> Credential:
        """Store what ``edit`` makes of a credential and return it; equal settings write nothing.

        ``edit`` is pure: it runs again on the newer record when another process was faster. What
        cannot be read here stays as it is until it gets new secrets: others may read it.

        Raises:
            RouterError: CREDENTIAL_NOT_FOUND, STORE_UNAVAILABLE, or VERSION_CONFLICT when
                ``expected`` is not the version that is stored.
        """
        async with self._writing:
            for _ in range(MAX_TRIES):
                record = self._held.record(credential_id)
                if expected and record.credential.state_version != expected:
                    raise version_conflict()
                if secrets is None and record.credential.system_state is SystemState.QUARANTINED:
                    return record.credential
                after = edit(record.credential)
                if after == record.credential and secrets is None:
                    return after
                try:
                    return await self._write(record, after, secrets, audit)
                except RouterError as error:
                    if error.reason is not Reason.VERSION_CONFLICT:
                        raise
                    telling.WRITES_REPEATED.inc()
                    await asyncio.sleep(random.uniform(0.0, LONGEST_JITTER_S))  # noqa: S311 - guards nothing
                    await self._catch_up()
            raise version_conflict()

    async def remove(self, credential_id: str, expected: int, audit: AuditEntry) -> bool:
        """Remove a credential; false: it was not there.

        Raises:
            RouterError: VERSION_CONFLICT or STORE_UNAVAILABLE.
        """
        async with self._writing:
            revision = await self._store.delete(credential_id, expected, audit)
            if revision is None:
                return False
            self._held.drop(credential_id)
            self._on_write(revision)
            left = self._held.credentials()
            await self._catch_up_to(revision, lambda known: Pool.of(known, left))
            return True

    async def _write(
        self,
        record: Record,
        after: Credential,
        secrets: Callable[[Secrets], Secrets] | None,
        audit: AuditEntry | None,
    ) -> Credential:
        before = self.secrets_of(after.id)
        new = before if secrets is None else secrets(before)
        version = record.credential.state_version + 1
        after = replace(after, state_version=version, marks=in_order(after.marks))
        after = self._sealer.named(after, new, self.hasher)
        written = replace(record, credential=after)
        if secrets is not None:
            written = replace(
                written,
                sealed=self._sealer.seal(after, new),
                secret_digest=record.secret_digest
                or self.hasher.declared(declared.secret_text(new)),
            )
        revision = await self._store.replace(written, record.credential.state_version, audit)
        return await self._adopt(written, revision, new)

    async def declare(self, wanted: tuple[Declared, ...]) -> None:
        """Bring a declared pool into the store that is open, in the place of the last one.

        Raises:
            RouterError: STORE_UNAVAILABLE; some of it may have been stored.
            StartError: others write all the time.
        """
        async with self._writing:
            await self._reconcile(wanted)

    async def _reconcile(self, wanted: tuple[Declared, ...]) -> None:
        """Bring the declared pool into the store; when another replica is faster, look again."""
        reconciler = Reconciler(self._store, self._sealer, self.hasher)
        for _ in range(MAX_TRIES):
            is_done = await reconciler.bring(wanted, self._held.records, self._clock.now_unix_s())
            if is_done is None:
                return
            await self.reload()
            if is_done:
                return
        raise StartError("the credentials store changes all the time: start one replica first")
