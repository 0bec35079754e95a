"""Decides an action and explains the decision; selects, sends, reads and writes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.explaining.assumed import assumed_memory
from gateway.explaining.costs import expected_costs
from gateway.labels import labelled
from gateway.model.explained import Explained
from gateway.thread import address_of
from services.domain.errors import Reason, RouterError
from services.domain.vocab import ModelTier

if TYPE_CHECKING:
    from gateway.explaining.ports import Previews, RehearsalOf, Shadowing
    from gateway.model import Action
    from gateway.model.explained import AssumedPin
    from services.domain.catalog import Catalog
    from services.runtime.clock import Clock


_COMPACTED_FIRST = "(as it is: where compaction is on, serving compacts it first)"


class Explainer:
    """Holds no state of any action."""

    def __init__(
        self,
        rehearsal_of: RehearsalOf,
        previews: Previews,
        catalog: Catalog,
        clock: Clock,
        strategy: str,
        shadow: Shadowing | None = None,
    ) -> None:
        self._rehearsal_of = rehearsal_of
        self._previews = previews
        self._catalog = catalog
        self._clock = clock
        self._strategy = strategy
        self._shadow = shadow

    async def explain(
        self, action: Action, pin: AssumedPin | None = None, *, wants_credential: bool = True
    ) -> Explained:
        """Return what would serve an action now, in a session pinned to ``pin``, and why.

        Raises:
            RouterError: the model is not known, nothing may serve, or nobody can say what should.
        """
        with labelled(action):
            return await self._explained(action, pin, wants_credential=wants_credential)

    async def _explained(
        self, action: Action, pin: AssumedPin | None, *, wants_credential: bool
    ) -> Explained:
        rehearsal = self._rehearsal_of(pin)
        now_unix_s = self._clock.now_unix_s()
        ground = await rehearsal.decider.ground(action)
        address = address_of(action, ModelTier.UNKNOWN)
        memory = assumed_memory(address, pin, self._strategy, now_unix_s)
        try:
            decision = await rehearsal.decider.decide(ground, memory)
        except RouterError as error:
            raise _told(error) from None
        credential = await self._previews.preview(action, decision) if wants_credential else None
        return Explained(
            action=action,
            decision=decision,
            strategy=self._strategy,
            decide_unix_s=now_unix_s,
            costs=expected_costs(action, decision, self._catalog),
            working=rehearsal.recorder.working,
            pin=pin,
            credential=credential,
            shadow=await self._shadow.pick(action) if self._shadow is not None else None,
        )


def _told(error: RouterError) -> RouterError:
    """Return a refusal that says what serving would try before it."""
    if error.reason is not Reason.CONTEXT_WINDOW_EXCEEDED:
        return error
    message = f"{error.message} {_COMPACTED_FIRST}"
    return RouterError(error.reason, message, metadata=error.metadata)
