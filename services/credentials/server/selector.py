"""Runs selections: reads one snapshot, moves cursors and bindings, gives grants."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.credentials.model import (
    Bucket,
    Cursor,
    CursorKey,
    Decision,
    Grant,
    Pick,
    Purpose,
    Query,
    Selected,
    SuppressedPlan,
)
from services.credentials.policy.denial import denial_of
from services.credentials.policy.matching import canonical_model
from services.credentials.policy.selection import decide
from services.credentials.server.bounded import Bounded
from services.credentials.server.views import Views
from services.domain.errors import InvalidRequestError, Reason, RouterError
from services.domain.vocab import CredentialOwner

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.credentials.model import BindingRef, PresentedIdentity
    from services.credentials.server.grants import Grants
    from services.credentials.server.options import Options
    from services.credentials.server.vault import Vault
    from services.runtime.clock import Clock

MAX_CURSORS = 4_096
MAX_AFFINITIES = 65_536
MAX_DECISIONS = 10_000
DECISION_TTL_S = 3_600.0

AffinityKey = tuple[str, str, bytes, str]
"""Tenant, provider, session, canonical model."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One selection, past or possible."""

    decision: Decision | None
    index: int
    """Position of the binding picked; -1: none."""
    denial: RouterError | None
    elapsed_s: float


