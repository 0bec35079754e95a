"""The walk over an attempt plan: rotate, retry, hop, rescue, until one attempt serves or none can.

Rotation comes first: a fault that lies in a credential tries the next untried one of the same
binding at once. Only then has the binding failed, and ``policy.step`` decides. Where that is an end
of the plan's own bindings, ``policy.rescue`` says which other target the fault opens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.dispatch.model.access import CredentialDenied
from services.dispatch.model.enums import AttemptCause, EndKind, WalkEnd, WalkStep
from services.dispatch.model.outcome import AttemptFault, Fault
from services.dispatch.policy.body import ClientBody
from services.dispatch.policy.rescue import Cause
from services.dispatch.policy.step import ROTATING, Shape, Step, next_step
from services.dispatch.server.attempt import Attempt
from services.dispatch.server.chronicle import NOT_CONFIGURED, POLICY_REFUSALS, Chronicle, Trial
from services.dispatch.server.draft import Draft
from services.dispatch.server.itinerary import Itinerary
from services.dispatch.server.keyring import Keyring
from services.dispatch.server.reporting import AttemptReporter
from services.dispatch.server.tally import Tally
from services.dispatch.server.target import check_permitted, family_at, fault_of_plan
from services.domain.errors import RouterError
from services.domain.vocab import CredentialKind, FailureClass, WireFamily

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from services.dispatch.model.access import Access, Grant
    from services.dispatch.model.outcome import Part
    from services.dispatch.model.plan import Order, PlannedBinding
    from services.dispatch.server.target import Stage

_GATED = frozenset({WireFamily.OPENAI_CHAT, WireFamily.OPENAI_RESPONSES})
"""Dialects whose vendor may refuse for reasons of cyber security."""
_STAYING = frozenset({AttemptCause.RETRY, AttemptCause.ROTATION})


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
        self._body = ClientBody(
            order.family,
            order.body,
            stage.codec_of,
            order.address,
            restored=order.plan.restored,
        )
        self._keyring = Keyring(stage.credentials, order)
        self._chronicle = Chronicle(stage.catalog, order)
        is_exclusive = order.eligibility.is_gateway_exclusive
        self._itinerary = Itinerary(order.plan, stage.circuits, is_gateway_exclusive=is_exclusive)
        self._tally = Tally(stage.clock)
        self._number = order.plan.first_attempt_number - 1
        self._cause = AttemptCause.FIRST
        self._wait_s = 0.0
        self._is_given_back = False
        self._failed: Cause | None = None
        """What the plan's own bindings ended with."""

    async def parts(self) -> AsyncGenerator[Part, None]:
        """Return the parts of the answer, in the order that the contract fixes.

        Raises:
            RouterError: a fault of our own services; no part follows.
        """
        try:
            while True:
                trial = await self._next_trial()
                yield self._chronicle.started(trial)
                fault, attempt = trial.fault, None
                if trial.access is not None and trial.draft is not None and fault is None:
                    attempt = self._attempt(trial, trial.draft, trial.access)
                    try:
                        fault = await self._fault_of_opening(trial, attempt)
                        if fault is None:
                            self._stage.circuits.answered(trial.planned.ref)
                            yield self._chronicle.head(trial, attempt)
                            pre_commit_s = self._tally.elapsed_s()
                            while pieces := await attempt.read():
                                for piece in pieces:
                                    yield piece
                            yield self._chronicle.tail(trial, attempt, pre_commit_s)
                            return
                    finally:
                        await attempt.aclose()
                fault = fault or NOT_CONFIGURED
                self._chronicle.note(trial, fault, attempt)
                step = await self._after(trial, fault, attempt)
                yield self._chronicle.missed(trial, fault, step, attempt)
                if step.kind is WalkStep.END:
                    yield self._chronicle.unserved(step.end or WalkEnd.TERMINAL)
                    return
                await self._go(step)
        finally:
            self._give_back()

    async def _next_trial(self) -> Trial:
        stop = self._itinerary.here
        planned = stop.planned
        self._number += 1
        check_permitted(self._order, planned)
        family, access, fault = family_at(self._stage, planned), None, self._outage_here()
        draft = None
        if family is None:
            fault = NOT_CONFIGURED
        elif fault is None:
            is_granted = stop.plan_index == self._order.plan.start_index and not self._is_given_back
            try:
                access = await self._keyring.current(planned, is_first_binding=is_granted)
                fault = fault_of_plan(self._stage, planned, access)
                draft = self._draft(planned, family, access) if fault is None else None
                family = draft.family if draft is not None else family
            except CredentialDenied as denied:
                fault = _fault_of_denial(denied)
        return Trial(
            number=self._number,
            plan_index=stop.plan_index,
            planned=planned,
            family=family or planned.family,
            cause=self._cause,
            wait_s=self._wait_s,
            access=access,
            fault=fault,
            rescue=stop.rescue,
            draft=draft,
        )

    def _draft(self, planned: PlannedBinding, family: WireFamily, access: Access) -> Draft:
        stage, order, left_s = self._stage, self._order, self._time_left_s
        return Draft(stage, order, self._body, planned, family, access, time_left_s=left_s)

    def _outage_here(self) -> Fault | None:
        """Return why the binding is not asked now though it is its turn; None: it is asked.

        Credentials hear that the plan's grant is not used, so that it holds no place.
        """
        itinerary, plan = self._itinerary, self._order.plan
        if self._cause in _STAYING:
            return None
        place = itinerary.here.plan_index
        outage = itinerary.pass_over(self._failed)
        if outage is None:
            return None
        if place == plan.start_index and plan.grant is not None:
            self._is_given_back = True
            self._give_back()
        return Fault(outage, message="the provider is down: not asked")

    def _give_back(self) -> None:
        """Let go of a grant that no attempt was made with, so that it holds no place."""
        grant = self._keyring.unused
        if grant is not None:
            self._keyring.take(grant)
            self._reporter(grant).ended(EndKind.NOT_SENT)

    def _reporter(self, grant: Grant) -> AttemptReporter:
        stage, action_id = self._stage, self._order.action.action_id
        return AttemptReporter(stage.credentials, stage.clock, grant, action_id, self._number)

    def _attempt(self, trial: Trial, draft: Draft, access: Access) -> Attempt:
        self._keyring.take(access.grant)
        is_armed = self._order.plan.rescue_flags.is_cyber_retry_enabled
        is_cyber_rescue = trial.rescue is AttemptCause.CYBER_REFUSAL
        return Attempt(
            draft,
            self._stage,
            access.grant,
            self._reporter(access.grant),
            is_gated=is_armed and draft.family in _GATED and not is_cyber_rescue,
        )

    async def _fault_of_opening(self, trial: Trial, attempt: Attempt) -> Fault | None:
        """Return why the attempt may not be shown; None when it serves."""
        try:
            await attempt.open()
        except AttemptFault as missed:
            return missed.fault
        except RouterError as error:
            if trial.rescue is None:
                raise
            return Fault(FailureClass.UNBUILDABLE, message=error.message)
        return None

    async def _after(self, trial: Trial, fault: Fault, attempt: Attempt | None) -> Step:
        """Return the next step: another credential of the binding first, if that may help."""
        is_sent = attempt is not None and attempt.is_sent
        if is_sent:
            self._note_outage(trial, fault)
        if is_sent and trial.cause is not AttemptCause.ROTATION:
            self._tally.attempts += 1
        is_in_time = self._tally.elapsed_s() < self._order.plan.budget.pre_commit_s
        is_of_credential = is_sent and fault.failure_class in ROTATING
        is_rotating = is_in_time and (is_of_credential or trial.is_beyond_plan)
        if is_rotating and fault.http_status == 401 and await self._keyring.renew(trial.planned):
            return Step(WalkStep.ROTATE)
        if not is_sent:
            self._give_back()
        if is_rotating and await self._keyring.rotate(trial.planned):
            return Step(WalkStep.ROTATE)
        step = self._after_binding(fault, is_asked=is_sent)
        if trial.rescue is None and not self._itinerary.is_last_leg:
            self._failed = self._cause_of(trial, fault)
        return self._or_elsewhere(trial, fault, step) if step.kind is WalkStep.END else step

    def _note_outage(self, trial: Trial, fault: Fault) -> None:
        """Take note of what all who ask the binding would meet, not just those with its address."""
        circuits, access = self._stage.circuits, trial.access
        if access is not None and (access.is_tenant_given or access.proxy_url):
            return
        if fault.http_status is not None and fault.http_status < 500:
            circuits.answered(trial.planned.ref)
        else:
            circuits.failed(trial.planned.ref, fault.failure_class)

    def _cause_of(self, trial: Trial, fault: Fault) -> Cause:
        """Return what the plan's own bindings have come to; the largest window tried counts."""
        known = self._failed.window_tokens if self._failed is not None else 0
        return Cause(
            fault.failure_class,
            trial.credential.kind if trial.credential else CredentialKind.NONE,
            fault.vendor_type,
            max(known, self._chronicle.window_of(trial)),
        )

    def _after_binding(self, fault: Fault, *, is_asked: bool) -> Step:
        plan, itinerary = self._order.plan, self._itinerary
        spent = self._tally.spent(itinerary.here)
        cause = self._failed or Cause(fault.failure_class)
        shape = Shape(
            is_single=itinerary.is_single and is_asked and not itinerary.is_spared(cause),
            has_next=itinerary.has_next,
            is_throttle_wait_enabled=plan.is_throttle_wait_enabled,
            time_left_s=self._time_left_s(),
        )
        return next_step(
            fault.failure_class, fault.retry_after_s, spent, shape, plan.budget, self._jitter()
        )

    def _or_elsewhere(self, trial: Trial, fault: Fault, end: Step) -> Step:
        """Return the rescue, or the postponed binding, that goes on from an end; else the end."""
        budget, itinerary = self._order.plan.budget, self._itinerary
        is_final = trial.rescue is not None and fault.failure_class in POLICY_REFUSALS
        is_in_time = self._tally.elapsed_s() < budget.pre_commit_s
        if is_final or not is_in_time or self._tally.attempts >= budget.max_attempts:
            return end
        place = itinerary.rescue_after(self._failed) if self._failed is not None else None
        if place is not None:
            rescue = itinerary.rescue_at(place)
            return Step(WalkStep.RESCUE, rescue=rescue, rescue_place=place)
        return Step(WalkStep.HOP, is_late=True) if itinerary.has_postponed else end

    async def _go(self, step: Step) -> None:
        """Move to where the step leads, after its wait."""
        self._wait_s = step.wait_s
        match step.kind:
            case WalkStep.ROTATE:
                self._cause = AttemptCause.ROTATION
            case WalkStep.RETRY:
                self._cause = AttemptCause.RETRY
                self._tally.retry(self._itinerary.here, step)
            case _:
                self._leave(step)
        if step.wait_s > 0:
            await self._stage.clock.sleep(step.wait_s)

    def _leave(self, step: Step) -> None:
        """Go to another binding."""
        self._give_back()
        if step.rescue_place is not None:
            self._itinerary.enter_rescue(step.rescue_place)
        elif step.is_late:
            self._itinerary.enter_postponed()
        else:
            self._itinerary.advance()
        self._cause = self._itinerary.here.rescue or AttemptCause.HOP
        self._tally.enter_binding()
        self._keyring.leave_binding()


def _fault_of_denial(denied: CredentialDenied) -> Fault:
    return Fault(denied.failure_class, retry_after_s=denied.retry_after_s, message=str(denied))
