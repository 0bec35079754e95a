"""The credential of the attempt at hand: the plan's grant first, then what rotation finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.dispatch.model.access import (
    NO_AUTH,
    Access,
    Auth,
    CredentialDenied,
    SecretQuery,
)
from services.dispatch.model.enums import AttemptKind, AuthScheme, SecretPurpose
from services.dispatch.policy.classify import PLAN_KINDS
from services.domain.vocab import CredentialKind, CredentialOwner, FailureClass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.dispatch.model.access import Grant
    from services.dispatch.model.plan import Order, PlannedBinding
    from services.dispatch.ports import Credentials

_KEY_LETTERS: Mapping[AttemptKind, str] = {
    AttemptKind.SERVE: "",
    AttemptKind.SWITCH_SUMMARY: "s",
    AttemptKind.COMPACTION_SUMMARY: "c",
    AttemptKind.TRIM_SUMMARY: "t",
    AttemptKind.COUNT_TOKENS: "n",
}
KEY_S = 0.25
"""Time for the secret of a grant whose kind has no token to be minted."""
MINT_S = 5.0
AGAIN_S = 1.0
"""Time for any other once the service did not answer in that: bindings would wait one by one."""
_PLAN_SCHEMES: Mapping[CredentialKind, AuthScheme] = {
    CredentialKind.CLAUDE_OAUTH: AuthScheme.CLAUDE_OAUTH,
    CredentialKind.CODEX_OAUTH: AuthScheme.CODEX_OAUTH,
    CredentialKind.GEMINI_OAUTH: AuthScheme.GEMINI_OAUTH,
}
_KEY_SCHEMES = {"anthropic": AuthScheme.X_API_KEY, "google": AuthScheme.X_GOOG_API_KEY}


class Keyring:
    """What authenticates one walk, binding by binding; a retry keeps what it has."""

    def __init__(self, credentials: Credentials, order: Order) -> None:
        self._credentials = credentials
        self._order = order
        self._access: Access | None = None
        self._tried: tuple[str, ...] = ()
        self._renewed: tuple[str, ...] = ()
        self._patience_s = MINT_S
        is_serve = order.kind is AttemptKind.SERVE
        self._purpose = SecretPurpose.SERVE if is_serve else SecretPurpose.AUXILIARY
        self._next_key = order.plan.first_attempt_number + int(is_serve)
        self.unused = order.plan.grant
        """The grant that no attempt has taken yet: to be given back; None: there is none."""

    async def current(self, planned: PlannedBinding, *, is_first_binding: bool) -> Access:
        """Return the credential of the binding, chosen now if there is none yet.

        Raises:
            CredentialDenied: none can be had.
        """
        if self._access is None:
            grant = self._order.plan.grant if is_first_binding else None
            self._access = self._held(grant) if grant else None
            self._access = self._access or await self._acquire(planned, grant)
        return self._access

    async def rotate(self, planned: PlannedBinding) -> bool:
        """Return whether another credential of the binding was found, and take it.

        None is looked for where one account alone keeps the conversation's state.
        """
        grant = self._access.grant if self._access else None
        if grant is None or not grant.credential_id or self._order.plan.required_credential_id:
            return False
        self._tried = (*self._tried, grant.credential_id)
        try:
            access = await self._acquire(planned, None)
        except CredentialDenied:
            return False
        if access.grant.credential_id in self._tried:
            return False
        self._access = access
        return True

    async def renew(self, planned: PlannedBinding) -> bool:
        """Return whether the account whose token was refused has a newer one, and take it.

        Asked once per account and binding.
        """
        grant = self._access.grant if self._access else None
        if grant is None or not grant.credential_id or grant.attribution.kind not in PLAN_KINDS:
            return False
        if grant.credential_id in self._renewed:
            return False
        self._renewed = (*self._renewed, grant.credential_id)
        try:
            access = await self._acquire(planned, grant, grant.credential_version)
        except CredentialDenied:
            return False
        if access.grant.credential_version <= grant.credential_version:
            return False
        self._access = access
        return True

    def take(self, grant: Grant) -> None:
        """Take note that a grant is used, or given back."""
        if self.unused == grant:
            self.unused = None

    def leave_binding(self) -> None:
        """Forget the binding's credentials: the next one has its own."""
        self._access = None
        self._tried = ()
        self._renewed = ()

    def _held(self, grant: Grant) -> Access | None:
        """Return what needs no key material of ours: a presented credential, or none at all."""
        if grant.attribution.kind is CredentialKind.NONE:
            return Access(grant, NO_AUTH)
        if grant.attribution.owner is not CredentialOwner.CALLER:
            return None
        for presented in self._order.plan.presented:
            is_meant = presented.presented_hash == grant.presented_hash
            if is_meant and presented.provider == grant.binding.provider:
                scheme = _PLAN_SCHEMES.get(presented.kind) or _KEY_SCHEMES.get(
                    presented.provider, AuthScheme.BEARER
                )
                return Access(grant, Auth(scheme, presented.secret, presented.account_id))
        raise CredentialDenied(
            FailureClass.NO_ELIGIBLE_PROVIDER, "the presented credential did not come along"
        )

    async def _acquire(
        self, planned: PlannedBinding, grant: Grant | None, rejected_version: int = 0
    ) -> Access:
        order = self._order
        key = f"{order.action.action_id}/{_KEY_LETTERS[order.kind]}{self._next_key}"
        # A question about a grant is no selection; with a number of its own, the selections of the
        # action's next walk would repeat numbers of this one.
        self._next_key += int(grant is None)
        is_minted = grant is None or grant.attribution.kind in PLAN_KINDS
        query = SecretQuery(
            action=order.action,
            binding=planned.ref,
            purpose=self._purpose,
            idempotency_key=key,
            eligibility=order.eligibility,
            grant=grant,
            tried=self._tried,
            required_credential_id=order.plan.required_credential_id,
            timeout_s=self._patience_s if is_minted else KEY_S,
            rejected_version=rejected_version,
        )
        try:
            access = await self._credentials.acquire(query)
        except CredentialDenied as denial:
            if denial.failure_class is FailureClass.CREDENTIALS_UNREACHABLE:
                self._patience_s = AGAIN_S
            raise
        self.unused = access.grant
        return access
