"""Runs selections: reads one snapshot, moves cursors and bindings, gives grants."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.credentials.model import (
    Credential,
    Cursor,
    CursorKey,
    Decision,
    Pick,
    Query,
    Selected,
)
from services.credentials.policy.denial import denial_of
from services.credentials.policy.selection import decide
from services.credentials.policy.trial import begun, with_trial
from services.credentials.server import telling
from services.credentials.server.asking import check_permitted, key_of, presented_for
from services.credentials.server.bounded import Bounded
from services.credentials.server.granting import slot_of
from services.credentials.server.views import Views
from services.domain.errors import Reason, RouterError

if TYPE_CHECKING:
    from services.credentials.model import BindingRef, Slot
    from services.credentials.ports import Shared
    from services.credentials.server.affinity import Affinities
    from services.credentials.server.granting import Granter
    from services.credentials.server.grants import Grants
    from services.credentials.server.options import Options
    from services.credentials.server.paths import Paths
    from services.credentials.server.setbacks import Setbacks
    from services.credentials.server.vault import Vault
    from services.runtime.clock import Clock

MAX_CURSORS = 4_096
MAX_DECISIONS = 10_000
DECISION_TTL_S = 3_600.0
SHARED_WAIT_S = 0.1
"""Pause before slots are looked at again that another replica may have freed."""

NOBODY: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Explanation:
    """One selection, past or possible."""

    decision: Decision | None
    index: int
    """Position of the binding picked; -1: none."""
    denial: RouterError | None
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class Parts:
    """What the selector works with."""

    vault: Vault
    grants: Grants
    granter: Granter
    affinities: Affinities
    setbacks: Setbacks
    paths: Paths
    shared: Shared
    clock: Clock


class Selector:
    """Chooses credentials; remembers cursors and decisions, all bounded."""

    def __init__(self, parts: Parts, options: Options) -> None:
        self._parts = parts
        self._options = options
        self._clock = parts.clock
        self._views = Views(options.rules, is_prefix_forced=options.terms.is_prefix_forced)
        self._cursors: Bounded[CursorKey, Cursor] = Bounded(MAX_CURSORS)
        self._decisions: Bounded[str, Explanation] = Bounded(MAX_DECISIONS, DECISION_TTL_S)

    async def select(self, query: Query) -> tuple[Selected, float]:
        """Return a grant and the seconds that the pick took; a repeat answers the same grant.

        Raises:
            RouterError: why nothing could be picked, or ELIGIBILITY_VIOLATION.
        """
        check_permitted(query)
        give_up_s = self._clock.monotonic_s() + query.max_wait_s
        while True:
            earlier = self._parts.grants.by_key(key_of(query))
            if earlier is not None:
                return earlier, 0.0
            found, selected = await self._try(query)
            self._decisions.put(query.idempotency_key, found, self._clock.monotonic_s())
            if selected is not None:
                return selected, found.elapsed_s
            denial = found.denial or RouterError(Reason.INTERNAL, "neither a grant nor a denial")
            left_s = give_up_s - self._clock.monotonic_s()
            if denial.reason is not Reason.CREDENTIAL_CONCURRENCY or left_s <= 0:
                raise denial
            is_alone = self._parts.shared.is_alone
            await self._parts.grants.wait_freed(left_s if is_alone else min(left_s, SHARED_WAIT_S))

    def explain(self, query: Query) -> Explanation:
        """Return what a selection would come to now; nothing moves.

        Raises:
            RouterError: ELIGIBILITY_VIOLATION.
        """
        check_permitted(query)
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

    async def _try(self, query: Query) -> tuple[Explanation, Selected | None]:
        """Return what one look comes to, with the grant where there is one."""
        full, bound_id = NOBODY, ""
        while True:
            found = self._explain(query, full, bound_id)
            if found.denial is not None:
                return found, None
            decision, binding = found.decision, query.bindings[found.index]
            if decision is None or decision.pick is None:
                return found, self._of_presented(query, found.index)
            pick = decision.pick
            if pick.is_trial and not await self._begin_trial(pick.credential, decision):
                if self._is_due(pick.credential, decision):
                    return self._denied(query, full), None
                continue  # somebody was faster with this one; another may be due
            if not (bound_id or pick.is_trial):
                first_id = await self._first_bound(query, binding, decision)
                if first_id != pick.credential.id:
                    bound_id = first_id
                    continue
            selected = await self._granted(query, found.index, decision, pick)
            if selected is not None:
                return found, selected
            full |= {pick.credential.id}

    def _explain(
        self, query: Query, full: frozenset[str] = NOBODY, bound_id: str = ""
    ) -> Explanation:
        started_s = time.perf_counter()
        decisions: list[Decision] = []
        for index, binding in enumerate(query.bindings):
            if presented_for(query, binding) is not None:
                return Explanation(None, index, None, time.perf_counter() - started_s)
            decision = self._decide(query, binding, full, bound_id)
            decisions.append(decision)
            if decision.pick is not None:
                return Explanation(decision, index, None, time.perf_counter() - started_s)
        trial = with_trial(decisions, self._options.trials)
        if trial is not None:
            return Explanation(trial[1], trial[0], None, time.perf_counter() - started_s)
        denial = denial_of(decisions, decisions[0].now_unix_s)
        return Explanation(decisions[0], -1, denial, time.perf_counter() - started_s)

    def _decide(
        self, query: Query, binding: BindingRef, full: frozenset[str], bound_id: str
    ) -> Decision:
        parts, now = self._parts, self._clock.now_unix_s()
        parts.grants.expire_due()
        pool = parts.vault.pool
        view = self._views.at(pool, query.installation_id, binding.provider, binding.model_id, now)
        subject = view.subject
        if not bound_id:
            bound_id = parts.affinities.bound_id(parts.affinities.key(query, binding, subject))
        return decide(
            query,
            binding,
            view,
            pool.revision,
            parts.grants.in_flight,
            self._cursor,
            bound_id,
            self._options.terms,
            now,
            is_gateway_exclusive=query.installation_id in pool.gateway_tenants,
            full=full,
            setbacks=parts.setbacks.of(subject.model_id),
            closed=parts.paths.closed(view.lane),
        )

    def _denied(self, query: Query, full: frozenset[str]) -> Explanation:
        """Return a denial: the trial that could have been went to somebody else."""
        decisions = [self._decide(query, binding, full, "") for binding in query.bindings]
        return Explanation(decisions[0], -1, denial_of(decisions, self._clock.now_unix_s()), 0.0)

    def _is_due(self, credential: Credential, decision: Decision) -> bool:
        known = self._parts.vault.pool.by_id.get(credential.id)
        if known is None:
            return False
        now = self._clock.now_unix_s()
        return begun(known, decision.subject, self._options.trials, now) is not known

    async def _begin_trial(self, credential: Credential, decision: Decision) -> bool:
        """Return whether this call may try a blocked credential; one in the cluster may."""
        now, is_ours = self._clock.now_unix_s(), False

        def edit(current: Credential) -> Credential:
            nonlocal is_ours
            after = begun(current, decision.subject, self._options.trials, now)
            is_ours = after is not current
            return after

        try:
            await self._parts.vault.change(credential.id, edit)
        except RouterError:
            return False
        return is_ours

    async def _first_bound(self, query: Query, binding: BindingRef, decision: Decision) -> str:
        """Return the credential that a session without a binding here goes to; on any replica the
        same."""
        if decision.pick is None:
            return ""
        affinities, picked_id = self._parts.affinities, decision.pick.credential.id
        key = affinities.key(query, binding, decision.subject)
        if key is None or affinities.bound_id(key):
            return picked_id
        first_id = await affinities.first_bound_id(key, picked_id, self._parts.vault.hasher)
        is_free = any(credential.id == first_id for credential in decision.free)
        return first_id if is_free else picked_id

    async def _granted(
        self, query: Query, index: int, decision: Decision, pick: Pick
    ) -> Selected | None:
        """Return the grant of a pick; None: other replicas keep the credential full."""
        parts, binding = self._parts, query.bindings[index]
        grant = parts.granter.of_pick(query, binding, pick)
        slot = slot_of(grant.id, pick.credential, binding.model_id)
        holds_slot = query.purpose.holds_slot
        if slot is not None and holds_slot and not await self._take(slot):
            return None
        self._cursors.put(pick.cursor_key, pick.cursor)
        selected = Selected(grant, index, decision)
        parts.grants.open(
            selected,
            key_of(query),
            decision.subject.model_id,
            slot=holds_slot,
            limited=slot is not None,
        )
        telling.PICKS.labels(pick.bucket.name.lower(), pick.strategy.value).inc()
        key = parts.affinities.key(query, binding, decision.subject)
        if key is not None and not pick.is_trial:
            await parts.affinities.bind(key, pick.credential.id, parts.vault.hasher)
        return selected

    async def _take(self, slot: Slot) -> bool:
        """Return whether a slot is free over all replicas, and here after the wait for them."""
        shared = self._parts.shared
        if shared.is_alone:
            return not self._parts.grants.is_full(slot)
        if not await shared.take(slot, self._options.lease_ttl_s):
            return False
        if self._parts.grants.is_full(slot):
            await shared.free(slot)
            return False
        return True

    def _of_presented(self, query: Query, index: int) -> Selected:
        binding = query.bindings[index]
        identity = presented_for(query, binding)
        if identity is None:
            raise RouterError(Reason.INTERNAL, "a grant without a credential")
        grant = self._parts.granter.of_presented(query, binding, identity)
        selected = Selected(grant, index, None)
        self._parts.grants.open(selected, key_of(query), "", slot=False, limited=False)
        return selected

    def _cursor(self, key: CursorKey) -> Cursor:
        return self._cursors.get(key) or Cursor()
