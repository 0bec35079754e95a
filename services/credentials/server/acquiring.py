"""Gives key material out: of a grant, or of a selection made now; a token that has ended never."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.credentials.model import Credential, Material, Origin
from services.credentials.policy.auth import scheme_of
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from services.credentials.model import Query, Redemption, Selected
    from services.credentials.server.granting import Granter
    from services.credentials.server.options import Options
    from services.credentials.server.refreshing import Refresher
    from services.credentials.server.selector import Selector
    from services.credentials.server.slots import Slots
    from services.credentials.server.vault import Vault
    from services.runtime.clock import Clock

SECRET_CACHE_S = 60.0
"""Longest time that dispatch may hold a secret."""
MAX_DEAD = 3
"""How many accounts without a token one selection passes over."""


class Acquirer:
    """Answers dispatch."""

    def __init__(
        self,
        vault: Vault,
        slots: Slots,
        granter: Granter,
        selector: Selector,
        refresher: Refresher,
        options: Options,
        clock: Clock,
    ) -> None:
        self._vault = vault
        self._slots = slots
        self._granter = granter
        self._selector = selector
        self._refresher = refresher
        self._options = options
        self._clock = clock

    async def redeem(self, asked: Redemption) -> tuple[Selected, Material]:
        """Return a grant of an action with its key material, newer than the refused version.

        Raises:
            RouterError: GRANT_UNKNOWN, GRANT_EXPIRED, CREDENTIALS_UNAVAILABLE, or
                CREDENTIAL_NEEDS_LOGIN when it cannot be had.
        """
        found = self._granter.redeemed(asked)
        await self._refresher.freshen(found.grant.credential_id, asked.rejected_version)
        selected = self._granter.redeemed(asked)
        return selected, self._material(selected, asked.rejected_version)

    async def select(self, query: Query) -> tuple[Selected, float, Material]:
        """Return a grant of a selection made now, the seconds of the pick, and key material.

        An account whose token cannot be had in time is passed over.

        Raises:
            RouterError: why nothing could be picked.
        """
        for _ in range(MAX_DEAD):
            selected, elapsed_s = await self._selector.select(query)
            credential_id = selected.grant.credential_id
            try:
                async with self._slots.given_back_on_failure(selected.grant):
                    await self._refresher.freshen(credential_id)
                    return selected, elapsed_s, self._material(selected, 0)
            except RouterError as error:
                if error.reason is not Reason.CREDENTIAL_NEEDS_LOGIN:
                    raise
            query = replace(query, tried=query.tried | {credential_id})
        raise RouterError(Reason.CREDENTIAL_NEEDS_LOGIN, "no account has a token to send")

    def _material(self, selected: Selected, rejected_version: int) -> Material:
        credential = self._vault.pool.by_id.get(selected.grant.credential_id)
        if credential is None:
            raise RouterError(Reason.GRANT_UNKNOWN, "the grant's credential is gone: select anew")
        _check_usable(credential)
        if rejected_version and credential.credential_version <= rejected_version:
            raise RouterError(
                Reason.CREDENTIAL_NEEDS_LOGIN, "the upstream refused the newest secret there is"
            )
        spec = credential.spec
        if spec.is_plan and not self._refresher.is_sendable(credential.id):
            raise RouterError(
                Reason.CREDENTIAL_NEEDS_LOGIN, "the grant's token has ended: select anew"
            )
        until = None
        if spec.kind is not CredentialKind.NONE:
            until = self._clock.now_unix_s() + SECRET_CACHE_S
            until = min(until, credential.token_expire_unix_s or until)
        return Material(
            scheme=scheme_of(spec.kind, self._options.families.get(spec.provider)),
            secrets=self._vault.secrets_of(credential.id),
            spec=spec,
            cache_until_unix_s=until,
            is_tenant_given=bool(spec.installation_id) and credential.origin is Origin.STORED,
        )


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
