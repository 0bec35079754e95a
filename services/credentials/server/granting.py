"""Makes grants out of picks, and tells genuine ones that another replica gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.model import BUCKET_WORDS, Bucket, Grant, Selected, Slot
from services.credentials.policy import tokens
from services.credentials.policy.matching import canonical_model, split_prefix
from services.domain.copying import replace
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialOwner

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.credentials.model import (
        BindingRef,
        Credential,
        CredentialSpec,
        Pick,
        PresentedIdentity,
        Query,
        Redemption,
    )
    from services.credentials.server.grants import Grants
    from services.credentials.server.vault import Vault
    from services.runtime.clock import Clock

REDEEM_S = 600.0
"""How long after its slot a grant of another replica may be redeemed: as long as an action."""


class Granter:
    """Gives grants and finds them again."""

    def __init__(
        self,
        vault: Vault,
        grants: Grants,
        ttl_s: float,
        clock: Clock,
        new_nonce: Callable[[], bytes],
    ) -> None:
        self._vault = vault
        self._grants = grants
        self._ttl_s = ttl_s
        self._clock = clock
        self._new_nonce = new_nonce

    def of_pick(self, query: Query, binding: BindingRef, pick: Pick) -> Grant:
        """Return a grant of a credential that was picked."""
        credential, bucket = pick.credential, pick.bucket
        named = _at_its_endpoint(binding, credential.spec)
        how = "affinity" if pick.is_affinity_hit else pick.strategy.value
        if pick.is_trial:
            how = "trial"
        scope = tokens.scope_of(
            query.action_id, query.installation_id, credential.id, "", named, bucket
        )
        end = self._clock.now_unix_s() + self._ttl_s
        return Grant(
            id=self._new_id(scope, end),
            action_id=query.action_id,
            installation_id=query.installation_id,
            binding=named,
            kind=credential.spec.kind,
            owner=credential.spec.owner,
            bucket=bucket,
            credential_id=credential.id,
            credential_version=credential.credential_version,
            fingerprint=credential.fingerprint,
            cache_key=credential.cache_key,
            why=f"{BUCKET_WORDS[bucket]};priority={pick.priority};{how}",
            expire_unix_s=end,
        )

    def of_presented(self, query: Query, binding: BindingRef, identity: PresentedIdentity) -> Grant:
        """Return a grant of a credential that the caller presented."""
        shown, bucket = identity.presented_hash, Bucket.CLEAN
        scope = tokens.scope_of(query.action_id, query.installation_id, "", shown, binding, bucket)
        end = self._clock.now_unix_s() + self._ttl_s
        return Grant(
            id=self._new_id(scope, end),
            action_id=query.action_id,
            installation_id=query.installation_id,
            binding=binding,
            kind=identity.kind,
            owner=CredentialOwner.CALLER,
            bucket=bucket,
            fingerprint=self._vault.hasher.fingerprint(shown),
            presented_hash=shown,
            why="presented",
            expire_unix_s=end,
        )

    def redeemed(self, asked: Redemption) -> Selected:
        """Return a grant of an action, naming the newest secret.

        Raises:
            RouterError: GRANT_UNKNOWN, also for another action's, or GRANT_EXPIRED.
        """
        selected = self._found(asked)
        grant = selected.grant
        if (grant.action_id, grant.installation_id) != (asked.action_id, asked.installation_id):
            raise _unknown()
        credential = self._vault.pool.by_id.get(grant.credential_id)
        if credential is None or credential.credential_version == grant.credential_version:
            return selected
        newest = replace(
            grant,
            credential_version=credential.credential_version,
            cache_key=credential.cache_key,
        )
        return replace(selected, grant=newest)

    def _found(self, asked: Redemption) -> Selected:
        try:
            return self._grants.get(asked.grant_id)
        except RouterError as error:
            if error.reason is not Reason.GRANT_UNKNOWN or asked.grant is None:
                raise
        given = replace(
            asked.grant,
            id=asked.grant_id,
            action_id=asked.action_id,
            installation_id=asked.installation_id,
        )
        credential = self._vault.pool.by_id.get(given.credential_id)
        if credential is None or not tokens.is_genuine(
            self._vault.hasher, given, self._clock.now_unix_s()
        ):
            raise _unknown()
        known = replace(
            given,
            kind=credential.spec.kind,
            owner=credential.spec.owner,
            fingerprint=credential.fingerprint,
            cache_key=credential.cache_key,
            credential_version=credential.credential_version,
        )
        return Selected(known, 0, None)

    def _new_id(self, scope: tokens.Scope, end_unix_s: float) -> str:
        until_unix_s = end_unix_s + REDEEM_S
        return tokens.grant_id(self._vault.hasher, scope, self._new_nonce(), until_unix_s)


def _at_its_endpoint(binding: BindingRef, spec: CredentialSpec) -> BindingRef:
    """Return a binding with the name of its model at a credential's endpoint."""
    if not (spec.model_prefix or spec.upstream_id_by_model):
        return binding
    prefixes = {spec.model_prefix} - {""}
    prefix, bare = split_prefix(binding.model_id, prefixes)
    name = spec.alias(canonical_model(bare))
    if prefix and not name:
        name = split_prefix(binding.upstream_id, prefixes)[1]
    return replace(binding, upstream_id=name) if name else binding


def slot_of(grant_id: str, credential: Credential, model_id: str) -> Slot | None:
    """Return what an attempt counts as over all replicas; None: the credential has no limits."""
    spec = credential.spec
    if not (spec.max_in_flight or spec.max_in_flight_per_model):
        return None
    model = canonical_model(model_id)
    return Slot(grant_id, credential.id, model, spec.max_in_flight, spec.max_in_flight_per_model)


def _unknown() -> RouterError:
    return RouterError(Reason.GRANT_UNKNOWN, "no such grant: select anew")
