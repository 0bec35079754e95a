"""Looks at the pool for a selection: what it would come to, without moving anything."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.credentials.model import Cursor, CursorKey, Decision, Query, Verdict
from services.credentials.policy.denial import denial_of
from services.credentials.policy.selection import decide
from services.credentials.policy.trial import with_trial
from services.credentials.server.asking import presented_for
from services.credentials.server.line import NOBODY
from services.credentials.server.views import Views
from services.domain.errors import RouterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from services.credentials.model import BindingRef, Credential
    from services.credentials.ports import Shared
    from services.credentials.server.affinity import Affinities
    from services.credentials.server.granting import Granter
    from services.credentials.server.grants import Grants
    from services.credentials.server.line import Place, Room
    from services.credentials.server.options import Options
    from services.credentials.server.paths import Paths
    from services.credentials.server.setbacks import Setbacks
    from services.credentials.server.slots import Slots
    from services.credentials.server.vault import Vault
    from services.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class Explanation:
    """One selection, past or possible."""

    decision: Decision | None
    index: int
    """Position of the binding picked; -1: none."""
    denial: RouterError | None
    elapsed_s: float
    busy: frozenset[Room] = frozenset()
    """What could serve if there were slots."""


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
    slots: Slots
    clock: Clock


class Eye:
    """Sees one snapshot of the pool at a time."""

    def __init__(
        self, parts: Parts, options: Options, cursor_at: Callable[[CursorKey], Cursor]
    ) -> None:
        self._parts = parts
        self._options = options
        self._cursor_at = cursor_at
        self._clock = parts.clock
        self._views = Views(options.rules, is_prefix_forced=options.terms.is_prefix_forced)

    def look(
        self,
        query: Query,
        full: frozenset[str] = NOBODY,
        bound_id: str = "",
        place: Place | None = None,
    ) -> Explanation:
        """Return what a selection would come to now; nothing moves.

        ``full`` are credentials that other replicas keep full, ``bound_id`` is the one that the
        session is on where that is another than this replica knows, ``place`` is where it waits.
        """
        started_s = time.perf_counter()
        decisions: list[Decision] = []
        for index, binding in enumerate(query.bindings):
            if presented_for(query, binding) is not None:
                return Explanation(None, index, None, time.perf_counter() - started_s)
            decision = self._decide(query, binding, full, bound_id, place)
            decisions.append(decision)
            if decision.pick is not None:
                return Explanation(decision, index, None, time.perf_counter() - started_s)
        trial = with_trial(decisions, self._options.trials)
        if trial is not None:
            return Explanation(trial[1], trial[0], None, time.perf_counter() - started_s)
        return self._denied(decisions, time.perf_counter() - started_s)

    def _decide(
        self,
        query: Query,
        binding: BindingRef,
        full: frozenset[str],
        bound_id: str,
        place: Place | None,
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
            self._cursor_at,
            bound_id,
            self._options.terms,
            now,
            is_gateway_exclusive=query.installation_id in pool.gateway_tenants,
            full=full | parts.grants.line.ahead(place, subject.model_id),
            setbacks=parts.setbacks.of(subject.model_id),
            closed=parts.paths.closed(view.lane),
        )

    def denied(self, query: Query, full: frozenset[str], place: Place | None) -> Explanation:
        """Return a denial: the trial that could have been went to somebody else."""
        found = [self._decide(query, binding, full, "", place) for binding in query.bindings]
        return self._denied(found, 0.0)

    def _denied(self, decisions: Sequence[Decision], elapsed_s: float) -> Explanation:
        """Return what stands against a selection of which no binding got a pick."""
        busy = frozenset(
            self._room(one.credential, decision)
            for decision in decisions
            for one in decision.barred
            if one.verdict is Verdict.BUSY
        )
        denial = denial_of(decisions, decisions[0].now_unix_s)
        return Explanation(decisions[0], -1, denial, elapsed_s, busy)

    def _room(self, credential: Credential, decision: Decision) -> Room:
        """Return what is waited for: where all of a credential is full, but not what its model may
        have of it, the next slot of whatever model."""
        spec, used = credential.spec, self._parts.grants.in_flight
        model_id = decision.subject.model_id
        of_model = used.by_model.get((credential.id, model_id), 0)
        of_all = used.by_credential.get(credential.id, 0)
        is_all_full = 0 < spec.max_in_flight <= of_all and of_model < spec.max_in_flight_per_model
        is_narrowed = spec.max_in_flight_per_model > 0 and not is_all_full
        return (credential.id, model_id if is_narrowed else "")
