"""Slots of limited credentials, here and over all replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.model import Phase
from services.credentials.server.granting import slot_of

if TYPE_CHECKING:
    from types import TracebackType

    from services.credentials.model import Grant, Report, Slot
    from services.credentials.ports import Shared
    from services.credentials.server.grants import Grants
    from services.credentials.server.vault import Vault


class Slots:
    """Keeps and frees slots as attempts go on and end, whichever replica gave them."""

    def __init__(self, vault: Vault, grants: Grants, shared: Shared, ttl_s: float) -> None:
        self._vault = vault
        self._grants = grants
        self._shared = shared
        self._ttl_s = ttl_s

    def credential_of(self, report: Report) -> str:
        """Return the credential that a report is about: that of the grant where it is known."""
        granted_id = self._grants.credential_of(report.grant_id)
        return report.credential_id if granted_id is None else granted_id

    def given_back_on_failure(self, grant: Grant) -> _GivenBack:
        """Give the slot of a grant back when what is done meanwhile fails: nobody hears of it."""
        return _GivenBack(self, grant)

    async def give_back(self, grant: Grant) -> None:
        """Forget a grant that nobody was told of, and free its slot everywhere."""
        self._grants.drop(grant.id)
        slot = self._shared_slot(grant.id, grant.credential_id, grant.binding.model_id)
        if slot is not None:
            await self._shared.free(slot)

    async def renew_all(self) -> None:
        """Count all slots of this replica's grants anew: what replicas share was lost or away."""
        for grant in self._grants.holders():
            slot = self._shared_slot(grant.id, grant.credential_id, grant.binding.model_id)
            if slot is not None:
                await self._shared.renew(slot, self._ttl_s)

    async def touch(self, report: Report) -> bool:
        """Keep or free the slot of a report's grant; return whether this replica knows it."""
        is_over = report.phase is Phase.ENDED
        grants = self._grants
        is_known = grants.release(report.grant_id) if is_over else grants.renew(report.grant_id)
        slot = self._shared_slot(report.grant_id, report.credential_id, report.model_id)
        if slot is None:
            return is_known
        if is_over:
            await self._shared.free(slot)
        elif report.phase is Phase.ALIVE:
            await self._shared.renew(slot, self._ttl_s)
        return is_known

    def _shared_slot(self, grant_id: str, credential_id: str, model_id: str) -> Slot | None:
        """Return what a grant counts as over all replicas; None: it does not, or nobody answers."""
        credential = self._vault.pool.by_id.get(credential_id)
        if credential is None or self._shared.is_alone:
            return None
        return slot_of(grant_id, credential, model_id)


class _GivenBack:
    """A block whose failure gives a grant back. Each selection of a session enters one."""

    __slots__ = ("_grant", "_slots")

    def __init__(self, slots: Slots, grant: Grant) -> None:
        self._slots = slots
        self._grant = grant

    async def __aenter__(self) -> None:
        return

    async def __aexit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if kind is not None:
            await self._slots.give_back(self._grant)
