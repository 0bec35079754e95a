"""The walk over an attempt plan: rotate, retry, hop, until one attempt serves or none can.

Rotation comes first: a fault that lies in a credential tries the next untried one of the same
binding at once. Only then has the binding failed, and ``policy.step`` decides. A rescue belongs
where that decision is an end: another target in place of the last part.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from services.dispatch.model.access import CredentialDenied
from services.dispatch.model.enums import AttemptCause, WalkEnd, WalkStep
from services.dispatch.model.outcome import AttemptFault, Fault
from services.dispatch.policy.body import ClientBody
from services.dispatch.policy.permit import is_permitted
from services.dispatch.policy.step import ROTATING, Shape, Spent, Step, next_step
from services.dispatch.server.attempt import Attempt
from services.dispatch.server.chronicle import NOT_CONFIGURED, Chronicle, Trial
from services.dispatch.server.keyring import Keyring
from services.dispatch.server.reporting import AttemptReporter
from services.dispatch.server.target import build
from services.domain.errors import Reason, RouterError
from services.domain.wire.codecs import UnknownFamilyError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from services.dispatch.model.access import Access
    from services.dispatch.model.outcome import Part
    from services.dispatch.model.plan import Order, PlannedBinding
    from services.dispatch.server.target import Stage
    from services.domain.vocab import WireFamily


class Walk:
    """One walk. :meth:`parts` yields the answer; closing it early lets go of everything."""

    def __init__(
        self,
        stage: Stage,
        order: Order,
        *,
        jitter: Callable[[], float],
        time_left_s: Callable[[], float | None],
    ) -> None:
        self._stage = stage
        self._order = order
        self._jitter = jitter
        self._time_left_s = time_left_s
        self._body = ClientBody(order.family, order.body, stage.codec_of, order.address)
        self._keyring = Keyring(stage.credentials, order)
        self._chronicle = Chronicle(stage.catalog, order)
        self._number = order.plan.first_attempt_number - 1
        self._position = 0
        self._cause = AttemptCause.FIRST
        self._wait_s = 0.0
        self._began_s = self._binding_began_s = stage.clock.monotonic_s()
        self._counted = 0
        self._retries = 0
        self._waited_at: set[int] = set()
        self._throttle_waits = 0

    async def parts(self) -> AsyncGenerator[Part, None]:
        """Return the parts of the answer, in the order that the contract fixes.

        Raises:
            RouterError: a fault of our own services; no part follows.
        """
        while True:
            trial = await self._next_trial()
            yield self._chronicle.started(trial)
            fault, attempt = trial.fault, None
            if trial.access is not None and trial.family is not None:
                attempt = self._attempt(trial, trial.family, trial.access)
                async with contextlib.aclosing(attempt):
                    fault = await _fault_of_opening(attempt)
                    if fault is None:
                        yield self._chronicle.head(trial, trial.family, attempt)
                        pre_commit_s = self._elapsed_s()
                        async with contextlib.aclosing(attempt.chunks()) as chunks:
                            async for chunk in chunks:
                                yield chunk
                        yield self._chronicle.tail(trial, attempt, pre_commit_s)
                        return
            fault = fault or NOT_CONFIGURED
            self._chronicle.note(trial, fault, attempt)
            step = await self._after(trial, fault, attempt)
            yield self._chronicle.missed(fault, step)
            if step.kind is WalkStep.END:
                yield self._chronicle.unserved(step.end or WalkEnd.TERMINAL)
                return
            await self._go(step)

    # ------------------------------------------------------------------------------ one attempt

    async def _next_trial(self) -> Trial:
        planned = self._order.plan.bindings[self._position]
        self._check_permitted(planned)
        family, access, fault = self._family_of(planned), None, None
        if family is None:
            fault = NOT_CONFIGURED
        else:
            try:
                access = await self._keyring.current(planned, is_first_binding=self._position == 0)
            except CredentialDenied as denied:
                fault = _fault_of_denial(denied)
        self._number += 1
        return Trial(
            number=self._number,
            plan_index=self._order.plan.start_index + self._position,
            planned=planned,
            family=family or planned.family,
            cause=self._cause,
            wait_s=self._wait_s,
            access=access,
            fault=fault,
        )

    def _family_of(self, planned: PlannedBinding) -> WireFamily | None:
        """Return the dialect to speak; None when the provider has no client here."""
        endpoint = self._stage.endpoints.get(planned.ref.provider)
        if endpoint is None:
            return None
        family = planned.family or endpoint.family
        try:
            self._stage.codec_of(family)
        except UnknownFamilyError:
            return None
        return family

    def _check_permitted(self, planned: PlannedBinding) -> None:
        ref, record = planned.ref, self._order.eligibility
        if not is_permitted(record, ref.model_id, ref.provider):
            raise RouterError(
                Reason.ELIGIBILITY_VIOLATION,
                f"{ref.model_id} at {ref.provider} is not permitted for this action",
                metadata={"model": ref.model_id, "provider": ref.provider},
            )

    def _attempt(self, trial: Trial, family: WireFamily, access: Access) -> Attempt:
        stage, order = self._stage, self._order
        return Attempt(
            lambda: build(stage, order, self._body, trial.planned, family, access),
            grant=access.grant,
            codec=stage.codec_of(family),
            is_stream=self._body.request.is_stream,
            limits=stage.limits[family],
            upstream=stage.upstream,
            reporter=AttemptReporter(
                stage.credentials, stage.clock, access.grant, order.action.action_id, trial.number
            ),
            clock=stage.clock,
        )

    # --------------------------------------------------------------------------- after a failure

    async def _after(self, trial: Trial, fault: Fault, attempt: Attempt | None) -> Step:
        """Return the next step: another credential of the binding first, if that may help."""
        is_sent = attempt is not None and attempt.is_sent
        if is_sent and trial.cause is not AttemptCause.ROTATION:
            self._counted += 1
        is_in_time = self._elapsed_s() < self._order.plan.budget.pre_commit_s
        is_rotating = is_sent and is_in_time and fault.failure_class in ROTATING
        if is_rotating and await self._keyring.rotate(trial.planned):
            return Step(WalkStep.ROTATE)
        return self._after_binding(fault)

    def _after_binding(self, fault: Fault) -> Step:
        plan, now_s = self._order.plan, self._stage.clock.monotonic_s()
        spent = Spent(
            attempts=self._counted,
            retries=self._retries,
            binding_s=now_s - self._binding_began_s,
            walk_s=now_s - self._began_s,
            has_waited_here=self._position in self._waited_at,
            throttle_waits=self._throttle_waits,
        )
        shape = Shape(
            is_single=len(plan.bindings) == 1,
            has_next=self._position + 1 < len(plan.bindings),
            is_throttle_wait_enabled=plan.is_throttle_wait_enabled,
            time_left_s=self._time_left_s(),
        )
        return next_step(
            fault.failure_class, fault.retry_after_s, spent, shape, plan.budget, self._jitter()
        )

    async def _go(self, step: Step) -> None:
        """Move to where the step leads, after its wait."""
        self._wait_s = step.wait_s
        match step.kind:
            case WalkStep.ROTATE:
                self._cause = AttemptCause.ROTATION
            case WalkStep.RETRY:
                self._cause = AttemptCause.RETRY
                if step.is_throttle_wait:
                    self._waited_at.add(self._position)
                    self._throttle_waits += 1
                else:
                    self._retries += 1
            case _:
                self._cause = AttemptCause.HOP
                self._position += 1
                self._retries = 0
                self._binding_began_s = self._stage.clock.monotonic_s()
                self._keyring.leave_binding()
        if step.wait_s > 0:
            await self._stage.clock.sleep(step.wait_s)

    def _elapsed_s(self) -> float:
        return self._stage.clock.monotonic_s() - self._began_s


async def _fault_of_opening(attempt: Attempt) -> Fault | None:
    """Return why the attempt may not be shown; None when it serves."""
    try:
        await attempt.open()
    except AttemptFault as missed:
        return missed.fault
    return None


def _fault_of_denial(denied: CredentialDenied) -> Fault:
    return Fault(denied.failure_class, retry_after_s=denied.retry_after_s, message=str(denied))
