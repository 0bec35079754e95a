"""What operators do to the pool: store, change, reset, list and remove credentials."""

from __future__ import annotations

import secrets as randomness
from dataclasses import replace
from typing import TYPE_CHECKING

from services.credentials.codec.operator import check_kind
from services.credentials.model import AuditEntry, Credential, Origin, SystemState
from services.credentials.policy.evidence import Step, cleared_by_operator, cleared_by_secret
from services.domain.errors import InvalidRequestError, Reason, RouterError

if TYPE_CHECKING:
    from services.credentials.codec.operator import Creation, Listing, Update
    from services.credentials.model import Transition
    from services.credentials.policy.evidence import Rules
    from services.credentials.server.grants import Grants
    from services.credentials.server.reports import Reports
    from services.credentials.server.vault import Vault
    from services.runtime.clock import Clock


class Operator:
    """Carries out what people ask; every change is audited with their name."""

    def __init__(
        self, vault: Vault, grants: Grants, reports: Reports, clock: Clock, rules: Rules
    ) -> None:
        self._vault = vault
        self._grants = grants
        self._reports = reports
        self._clock = clock
        self._rules = rules

    async def reset(
        self, credential_id: str, model_id: str, actor: str
    ) -> tuple[Credential, tuple[Transition, ...]]:
        """Clear the marks of a credential and return it with what was cleared.

        Raises:
            RouterError: CREDENTIAL_NOT_FOUND or STORE_UNAVAILABLE.
        """
        _refuse_unreadable(self._existing(credential_id))
        now = self._clock.now_unix_s()
        return await self._reports.settle(
            credential_id,
            lambda current: cleared_by_operator(current, model_id, self._rules, now),
            audit=self._audit(actor, "reset", model_id),
        )

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
        return await self._vault.add(credential, creation.secrets, creation.idempotency_key, audit)

    async def update(self, update: Update) -> Credential:
        """Change a credential.

        Raises:
            RouterError: CREDENTIAL_NOT_FOUND, VERSION_CONFLICT, STORE_UNAVAILABLE, or
                INVALID_REQUEST when it comes from the configuration file, or its kind forbids it.
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
        check_kind(update.applied_to(before.spec), update.secrets)
        is_rotated = update.secrets is not None
        if not is_rotated:
            _refuse_unreadable(before)

        def step_of(current: Credential) -> Step:
            spec = update.applied_to(current.spec)
            if not is_rotated and spec == current.spec:
                return Step(current, {})
            now = self._clock.now_unix_s()
            changed = replace(current, spec=spec, update_unix_s=now)
            if not is_rotated:
                return Step(changed, {})
            rotated = replace(changed, credential_version=current.credential_version + 1)
            return cleared_by_secret(rotated, now)

        after, _ = await self._reports.settle(
            update.credential_id,
            step_of,
            expected=update.expected_state_version,
            secrets=update.merged_into if is_rotated else None,
            audit=self._audit(update.actor, "update", ",".join(sorted(update.changed))),
        )
        return after

    async def delete(self, credential_id: str, expected: int, actor: str) -> int:
        """Remove a credential and return how many grants were open on it.

        Raises:
            RouterError: VERSION_CONFLICT or STORE_UNAVAILABLE.
        """
        await self._vault.remove(credential_id, expected, self._audit(actor, "remove", ""))
        return self._grants.drop_credential(credential_id)

    def page(self, listing: Listing) -> tuple[list[Credential], bool]:
        """Return one page of credentials in list order, and whether more follow."""
        wanted = [
            (key, one)
            for one in self._vault.pool.by_id.values()
            if (key := listing.key_of(one)) is not None
        ]
        wanted.sort(key=lambda pair: pair[0])
        page = [one for _, one in wanted[: listing.page_size]]
        return page, len(wanted) > listing.page_size

    def _existing(self, credential_id: str) -> Credential:
        found = self._vault.pool.by_id.get(credential_id)
        if found is None:
            raise RouterError(Reason.CREDENTIAL_NOT_FOUND, "no such credential")
        return found

    def _refuse_duplicate(self, creation: Creation) -> None:
        """Refuse a secret or a label that a credential of the same lane has."""
        spec, value = creation.spec, creation.secrets.value
        for one in self._vault.pool.by_id.values():
            is_same_lane = (one.spec.installation_id, one.spec.provider, one.spec.kind) == (
                spec.installation_id,
                spec.provider,
                spec.kind,
            )
            if not is_same_lane or self._vault.is_made_by(one.id, creation.idempotency_key):
                continue
            has_label = bool(spec.label) and one.spec.label == spec.label
            has_secret = bool(value) and self._vault.secrets_of(one.id).value == value
            has_secret = has_secret or self._has_token(one, creation.secrets.refresh_token)
            if has_label or has_secret:
                what = "secret" if has_secret else "label"
                raise RouterError(
                    Reason.CREDENTIAL_DUPLICATE,
                    f"a credential of {spec.provider} with this {what} exists: {one.fingerprint}",
                    metadata={"fingerprint": one.fingerprint, "field": what},
                )

    def _has_token(self, credential: Credential, refresh_token: str) -> bool:
        """Return whether a credential uses a refresh token, or used it before."""
        if not refresh_token:
            return False
        digest = self._vault.hasher.declared(refresh_token)
        own = self._vault.secrets_of(credential.id).refresh_token
        return own == refresh_token or digest in credential.spent_digests

    def _audit(self, actor: str, action: str, detail: str) -> AuditEntry:
        return AuditEntry(actor, action, self._clock.now_unix_s(), detail)


def _refuse_unreadable(credential: Credential) -> None:
    """Leave a record alone that may be readable again once its key is back."""
    if credential.system_state is SystemState.QUARANTINED:
        raise InvalidRequestError.of(
            "credential_id", "its record cannot be read: store its secret anew, or remove it"
        )
