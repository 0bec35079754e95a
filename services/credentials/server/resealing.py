"""Seals everything anew under the first key, so that older keys can be let go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.credentials.model import SystemState
from services.credentials.server.vault import HASH_KEY

if TYPE_CHECKING:
    from services.credentials.model import AuditEntry, Record
    from services.credentials.ports import Cipher, Store
    from services.credentials.server.vault import Vault


@dataclass(frozen=True, slots=True)
class Resealed:
    """How many secrets were sealed anew, were so before, and cannot be read."""

    changed_count: int
    kept_count: int
    unreadable_count: int


async def reseal(store: Store, cipher: Cipher, vault: Vault, audit: AuditEntry) -> Resealed:
    """Seal anew what another key sealed and return what was done; a second run changes nothing.

    Each secret is one compare-and-set, so that servers go on meanwhile and it may be stopped at any
    time.

    Raises:
        RouterError: STORE_UNAVAILABLE, or VERSION_CONFLICT where a record changes all the time.
    """
    key = await store.deployment_key(HASH_KEY, cipher.seal(b"", HASH_KEY))
    if key.key_id != cipher.key_id:
        plain = cipher.open(key, HASH_KEY)
        if plain is not None:
            await store.replace_deployment_key(HASH_KEY, key, cipher.seal(plain, HASH_KEY))
    changed = kept = unreadable = 0
    for record in (await store.load()).records:
        if record.sealed is None or record.sealed.key_id == cipher.key_id:
            kept += 1
        elif _is_readable(vault, record):
            await vault.change(
                record.credential.id,
                lambda current: current,
                secrets=lambda current: current,
                audit=audit,
            )
            changed += 1
        else:
            unreadable += 1
    return Resealed(changed, kept, unreadable)


def _is_readable(vault: Vault, record: Record) -> bool:
    known = vault.stored(record.credential.id)
    return known is not None and known.system_state is not SystemState.QUARANTINED
