"""The pool in memory and in the store: one writer, compare-and-set, whole records adopted."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from services.credentials.model import (
    AuditEntry,
    Credential,
    Pool,
    Record,
    Secrets,
    version_conflict,
)
from services.credentials.policy import declared
from services.credentials.policy.hashing import KEY_BYTES, Hasher, named
from services.credentials.server.sealing import Sealer
from services.domain.errors import Reason, RouterError
from services.runtime.launch import StartError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from services.credentials.policy.declared import Change, Declared, Reconciliation
    from services.credentials.ports import Cipher, Store
    from services.runtime.clock import Clock

HASH_KEY = "hash"
MAX_TRIES = 8
CONFIGURATION = "configuration"

_log = get_logger("credentials")


class Vault:
    """Holds every credential and its secrets, as the store has them.

    ``on_change`` is called with the pool before and after each change.
    """

    def __init__(
        self, store: Store, cipher: Cipher, clock: Clock, on_change: Callable[[Pool, Pool], None]
    ) -> None:
        self._store = store
        self._cipher = cipher
        self._sealer = Sealer(cipher)
        self._clock = clock
        self._on_change = on_change
        self._writing = asyncio.Lock()
        self._records: Mapping[str, Record] = {}
        self._secrets: dict[str, Secrets] = {}
        self.pool = Pool.of(0, ())
        self.hasher = Hasher(b"")
        self.is_store_up = False

    async def start(self, wanted: tuple[Declared, ...]) -> None:
        """Open the store, bring the declared pool into it, and load it.

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

    async def _start(self, wanted: tuple[Declared, ...]) -> None:
        fresh = self._cipher.seal(os.urandom(KEY_BYTES), HASH_KEY)
        key = self._cipher.open(await self._store.deployment_key(HASH_KEY, fresh), HASH_KEY)
        if key is None:
            raise StartError(
                "the store was sealed under another key: set services.credentials.encryption_keys"
                " (or put the key file back beside the database)"
            )
        self.hasher = Hasher(key)
        await self.reload()
        await self._reconcile(wanted)

    async def aclose(self) -> None:
        """Close the store and forget every secret."""
        self._secrets.clear()
        await self._store.aclose()

    def secrets_of(self, credential_id: str) -> Secrets:
        """Return the secrets of a credential of the pool."""
        return self._secrets.get(credential_id, Secrets())

    def is_made_by(self, credential_id: str, idempotency_key: str) -> bool:
        """Return whether a credential was made by the call with that key."""
        record = self._records.get(credential_id)
        return record is not None and record.idempotency_key == idempotency_key

    async def reload(self) -> None:
        """Adopt the store as it is now."""
        loaded = await self._store.load()
        self.is_store_up = True
        self._secrets = {}
        opened = [self._open(record) for record in loaded.records]
        self._records = {record.credential.id: record for record in opened}
        self._publish(loaded.revision)

    async def poll(self) -> None:
        """Adopt what another process wrote, if any did."""
        try:
            if await self._store.revision() != self.pool.revision:
                async with self._writing:
                    await self.reload()
            self.is_store_up = True
        except RouterError as error:
            if self.is_store_up:
                _log.warning("store_unavailable", reason=error.reason.value)
            self.is_store_up = False

    async def add(
        self, credential: Credential, secrets: Secrets, idempotency_key: str, audit: AuditEntry
    ) -> Credential:
        """Store a new credential; a repeat of the key answers the one that was made.

        Raises:
            RouterError: STORE_UNAVAILABLE.
        """
        async with self._writing:
            earlier = self._made_by(idempotency_key)
            if earlier is not None:
                return earlier
            record = Record(
                named(credential, secrets, self.hasher),
                self._sealer.seal(credential, secrets),
                secret_digest=self.hasher.declared(declared.secret_text(secrets)),
                idempotency_key=idempotency_key,
            )
            revision = await self._store.insert((record,), audit)
            if revision is None:
                await self.reload()
                earlier = self._made_by(idempotency_key)
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

        ``edit`` is pure: it runs again on the newer record when another process was faster.

        Raises:
            RouterError: CREDENTIAL_NOT_FOUND, STORE_UNAVAILABLE, or VERSION_CONFLICT when
                ``expected`` is not the version that is stored.
        """
        async with self._writing:
            for _ in range(MAX_TRIES):
                record = self._record(credential_id)
                if expected and record.credential.state_version != expected:
                    raise version_conflict()
                after = edit(record.credential)
                if after == record.credential and secrets is None:
                    return after
                try:
                    return await self._write(record, after, secrets, audit)
                except RouterError as error:
                    if error.reason is not Reason.VERSION_CONFLICT:
                        raise
                    await self.reload()
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
            self._records = {k: v for k, v in self._records.items() if k != credential_id}
            self._secrets.pop(credential_id, None)
            await self._publish_or_reload(revision)
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
        after = named(
            replace(after, state_version=record.credential.state_version + 1), new, self.hasher
        )
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

    async def _reconcile(self, wanted: tuple[Declared, ...]) -> None:
        """Bring the declared pool into the store; when another replica is faster, look again."""
        for _ in range(MAX_TRIES):
            now = self._clock.now_unix_s()
            plan = declared.reconcile(wanted, self._records.values(), self.hasher.declared, now)
            if not (plan.changes or plan.removed):
                return
            is_done = await self._apply(plan, now)
            await self.reload()
            if is_done:
                _log.info("pool_reconciled", changed=len(plan.changes), removed=len(plan.removed))
                return
        raise StartError("the credentials store changes all the time: start one replica first")

    async def _apply(self, plan: Reconciliation, now: float) -> bool:
        new = [self._record_of(change) for change in plan.changes if change.is_new]
        entry = AuditEntry(CONFIGURATION, "create", now)
        if new and await self._store.insert(new, entry) is None:
            return False
        try:
            for change in plan.changes:
                if not change.is_new:
                    record = self._record_of(change)
                    version = record.credential.state_version - 1
                    await self._store.replace(
                        record, version, AuditEntry(CONFIGURATION, "update", now)
                    )
        except RouterError as error:
            if error.reason is not Reason.VERSION_CONFLICT:
                raise
            return False
        for credential in plan.removed:
            await self._store.delete(credential.id, 0, AuditEntry(CONFIGURATION, "remove", now))
        return True

    def _record_of(self, change: Change) -> Record:
        credential, old = change.credential, self._records.get(change.credential.id)
        if old is not None:
            credential = replace(credential, state_version=old.credential.state_version + 1)
        sealed = old.sealed if old is not None else None
        if change.secrets is not None:
            sealed = self._sealer.seal(credential, change.secrets)
        return Record(credential, sealed, change.spec_digest, change.secret_digest)

    def _open(self, record: Record) -> Record:
        opened, secrets = self._sealer.open(record, self.hasher)
        self._secrets[opened.credential.id] = secrets
        return opened

    async def _adopt(self, record: Record, revision: int, secrets: Secrets) -> Credential:
        credential = record.credential
        self._records = {**self._records, credential.id: record}
        self._secrets[credential.id] = secrets
        await self._publish_or_reload(revision)
        return credential

    async def _publish_or_reload(self, revision: int) -> None:
        if revision == self.pool.revision + 1:
            self._publish(revision)
        else:
            await self.reload()

    def _publish(self, revision: int) -> None:
        before = self.pool
        self.pool = Pool.of(revision, (record.credential for record in self._records.values()))
        self._on_change(before, self.pool)

    def _record(self, credential_id: str) -> Record:
        record = self._records.get(credential_id)
        if record is None:
            raise RouterError(Reason.CREDENTIAL_NOT_FOUND, "no such credential")
        return record

    def _made_by(self, idempotency_key: str) -> Credential | None:
        return next(
            (r.credential for r in self._records.values() if r.idempotency_key == idempotency_key),
            None,
        )