class Selector:
    """Chooses credentials; remembers cursors, session bindings and decisions, all bounded."""

    def __init__(
        self,
        vault: Vault,
        grants: Grants,
        options: Options,
        clock: Clock,
        new_id: Callable[[], str],
    ) -> None:
        self._vault = vault
        self._grants = grants
        self._options = options
        self._clock = clock
        self._new_id = new_id
        self._views = Views()
        self._cursors: Bounded[CursorKey, Cursor] = Bounded(MAX_CURSORS)
        self._affinities: Bounded[AffinityKey, str] = Bounded(
            MAX_AFFINITIES, options.affinity_ttl_s
        )
        self._decisions: Bounded[str, Explanation] = Bounded(MAX_DECISIONS, DECISION_TTL_S)

    async def select(self, query: Query) -> tuple[Selected, float]:
        """Return a grant and the seconds that the pick took; a repeat answers the same grant.

        Raises:
            RouterError: why nothing could be picked, or ELIGIBILITY_VIOLATION.
        """
        _check_permitted(query)
        give_up_s = self._clock.monotonic_s() + query.max_wait_s
        while True:
            earlier = self._grants.by_key(_key(query))
            if earlier is not None:
                return earlier, 0.0
            found = self._explain(query)
            self._decisions.put(query.idempotency_key, found, self._clock.monotonic_s())
            if found.denial is None:
                return self._granted(query, found), found.elapsed_s
            left_s = give_up_s - self._clock.monotonic_s()
            if found.denial.reason is not Reason.CREDENTIAL_CONCURRENCY or left_s <= 0:
                raise found.denial
            await self._grants.wait_freed(left_s)

    def explain(self, query: Query) -> Explanation:
        """Return what a selection would come to now; nothing moves.

        Raises:
            RouterError: ELIGIBILITY_VIOLATION.
        """
        _check_permitted(query)
        return self._explain(query)

    def explain_past(self, idempotency_key: str) -> Explanation:
        """Return what a selection came to.

        Raises:
            RouterError: SELECTION_NOT_FOUND.
        """
        found = self._decisions.get(idempotency_key, self._clock.monotonic_s())
        if found is None:
            raise RouterError(Reason.SELECTION_NOT_FOUND, "no selection with this key in 1 h")
        return found

    def _explain(self, query: Query) -> Explanation:
        started_s = time.perf_counter()
        now = self._clock.now_unix_s()
        self._grants.expire_due()
        pool, decisions = self._vault.pool, []
        for index, binding in enumerate(query.bindings):
            if _presented_for(query, binding) is not None:
                return Explanation(None, index, None, time.perf_counter() - started_s)
            subject = self._options.rules.subject(binding.model_id)
            view = self._views.at(pool, query.installation_id, binding.provider, subject, now)
            decision = decide(
                query,
                binding,
                view,
                pool.revision,
                self._grants.in_flight,
                self._cursor,
                self._bound_id(query, binding),
                self._options.terms,
                now,
                is_gateway_exclusive=query.installation_id in pool.gateway_tenants,
            )
            decisions.append(decision)
            if decision.pick is not None:
                return Explanation(decision, index, None, time.perf_counter() - started_s)
        return Explanation(
            decisions[0], -1, denial_of(decisions, now), time.perf_counter() - started_s
        )

    def _granted(self, query: Query, found: Explanation) -> Selected:
        binding = query.bindings[found.index]
        decision = found.decision
        if decision is None or decision.pick is None:
            identity = _presented_for(query, binding)
            if identity is None:
                raise RouterError(Reason.INTERNAL, "a grant without a credential")
            selected = Selected(self._presented_grant(query, binding, identity), found.index, None)
            self._grants.open(selected, _key(query), "", slot=False, limited=False)
            return selected
        pick = decision.pick
        self._cursors.put(pick.cursor_key, pick.cursor)
        self._bind(query, binding, pick)
        selected = Selected(self._grant(query, binding, pick), found.index, decision)
        spec = pick.credential.spec
        self._grants.open(
            selected,
            _key(query),
            canonical_model(binding.model_id),
            slot=query.purpose.holds_slot,
            limited=bool(spec.max_in_flight or spec.max_in_flight_per_model),
        )
        return selected

    def _grant(self, query: Query, binding: BindingRef, pick: Pick) -> Grant:
        credential = pick.credential
        alias = credential.spec.alias(canonical_model(binding.model_id))
        how = "affinity" if pick.is_affinity_hit else pick.strategy.value
        return Grant(
            id=self._new_id(),
            action_id=query.action_id,
            installation_id=query.installation_id,
            binding=replace(binding, upstream_id=alias) if alias else binding,
            kind=credential.spec.kind,
            owner=credential.spec.owner,
            bucket=pick.bucket,
            credential_id=credential.id,
            credential_version=credential.credential_version,
            fingerprint=credential.fingerprint,
            cache_key=credential.cache_key,
            why=f"{pick.bucket.name.lower()};priority={pick.priority};{how}",
            expire_unix_s=self._clock.now_unix_s() + self._options.lease_ttl_s,
        )

    def _presented_grant(
        self, query: Query, binding: BindingRef, identity: PresentedIdentity
    ) -> Grant:
        return Grant(
            id=self._new_id(),
            action_id=query.action_id,
            installation_id=query.installation_id,
            binding=binding,
            kind=identity.kind,
            owner=CredentialOwner.CALLER,
            bucket=Bucket.CLEAN,
            fingerprint=self._vault.hasher.fingerprint(identity.presented_hash),
            presented_hash=identity.presented_hash,
            why="presented",
            expire_unix_s=self._clock.now_unix_s() + self._options.lease_ttl_s,
        )

    def _cursor(self, key: CursorKey) -> Cursor:
        return self._cursors.get(key) or Cursor()

    def _bound_id(self, query: Query, binding: BindingRef) -> str:
        key = self._affinity_key(query, binding)
        return "" if key is None else self._affinities.get(key, self._clock.monotonic_s()) or ""

    def _bind(self, query: Query, binding: BindingRef, pick: Pick) -> None:
        key = self._affinity_key(query, binding)
        if key is not None:
            self._affinities.put(key, pick.credential.id, self._clock.monotonic_s())

    def _affinity_key(self, query: Query, binding: BindingRef) -> AffinityKey | None:
        """Return what a prompt cache at an account belongs to; calls of our own have none."""
        if not (self._options.is_affinity_on and query.session_key):
            return None
        if query.purpose is not Purpose.SERVE:
            return None
        model_id = canonical_model(binding.model_id)
        return (query.installation_id, binding.provider, query.session_key, model_id)


def _key(query: Query) -> tuple[str, str]:
    return (query.installation_id, query.idempotency_key)


def _presented_for(query: Query, binding: BindingRef) -> PresentedIdentity | None:
    """Return the caller's own credential for a binding, unless this action may not use it."""
    return next(
        (
            one
            for one in query.presented
            if one.provider == binding.provider
            and SuppressedPlan(one.kind, CredentialOwner.CALLER) not in query.suppressed
        ),
        None,
    )


def _check_permitted(query: Query) -> None:
    eligibility = query.eligibility
    if eligibility is None:
        return
    for binding in query.bindings:
        if not eligibility.permits(binding.model_id, binding.provider):
            raise RouterError(
                Reason.ELIGIBILITY_VIOLATION,
                f"the eligibility record forbids {binding.model_id} at {binding.provider}",
                metadata={"model": binding.model_id, "provider": binding.provider},
            )
    if not query.installation_id:
        raise InvalidRequestError.of("action.installation_id", "must be set")
