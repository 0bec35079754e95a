"""The loop of one action, written against ports.

Read :meth:`Actions.serve` from top to bottom: who may serve, what is remembered, which model, a
summary on a switch, which credential, one dispatch, the answer. All that is decided is decided by
pure rooms.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway import metrics
from gateway.answering.acknowledging import acknowledge, refuse
from gateway.answering.relay import Relay
from gateway.course import Course
from gateway.deciding.issuers import issuer_gone
from gateway.errors import error_of
from gateway.labels import labelled
from gateway.ledger.metered import Metered
from gateway.model import ClientGoneError
from gateway.rescues import is_of_outage
from gateway.restoring import restored
from gateway.sessions.history import Shortening
from gateway.sessions.sizes import sized
from services.domain.copying import replace
from services.domain.errors import Reason, RouterError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from gateway.commands.obeying import Commands
    from gateway.compactions import Compactions
    from gateway.decider import Countable, Decider
    from gateway.deciding.pinned import Memory
    from gateway.explaining.ports import Watchers
    from gateway.ground import Ground
    from gateway.issuing import Issuers
    from gateway.ledger.ports import Ledger
    from gateway.model import Action, Decision, Grant
    from gateway.ports import Answer, Credentials, Dispatch, Reply
    from gateway.step_labels import StepLabels
    from gateway.summaries import Summaries
    from gateway.thread import Thread
    from services.runtime.clock import Clock


_RESTING = frozenset(
    {
        Reason.ALL_CREDENTIALS_COOLING,
        Reason.CREDENTIAL_CONCURRENCY,
        Reason.CREDENTIALS_UNAVAILABLE,
        Reason.CREDENTIAL_NEEDS_LOGIN,
    }
)
"""Denials after which another model may serve: dispatch finds out, and tells the attempt."""

_GONE = frozenset({Reason.NO_ELIGIBLE_PROVIDER, Reason.CREDENTIALS_UNAVAILABLE})
"""Denials that say of one certain credential that it is not there any more."""


@dataclass(frozen=True, slots=True)
class Stages:
    """What an action passes, in the order of the loop."""

    thread_of: Callable[[Action], Thread]
    decider: Decider
    summaries: Summaries
    compactions: Compactions
    credentials: Credentials
    ledger: Ledger
    dispatch: Dispatch
    watchers: Watchers
    commands: Commands
    issuers: Issuers
    tagged_models: frozenset[str] = frozenset()
    """Models whose reasoning leads their visible text under a tag."""


@dataclass(frozen=True, slots=True)
class _Ready:
    """An action as it goes out: decided, and perhaps with another body."""

    action: Action
    decision: Decision


class Actions:
    """Serves actions; holds no state of any of them."""

    def __init__(
        self,
        stages: Stages,
        clock: Clock,
        *,
        providers: Collection[str],
        budget_s: float,
        slot_wait_s: float,
        running: set[Answer],
        labels: StepLabels,
    ) -> None:
        self._stages = stages
        self._clock = clock
        self._providers = frozenset(providers)
        self._budget_s = budget_s
        self._slot_wait_s = slot_wait_s
        self._running = running
        self._labels = labels

    async def serve(self, action: Action, reply: Reply) -> None:
        """Serve one action to its end: an answer, an error in the client's dialect, or nobody."""
        thread = self._stages.thread_of(action)
        with labelled(action):
            await self._served(action, thread, reply)
        if action.request.is_stream:
            # A whole answer goes out when this returns: it does not wait for the store.
            await thread.settle()

    async def _served(self, action: Action, thread: Thread, reply: Reply) -> None:
        step = self._labels.of(action)
        course = Course(action, step, self._clock, self._providers, self._stages.watchers)
        metrics.INFLIGHT_ACTIONS.inc()
        try:
            told = await self._stages.commands.obeyed(action)
            if told is None:
                ready = await self._decided(action, thread, course)
                await self._dispatched(ready, thread, reply, course)
            else:
                await acknowledge(action, reply, told, self._clock.now_unix_s())
                course.answered()
        except RouterError as error:
            course.failed(error.reason.value)
            await refuse(action, reply, error_of(error, action.id))
        except (ClientGoneError, asyncio.CancelledError):
            course.client_left()
            raise
        finally:
            thread.ended()
            metrics.INFLIGHT_ACTIONS.dec()
            course.close(reply.status)

    async def countable(self, action: Action) -> Countable:
        """Return where the tokens of an action can be counted.

        Raises:
            RouterError: nobody serves the model that it names.
        """
        return await self._stages.decider.countable(action)

    @property
    def running_count(self) -> int:
        """Number of actions whose answer is on its way."""
        return len(self._running)

    def end_running(self) -> None:
        """Cut every running answer; each client gets its dialect's error frame."""
        for answer in tuple(self._running):
            answer.cancel()

    async def _decided(self, action: Action, thread: Thread, course: Course) -> _Ready:
        """Return what goes out; the session knows of it before it does.

        State that the client lost and a summary that was kept stand in the history before anything
        is decided; a new summary is written after, and only on a switch.
        """
        decider, summaries = self._stages.decider, self._stages.summaries
        commands = self._stages.commands
        action = await commands.with_forced(action)
        issuer = await self._stages.issuers.issuer(action)
        action = action if issuer is None else replace(action, issuer=issuer)
        is_led = decider.is_session_led(action)
        memory = await thread.recall(is_led=is_led)
        if is_led and await commands.continued(action):
            memory = replace(memory, is_continued=True)
        known = sized(restored(action, memory.session.states), memory.session)
        ground = await decider.ground(known)
        ground, memory, shortening = await self._shortened(ground, memory, course, is_led=is_led)
        decision = await decider.decide(ground, memory)
        course.decided(decision)
        written = await summaries.written(ground.action, decision, self._left_s(course))
        course.belief = decider.believed(ground, written.action, decision, memory)
        if written.stored is not None:
            shortening = replace(shortening, summary=written.stored)
        thread.decided(decision, shortening, written.action)
        return _Ready(written.action, decision)

    async def _shortened(
        self, ground: Ground, memory: Memory, course: Course, *, is_led: bool
    ) -> tuple[Ground, Memory, Shortening]:
        """Return the action with a history that fits, by the session's summary or a compaction.

        The one is of no use where it does not do: then the client's own history is compacted.

        Raises:
            RouterError: the conversation fits no window.
        """
        shortening, shorter = Shortening(), ground
        if is_led:
            reused = await self._stages.summaries.reused(ground, memory, self._left_s(course))
            shorter = self._on(ground, reused.action)
            shortening = Shortening(summary=reused.stored)
        if not self._stages.compactions.is_outgrown(shorter):
            return shorter, memory, shortening
        compacted = await self._stages.compactions.compacted(ground, memory, self._left_s(course))
        if compacted is None:
            return shorter, memory, shortening
        has_summary = bool(memory.session.summary)
        shortening = Shortening(b"" if has_summary else None, compacted.checkpoint)
        if shortening.is_something:
            session = memory.session
            session = replace(session, history_epoch=session.history_epoch + 1)
            memory = replace(memory, session=session)
        return self._on(ground, compacted.action), memory, shortening

    async def _dispatched(
        self, ready: _Ready, thread: Thread, reply: Reply, course: Course
    ) -> None:
        """Select a credential, order dispatch once, and relay the answer."""
        action, decision, plan = ready.action, ready.decision, ready.decision.plan
        slot_wait_s = min(self._slot_wait_s, self._left_s(course))
        grant = await self._granted(action, decision, slot_wait_s)
        course.fingerprint = grant.fingerprint if grant is not None else ""
        account = self._stages.ledger.open(action, plan.bindings[0], grant)
        try:
            walk = self._stages.dispatch.dispatch(
                action, decision.record, plan, grant, self._left_s(course)
            )
            answer = Metered(walk, account)
            await self._relayed(
                Relay(
                    action,
                    decision.reason,
                    answer,
                    reply,
                    course,
                    self._clock,
                    thread,
                    tagged_models=self._stages.tagged_models,
                    issuance=self._stages.issuers.issuance(action, grant),
                )
            )
        finally:
            account.close()
            course.bill = account.bill

    async def _granted(
        self, action: Action, decision: Decision, slot_wait_s: float
    ) -> Grant | None:
        """Return a grant for the plan; None where its credentials rest and other models may serve.

        Raises:
            RouterError: nothing can be had.
        """
        try:
            return await self._selected(action, decision, 0.0)
        except RouterError as denial:
            if denial.reason in _RESTING and any(map(is_of_outage, decision.plan.rescues)):
                return None
            if denial.reason is not Reason.CREDENTIAL_CONCURRENCY or slot_wait_s <= 0:
                raise
        return await self._selected(action, decision, slot_wait_s)

    async def _selected(
        self, action: Action, decision: Decision, max_wait_s: float
    ) -> Grant | None:
        plan = decision.plan
        presented = [known for _, known in plan.presented]
        try:
            return await self._stages.credentials.select(
                action, plan.bindings, decision.record, presented, max_wait_s
            )
        except RouterError as denial:
            if action.issuer is not None and denial.reason in _GONE:
                raise issuer_gone(action.issuer.provider) from denial
            raise

    async def _relayed(self, relay: Relay) -> None:
        self._running.add(relay.answer)
        try:
            await relay.run()
        finally:
            self._running.discard(relay.answer)

    def _on(self, ground: Ground, action: Action) -> Ground:
        if action is ground.action:
            return ground
        return self._stages.decider.regrounded(ground, action)

    def _left_s(self, course: Course) -> float:
        return self._budget_s - course.elapsed_s()
