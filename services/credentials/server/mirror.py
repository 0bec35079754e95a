"""The pool in memory as the store has it: whole records adopted, changes told."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from services.credentials.model import Credential, Pool, Record, Secrets
from services.credentials.policy.defaults import Defaults
from services.credentials.policy.hashing import Hasher
from services.credentials.server.holdings import Holdings
from services.credentials.server.sealing import Sealer
from services.domain.errors import RouterError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.credentials.ports import Cipher, Store

NO_DEFAULTS = Defaults()

_log = get_logger("credentials")


class Mirror:
    """Holds every credential and its secrets, as the store has them.

    ``on_change`` is called with the pool before and after each change, ``on_write`` after each
    write of this process.
    """

    def __init__(
        self,
        store: Store,
        cipher: Cipher,
        on_change: Callable[[Pool, Pool], None],
        on_write: Callable[[int], None] = lambda _: None,
        defaults: Defaults = NO_DEFAULTS,
    ) -> None:
        self._store = store
        self._sealer = Sealer(cipher, defaults)
        self._on_change = on_change
        self._on_write = on_write
        self._writing = asyncio.Lock()
        self._held = Holdings(self._sealer)
        self.pool = Pool.of(0, ())
        self.hasher = Hasher(b"")
        self.is_store_up = False

    def secrets_of(self, credential_id: str) -> Secrets:
        """Return the secrets of a credential of the pool."""
        return self._held.secrets_of(credential_id)

    def stored(self, credential_id: str) -> Credential | None:
        """Return a credential as it is stored; None: there is none."""
        record = self._held.records.get(credential_id)
        return None if record is None else record.credential

    def is_made_by(self, credential_id: str, idempotency_key: str) -> bool:
        """Return whether a credential was made by the call with that key."""
        record = self._held.records.get(credential_id)
        return record is not None and record.idempotency_key == idempotency_key

    async def reload(self) -> None:
        """Adopt the store as it is now."""
        loaded = await self._store.load()
        self.is_store_up = True
        self._held.take(loaded, self.hasher, is_all=True)
        self._publish(Pool.of(loaded.revision, self._held.credentials()))

    async def poll(self) -> None:
        """Adopt what another process wrote, if any did."""
        try:
            if await self._store.revision() != self.pool.revision:
                async with self._writing:
                    await self._catch_up()
            self.is_store_up = True
        except RouterError as error:
            if self.is_store_up:
                _log.warning("store_unavailable", reason=error.reason.value)
            self.is_store_up = False

    def overlay(self, credential: Credential) -> None:
        """Let picks see a state that could not be stored; the next one that is takes its place."""
        self._publish(self.pool.after(self.pool.revision, {credential.id: credential}))

    def hold(self, credential: Credential, secrets: Secrets) -> None:
        """Use secrets that could not be stored yet; reading the old ones again changes nothing.

        Raises:
            RouterError: CREDENTIAL_NOT_FOUND.
        """
        self._held.put(self._held.record(credential.id), secrets)
        self.overlay(self._sealer.named(credential, secrets, self.hasher))

    async def _adopt(self, record: Record, revision: int, secrets: Secrets) -> Credential:
        credential = record.credential
        self._held.put(record, secrets)
        self._on_write(revision)
        changed = {credential.id: credential}
        await self._catch_up_to(revision, lambda known: self.pool.after(known, changed))
        return credential

    async def _catch_up_to(self, revision: int, after: Callable[[int], Pool]) -> None:
        """Publish a pool after a write of ours, and what others wrote in between.

        That the store cannot be read any more undoes no write: the pool then stays at its
        revision, from which a poll goes on.
        """
        if revision == self.pool.revision + 1:
            self._publish(after(revision))
            return
        try:
            await self._catch_up()
        except RouterError as error:
            _log.warning("store_unavailable", reason=error.reason.value)
            self.is_store_up = False
            self._publish(after(self.pool.revision))

    async def _catch_up(self) -> None:
        """Adopt what changed in the store since the pool was read."""
        changes = await self._store.changes(self.pool.revision)
        if changes is None:
            await self.reload()
            return
        self.is_store_up = True
        taken = self._held.take(changes, self.hasher, is_all=False)
        if changes.removed:
            self._publish(Pool.of(changes.revision, self._held.credentials()))
        else:
            self._publish(self.pool.after(changes.revision, taken))

    def _publish(self, after: Pool) -> None:
        before, self.pool = self.pool, after
        self._on_change(before, after)
