"""Decides the same actions by another strategy, and only tells what it would have picked.

The acting decision goes out first and nothing waits here: decisions queue up to a bound, beyond
which they are counted as dropped. A shadow has no sessions of its own, so each action is decided as
if it were a session's first.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gateway import metrics
from gateway.explaining.assumed import assumed_memory
from gateway.explaining.costs import expected_cost
from gateway.labels import labelled
from gateway.model.explained import ShadowPick
from gateway.session_key import log_label
from gateway.thread import address_of
from services.domain.errors import Reason, RouterError
from services.domain.vocab import ModelTier
from services.runtime import log
from services.runtime.background import ended, in_background

if TYPE_CHECKING:
    from gateway.explaining.ports import RehearsalOf, ShadowWatchers
    from gateway.model import Action, AttemptFailed, AttemptStarted, Decision
    from gateway.model.attempt import BindingRef
    from gateway.model.explained import Completed
    from services.domain.catalog import Catalog
    from services.runtime.clock import Clock

MOST_WAITING = 64
"""Actions that wait to be decided once more."""
LIMIT_S = 5.0

_log = log.get_logger("gateway")


class Shadow:
    """Hears of decisions beside other watchers, and decides them once more in a task of its own."""

    def __init__(
        self,
        watchers: ShadowWatchers,
        rehearsal_of: RehearsalOf,
        catalog: Catalog,
        clock: Clock,
        strategy: str,
    ) -> None:
        self._watchers = watchers
        self._rehearsal_of = rehearsal_of
        self._catalog = catalog
        self._clock = clock
        self._strategy = strategy
        self._waiting: asyncio.Queue[tuple[Action, Decision]] = asyncio.Queue(MOST_WAITING)
        self._task: asyncio.Task[None] | None = None

    def use(self, rehearsal_of: RehearsalOf, catalog: Catalog) -> None:
        """Decide by another catalog from now on."""
        self._rehearsal_of = rehearsal_of
        self._catalog = catalog

    def start(self) -> None:
        """Begin to decide what was heard of."""
        self._task = in_background(self._run(), "shadow")

    async def aclose(self) -> None:
        """End; what waits stays undecided."""
        await ended(self._task)

    def decided(self, action: Action, decision: Decision) -> None:
        """Pass a decision on, and keep it to be made once more."""
        self._watchers.decided(action, decision)
        try:
            self._waiting.put_nowait((action, decision))
        except asyncio.QueueFull:
            metrics.SHADOW.labels("dropped").inc()

    def began(self, action: Action, started: AttemptStarted) -> None:
        """Pass on that an attempt begins."""
        self._watchers.began(action, started)

    def missed(self, action: Action, failed: AttemptFailed) -> None:
        """Pass on that an attempt failed."""
        self._watchers.missed(action, failed)

    def completed(self, action: Action, completed: Completed) -> None:
        """Pass on the end of an action."""
        self._watchers.completed(action, completed)

    async def pick(self, action: Action) -> ShadowPick | None:
        """Return what the other strategy picks; None: nothing could serve, or it failed."""
        decision = await self._rehearsed(action)
        return None if decision is None else self._pick_of(action, decision)

    def _pick_of(self, action: Action, decision: Decision) -> ShadowPick:
        binding = decision.plan.bindings[0]
        cost_micros = expected_cost(binding.model_id, action, decision, self._catalog)
        return ShadowPick(self._strategy, binding, decision.reason, cost_micros)

    async def _rehearsed(self, action: Action) -> Decision | None:
        try:
            async with asyncio.timeout(LIMIT_S):
                with labelled(action):
                    return await self._decided(action)
        except TimeoutError:
            self._tell_failure(action, Reason.ROUTING_UNAVAILABLE)
        except RouterError as error:
            self._tell_failure(action, error.reason)
        return None

    async def _decided(self, action: Action) -> Decision:
        decider = self._rehearsal_of(None).decider
        ground = await decider.ground(action)
        address = address_of(action, ModelTier.UNKNOWN)
        memory = assumed_memory(address, None, self._strategy, self._clock.now_unix_s())
        return await decider.decide(ground, memory)

    async def _run(self) -> None:
        while True:
            action, acting = await self._waiting.get()
            other = await self._rehearsed(action)
            if other is None:
                metrics.SHADOW.labels("failed").inc()
                continue
            pick = self._pick_of(action, other)
            self._watchers.shadowed(action, pick)
            own = acting.plan.bindings[0]
            # Its own measure would expect another length of the answer.
            cost_micros = expected_cost(own.model_id, action, other, self._catalog)
            self._record(action, own, cost_micros, pick)

    def _tell_failure(self, action: Action, reason: Reason) -> None:
        _log.info("shadow_failed", action_id=action.id, strategy=self._strategy, reason=reason)

    def _record(
        self, action: Action, own: BindingRef, own_cost_micros: int | None, pick: ShadowPick
    ) -> None:
        other = pick.binding
        is_same = own.model_id == other.model_id
        metrics.SHADOW.labels("same" if is_same else "other").inc()
        _log.info(
            "shadow_decision",
            action_id=action.id,
            installation_id=action.caller.installation_id,
            session_hash=log_label(action.caller.thread_key),
            strategy=self._strategy,
            model=other.model_id,
            provider=other.provider,
            reason=pick.reason,
            expected_cost_micros=pick.expected_cost_micros,
            acting_model=own.model_id,
            acting_provider=own.provider,
            acting_cost_micros=own_cost_micros,
            is_same_model=is_same,
        )
