"""Brings the declared pool into the store."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.credentials.model import AuditEntry, Record
from services.credentials.policy import declared
from services.domain.errors import Reason, RouterError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.credentials.policy.declared import Change, Declared, Reconciliation
    from services.credentials.policy.hashing import Hasher
    from services.credentials.ports import Store
    from services.credentials.server.sealing import Sealer

CONFIGURATION = "configuration"

_log = get_logger("credentials")


class Reconciler:
    """Writes what configuration changed since it was last read."""

    def __init__(self, store: Store, sealer: Sealer, hasher: Hasher) -> None:
        self._store = store
        self._sealer = sealer
        self._hasher = hasher

    async def bring(
        self, wanted: tuple[Declared, ...], records: Mapping[str, Record], now_unix_s: float
    ) -> bool | None:
        """Return whether everything was written; false: another replica was faster; None: nothing
        had to be."""
        plan = declared.reconcile(wanted, records.values(), self._hasher.declared, now_unix_s)
        if not (plan.changes or plan.removed):
            return None
        is_done = await self._apply(plan, records, now_unix_s)
        if is_done:
            _log.info("pool_reconciled", changed=len(plan.changes), removed=len(plan.removed))
        return is_done

    async def _apply(self, plan: Reconciliation, records: Mapping[str, Record], now: float) -> bool:
        new = [self._record_of(change, records) for change in plan.changes if change.is_new]
        if new and await self._store.insert(new, AuditEntry(CONFIGURATION, "create", now)) is None:
            return False
        try:
            for change in plan.changes:
                if not change.is_new:
                    record = self._record_of(change, records)
                    version = record.credential.state_version - 1
                    audit = AuditEntry(CONFIGURATION, "update", now)
                    await self._store.replace(record, version, audit)
        except RouterError as error:
            if error.reason is not Reason.VERSION_CONFLICT:
                raise
            return False
        for credential in plan.removed:
            await self._store.delete(credential.id, 0, AuditEntry(CONFIGURATION, "remove", now))
        return True

    def _record_of(self, change: Change, records: Mapping[str, Record]) -> Record:
        credential, old = change.credential, records.get(change.credential.id)
        if old is not None:
            credential = replace(credential, state_version=old.credential.state_version + 1)
        sealed = old.sealed if old is not None else None
        if change.secrets is not None:
            sealed = self._sealer.seal(credential, change.secrets)
        return Record(credential, sealed, change.spec_digest, change.secret_digest)
