"""Runs selections: reads one snapshot, moves cursors and bindings, gives grants."""

from __future__ import annotations

import asyncio
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
from services.credentials.policy.trial import begun
from services.credentials.server import telling
from services.credentials.server.asking import (
    check_permitted,
    check_repeated,
    key_of,
    presented_for,
)
from services.credentials.server.bounded import Bounded
from services.credentials.server.eye import Explanation, Eye
from services.credentials.server.granting import slot_of
from services.credentials.server.line import NOBODY
from services.domain.errors import Reason, RouterError

if TYPE_CHECKING:
    from services.credentials.model import BindingRef, Slot
    from services.credentials.server.eye import Parts
    from services.credentials.server.line import Place
    from services.credentials.server.options import Options

MAX_CURSORS = 4_096
MAX_DECISIONS = 10_000
DECISION_TTL_S = 3_600.0
SHARED_WAIT_S = 0.1
"""Pause before slots are looked at again that another replica may have freed."""


class Selector:
    """Chooses credentials; remembers cursors and decisions, all bounded."""

    def __init__(self, parts: Parts, options: Options) -> None:
        self._parts = parts
        self._options = options
        self._clock = parts.clock
        self._cursors: Bounded[CursorKey, Cursor] = Bounded(MAX_CURSORS)
        self._eye = Eye(parts, options, self._cursor)
        self._decisions: Bounded[str, Explanation] = Bounded(MAX_DECISIONS, DECISION_TTL_S)

    async def select(self, query: Query) -> tuple[Selected, float]:
        """Return a grant and the seconds that the pick took; a repeat answers the same grant.

        Raises:
            RouterError: why nothing could be picked, or ELIGIBILITY_VIOLATION.
            InvalidRequestError: its key was used for another selection.
        """
        check_permitted(query)
        found, selected = await self._look(query)
        if selected is None:
            found, selected = await self._wait(query, found)
        return selected, found.elapsed_s

    async def _look(
        self, query: Query, place: Place | None = None
    ) -> tuple[Explanation, Selected | None]:
        """Return what a selection comes to now; None: only waiting may help.

        Who waits already goes on as long as anything is busy, whatever else cools meanwhile.

        Raises:
            RouterError: why nothing can be picked, however long one waits.
        """
        earlier = self._parts.grants.by_key(key_of(query))
        if earlier is not None:
            check_repeated(query, earlier)
            return Explanation(None, earlier.index, None, 0.0), earlier
        found, selected = await self._try(query, place)
        self._decisions.put(query.idempotency_key, found, self._clock.monotonic_s())
        may_wait = _is_busy(found) if place is None else bool(found.busy)
        if selected is None and (query.max_wait_s <= 0 or not may_wait):
            raise _denial(found)
        return found, selected

    async def _wait(self, query: Query, found: Explanation) -> tuple[Explanation, Selected]:
        """Return what a selection comes to once its turn has come.

        Raises:
            RouterError: why nothing could be picked in time.
        """
        shared, give_up_s = self._parts.shared, self._clock.monotonic_s() + query.max_wait_s
        with self._parts.grants.line.place() as place:
            while True:
                left_s = give_up_s - self._clock.monotonic_s()
                if left_s <= 0:
                    raise _denial(found)
                if not (shared.is_alone and shared.replica_count == 1):
                    left_s = min(left_s, SHARED_WAIT_S)
                await place.wait(found.busy, left_s)
                found, selected = await self._look(query, place)
                if selected is not None:
                    place.use(selected.grant.credential_id)
                    return found, selected

    def explain(self, query: Query) -> Explanation:
        """Return what a selection would come to now; nothing moves.

        Raises:
            RouterError: ELIGIBILITY_VIOLATION.
        """
        check_permitted(query)
        return self._eye.look(query)

    def explain_past(self, idempotency_key: str) -> Explanation:
        """Return what a selection came to.

        Raises:
            RouterError: SELECTION_NOT_FOUND.
        """
        found = self._decisions.get(idempotency_key, self._clock.monotonic_s())
        if found is None:
            raise RouterError(Reason.SELECTION_NOT_FOUND, "no selection with this key in 1 h")
        return found

    async def _try(self, query: Query, place: Place | None) -> tuple[Explanation, Selected | None]:
        """Return what one look comes to, with the grant where there is one."""
        full, bound_id = NOBODY, ""
        while True:
            found = self._eye.look(query, full, bound_id, place)
            if found.denial is not None:
                return found, None
            decision, binding = found.decision, query.bindings[found.index]
            if decision is None or decision.pick is None:
                return found, self._of_presented(query, found.index)
            pick = decision.pick
            if pick.is_trial and not await self._begin_trial(pick.credential, decision):
                if self._is_due(pick.credential, decision):
                    return self._eye.denied(query, full, place), None
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
        if self._parts.shared.is_alone:
            return picked_id
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
        telling.picked(decision, pick)
        key = parts.affinities.key(query, binding, decision.subject)
        if key is None or pick.is_trial:
            return selected
        if parts.affinities.bind(key, pick.credential.id):
            async with parts.slots.given_back_on_failure(grant):
                await parts.affinities.tell(key, pick.credential.id, parts.vault.hasher)
        return selected

    async def _take(self, slot: Slot) -> bool:
        """Return whether a slot is free over all replicas, and here after the wait for them."""
        shared = self._parts.shared
        try:
            is_free = shared.is_alone or await shared.take(slot, self._options.lease_ttl_s)
        except asyncio.CancelledError:
            await shared.free(slot)  # it may have been taken for a caller who has left
            raise
        if not is_free:
            return False
        if self._parts.grants.is_full(self._kept_to(slot)):
            await shared.free(slot)
            return False
        return True

    def _kept_to(self, slot: Slot) -> Slot:
        """Return what this replica may use: its share while, or since just now, nobody answers."""
        shared = self._parts.shared
        return slot.shared_by(shared.replica_count) if shared.is_alone else slot

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


def _denial(found: Explanation) -> RouterError:
    return found.denial or RouterError(Reason.INTERNAL, "neither a grant nor a denial")


def _is_busy(found: Explanation) -> bool:
    return found.denial is not None and found.denial.reason is Reason.CREDENTIAL_CONCURRENCY
