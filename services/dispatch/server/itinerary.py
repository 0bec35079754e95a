"""Where a walk stands in its plan, and what is left of it: bindings first, then rescues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.dispatch.policy.rescue import Cause, next_rescue
from services.domain.vocab import CredentialKind, CredentialOwner

if TYPE_CHECKING:
    from services.dispatch.model.access import Grant
    from services.dispatch.model.enums import AttemptCause
    from services.dispatch.model.plan import Plan, PlannedBinding
    from services.dispatch.server.circuits import Circuits
    from services.domain.vocab import FailureClass

RESCUE_INDEX = -1
"""Place in the plan of every binding of a rescue."""


@dataclass(frozen=True, slots=True)
class Stop:
    """One binding to try. ``rescue`` of None: it is one of the plan's own."""

    planned: PlannedBinding
    plan_index: int
    rescue: AttemptCause | None = None


class Itinerary:
    """The stops of one walk; mutable, owned by it.

    A stop may be postponed while there are others: it is tried when all of them have failed.
    """

    def __init__(self, plan: Plan, circuits: Circuits, *, is_gateway_exclusive: bool) -> None:
        """Begin at the plan's first stop; ``is_gateway_exclusive``: a tenant's endpoints serve."""
        self._plan = plan
        self._circuits = circuits
        self._is_gateway_exclusive = is_gateway_exclusive
        self._leg: tuple[Stop, ...] = tuple(
            Stop(planned, plan.start_index + i) for i, planned in enumerate(plan.bindings)
        )
        self._place = 0
        self._tried: set[int] = set()
        self._postponed: list[Stop] = []
        self._is_last_leg = False

    @property
    def here(self) -> Stop:
        """The stop to try now."""
        return self._leg[self._place]

    @property
    def has_next(self) -> bool:
        """Whether the leg goes on."""
        return self._place + 1 < len(self._leg)

    @property
    def is_single(self) -> bool:
        """Whether the leg has one stop only."""
        return len(self._leg) == 1

    @property
    def is_last_leg(self) -> bool:
        """Whether only what was postponed is tried now."""
        return self._is_last_leg

    def pass_over(self, failed: Cause | None) -> FailureClass | None:
        """Postpone a stop that is known to be down, unless it is due to be probed.

        Returns the fault that it is down with; None: it is to be asked. ``failed`` is what the
        plan's own bindings have come to.
        """
        ref, outage = self.here.planned.ref, self._outage
        if outage is None or self._is_last_leg:
            return None
        has_way_round = self.has_next or self.rescue_after(failed or Cause(outage)) is not None
        if not has_way_round or self._circuits.is_probe_due(ref):
            return None
        self._postponed.append(self.here)
        return outage

    @property
    def _outage(self) -> FailureClass | None:
        """The fault that this stop is down with; an endpoint of a tenant's own shares none."""
        stop, grant = self.here, self._plan.grant
        is_start = stop.plan_index == self._plan.start_index
        if self._is_gateway_exclusive or (is_start and grant and _is_at_own_endpoint(grant)):
            return None
        return self._circuits.outage(stop.planned.ref)

    def is_spared(self, cause: Cause) -> bool:
        """Return whether there is a better way than to ask this stop again after a fault.

        A rescue target is not retried while there are others, nor is a binding that is known to be
        down and answered no probe.
        """
        if self.here.rescue is None and self._outage is None:
            return False
        return self.rescue_after(cause) is not None

    def rescue_after(self, cause: Cause) -> int | None:
        """Return the place of the rescue that a fault of the plan opens; None: none is left."""
        plan = self._plan
        if self._is_last_leg or len(self._tried) >= plan.budget.max_rescues:
            return None
        return next_rescue(cause, plan.rescues, self._tried, plan.rescue_flags)

    def rescue_at(self, place: int) -> AttemptCause:
        """Return the rescue that a place belongs to."""
        return self._plan.rescues[place].cause

    def advance(self) -> None:
        """Go to the next stop of the leg."""
        self._place += 1

    def enter_rescue(self, place: int) -> None:
        """Go to the first binding of a rescue target."""
        rescue = self._plan.rescues[place]
        self._tried.add(place)
        self._enter([Stop(row, RESCUE_INDEX, rescue.cause) for row in rescue.bindings])

    @property
    def has_postponed(self) -> bool:
        """Whether a stop waits for its turn."""
        return bool(self._postponed)

    def enter_postponed(self) -> None:
        """Go to the stops that were postponed."""
        self._is_last_leg = True
        stops, self._postponed = self._postponed, []
        self._enter(stops)

    def _enter(self, stops: list[Stop]) -> None:
        self._leg, self._place = tuple(stops), 0


def _is_at_own_endpoint(grant: Grant) -> bool:
    """Return whether a grant is for an address that its tenant gave."""
    attribution = grant.attribution
    is_tenants = attribution.owner is CredentialOwner.TENANT
    return is_tenants and attribution.kind is CredentialKind.GATEWAY
