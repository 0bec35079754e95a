"""The walk over an attempt plan: rotate, retry, hop, until one attempt serves or none can.

Rotation comes first: a fault that lies in a credential tries the next untried one of the same
binding at once. Only then has the binding failed, and ``policy.step`` decides. A rescue belongs
where that decision is an end: another target in place of the last part.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.dispatch.model.access import CredentialDenied
from services.dispatch.model.enums import AttemptCause, AttemptOutcome, WalkEnd, WalkStep
from services.dispatch.model.outcome import (
    AttemptFault,
    AttemptRecord,
    Fault,
    Head,
    Missed,
    Started,
    Tail,
    Timing,
    Unserved,
)
from services.dispatch.policy import headers as header_rules
from services.dispatch.policy.body import ClientBody
from services.dispatch.policy.permit import is_permitted
from services.dispatch.policy.step import ROTATING, Shape, Spent, Step, next_step
from services.dispatch.server.attempt import Attempt
from services.dispatch.server.keyring import Keyring
from services.dispatch.server.reporting import AttemptReporter
from services.dispatch.server.target import build, window_of
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialKind, CredentialOwner, FailureClass

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from services.dispatch.model.access import Access
    from services.dispatch.model.outcome import Part
    from services.dispatch.model.plan import Order, PlannedBinding
    from services.dispatch.server.target import Stage
    from services.domain.vocab import WireFamily


@dataclass(frozen=True, slots=True)
class _Trial:
    """One attempt to be: where, in which dialect, and with what, or why not."""

    planned: PlannedBinding
    family: WireFamily | None
    access: Access | None
    fault: Fault | None


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
        self._body = ClientBody(order.family, order.body, stage.codec_of)
        self._keyring = Keyring(stage.credentials, order)
        self._number = order.plan.first_attempt_number - 1
        self._position = 0
        self._cause = AttemptCause.FIRST
        self._wait_s = 0.0
        self._began_s = self._binding_began_s = stage.clock.monotonic_s()
        self._counted = 0
        self._retries = 0
        self._waited_at: set[int] = set()
        self._throttle_waits = 0
        self._records: list[AttemptRecord] = []
        self._rendered: tuple[Fault, AttemptRecord] | None = None
        self._shortest_wait_s: float | None = None

    async def parts(self) -> AsyncGenerator[Part, None]:
        """Return the parts of the answer, in the order that the contract fixes.

        Raises:
            RouterError: a fault of our own services; no part follows.
        """
        while True:
            trial = await self._trial()
            self._number += 1
            yield self._started(trial)
            fault, attempt = trial.fault, None
            if trial.access is not None and trial.family is not None:
                attempt = self._attempt(trial.planned, trial.family, trial.access)
                async with contextlib.aclosing(attempt):
                    fault = await _fault_of_opening(attempt)
                    if fault is None:
                        yield self._head(trial, trial.family, attempt)
                        pre_commit_s = self._elapsed_s()
                        async with contextlib.aclosing(attempt.chunks()) as chunks:
                            async for chunk in chunks:
                                yield chunk
                        yield self._tail(trial, attempt, pre_commit_s)
                        return
            fault = fault or _NOT_CONFIGURED
            step = await self._after(trial, fault, attempt)
            record = self._records[-1]
            yield Missed(record, step.kind, step.wait_s, fault.retry_after_s, fault.vendor_type)
            if step.kind is WalkStep.END:
                yield self._unserved(step.end or WalkEnd.TERMINAL)
                return
            await self._go(step)

    # ------------------------------------------------------------------------------ one attempt

    async def _trial(self) -> _Trial:
        planned = self._order.plan.bindings[self._position]
        self._check_permitted(planned)
        endpoint = self._stage.endpoints.get(planned.ref.provider)
        if endpoint is None:
            return _Trial(planned, planned.family, None, _NOT_CONFIGURED)
        family = planned.family or endpoint.family
        try:
            access = await self._keyring.current(planned, is_first_binding=self._position == 0)
        except CredentialDenied as denied:
            return _Trial(planned, family, None, _fault_of_denial(denied))
        return _Trial(planned, family, access, None)

    def _check_permitted(self, planned: PlannedBinding) -> None:
        ref, record = planned.ref, self._order.eligibility
        if not is_permitted(record, ref.model_id, ref.provider):
            raise RouterError(
                Reason.ELIGIBILITY_VIOLATION,
                f"{ref.model_id} at {ref.provider} is not permitted for this action",
                metadata={"model": ref.model_id, "provider": ref.provider},
            )

    def _attempt(self, planned: PlannedBinding, family: WireFamily, access: Access) -> Attempt:
        stage, order = self._stage, self._order
        return Attempt(
            lambda: build(stage, order, self._body, planned, family, access),
            grant=access.grant,
            codec=stage.codec_of(family),
            is_stream=self._body.request.is_stream,
            limits=stage.limits[family],
            upstream=stage.upstream,
            reporter=AttemptReporter(
                stage.credentials, stage.clock, access.grant, order.action.action_id, self._number
            ),
            clock=stage.clock,
        )

    # --------------------------------------------------------------------------- after a failure

    async def _after(self, trial: _Trial, fault: Fault, attempt: Attempt | None) -> Step:
        """Return the next step and keep the record of the attempt that failed."""
        is_sent = attempt is not None and attempt.is_sent
        if is_sent and self._cause is not AttemptCause.ROTATION:
            self._counted += 1
        record = self._missed_record(trial, fault, attempt)
        self._records.append(record)
        if is_sent or self._rendered is None or not self._rendered[1].send_count:
            self._rendered = (fault, record)
        if fault.retry_after_s is not None:
            waits = (fault.retry_after_s, self._shortest_wait_s or fault.retry_after_s)
            self._shortest_wait_s = min(waits)
        is_rotating = fault.failure_class in ROTATING and is_sent and self._has_time()
        if is_rotating and await self._keyring.rotate(trial.planned):
            return Step(WalkStep.ROTATE)
        return self._binding_failed(fault)

    def _binding_failed(self, fault: Fault) -> Step:
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
        if step.kind is WalkStep.ROTATE:
            self._cause = AttemptCause.ROTATION
        elif step.kind is WalkStep.RETRY:
            self._cause = AttemptCause.RETRY
            if step.is_throttle_wait:
                self._waited_at.add(self._position)
                self._throttle_waits += 1
            else:
                self._retries += 1
        else:
            self._cause = AttemptCause.HOP
            self._position += 1
            self._retries = 0
            self._binding_began_s = self._stage.clock.monotonic_s()
            self._keyring.leave_binding()
        if step.wait_s > 0:
            await self._stage.clock.sleep(step.wait_s)

    def _has_time(self) -> bool:
        return self._elapsed_s() < self._order.plan.budget.pre_commit_s

    def _elapsed_s(self) -> float:
        return self._stage.clock.monotonic_s() - self._began_s

    # ------------------------------------------------------------------------------------- parts

    def _started(self, trial: _Trial) -> Started:
        return Started(
            number=self._number,
            plan_index=self._plan_index,
            binding=trial.planned.ref,
            family=trial.family,
            cause=self._cause,
            context_window_tokens=window_of(self._stage.catalog, trial.planned),
            credential=trial.access.grant.attribution if trial.access else None,
            wait_s=self._wait_s,
        )

    def _head(self, trial: _Trial, family: WireFamily, attempt: Attempt) -> Head:
        credential = trial.access.grant.attribution if trial.access else None
        return Head(
            number=self._number,
            binding=trial.planned.ref,
            family=family,
            http_status=attempt.http_status or 200,
            headers=header_rules.for_client(
                attempt.headers, is_caller_credential=_is_callers(trial.access)
            ),
            body_bytes=attempt.body_bytes,
            context_window_tokens=window_of(self._stage.catalog, trial.planned),
            plan_index=self._plan_index,
            planned_provider=self._order.plan.planned_provider,
            cause=self._cause,
            credential=credential,
            is_model_aliased=credential is not None and credential.kind is CredentialKind.GATEWAY,
            transforms=attempt.transforms,
        )

    def _tail(self, trial: _Trial, attempt: Attempt, pre_commit_s: float) -> Tail:
        outcome = AttemptOutcome.SERVED if attempt.broken is None else AttemptOutcome.BROKEN
        return Tail(
            record=self._record(trial, attempt, outcome, attempt.failure_class),
            stop=attempt.stop if attempt.broken is None else None,
            broken=attempt.broken,
            refusal_seen=attempt.refusal_seen,
            attempt_count=len(self._records) + 1,
            tool_calls=attempt.tool_calls,
            sent_bytes=attempt.sent_bytes,
            max_gap_s=attempt.max_gap_s,
            pre_commit_s=pre_commit_s,
        )

    def _unserved(self, end: WalkEnd) -> Unserved:
        fault, record = self._rendered or (_NOT_CONFIGURED, self._records[-1])
        is_callers = (
            record.credential is not None and record.credential.owner is CredentialOwner.CALLER
        )
        is_unservable = self._order.plan.is_user_forced and fault is _NOT_CONFIGURED
        return Unserved(
            fault=_FORCED_UNSERVABLE if is_unservable else fault,
            headers=header_rules.for_client(fault.headers, is_caller_credential=is_callers),
            retry_after_s=self._shortest_wait_s,
            records=tuple(self._records),
            rendered_number=record.number,
            family=record.family if fault.body else None,
            is_caller_credential=is_callers,
            end=end,
        )

    def _missed_record(self, trial: _Trial, fault: Fault, attempt: Attempt | None) -> AttemptRecord:
        is_sent = attempt is not None and attempt.is_sent
        outcome = AttemptOutcome.FAILED if is_sent else AttemptOutcome.SKIPPED
        return self._record(trial, attempt, outcome, fault.failure_class, fault.http_status)

    def _record(
        self,
        trial: _Trial,
        attempt: Attempt | None,
        outcome: AttemptOutcome,
        failure_class: FailureClass | None,
        http_status: int | None = None,
    ) -> AttemptRecord:
        order = self._order
        has_answered = outcome in (AttemptOutcome.SERVED, AttemptOutcome.BROKEN)
        estimate = order.estimated_input_tokens if has_answered else None
        return AttemptRecord(
            number=self._number,
            kind=order.kind,
            binding=trial.planned.ref,
            plan_index=self._plan_index,
            cause=self._cause,
            family=trial.family,
            outcome=outcome,
            credential=trial.access.grant.attribution if trial.access else None,
            http_status=http_status or (attempt.http_status if attempt else None),
            measured=attempt.measured(estimate) if attempt else None,
            timing=attempt.timing() if attempt else Timing(),
            send_count=int(attempt is not None and attempt.is_sent),
            upstream_request_id=header_rules.request_id_of(attempt.headers) if attempt else "",
            failure_class=failure_class,
        )

    @property
    def _plan_index(self) -> int:
        return self._order.plan.start_index + self._position


_NOT_CONFIGURED = Fault(
    FailureClass.PROVIDER_NOT_CONFIGURED, message="the planned provider is not configured"
)
_FORCED_UNSERVABLE = Fault(
    FailureClass.FORCED_MODEL_UNSERVABLE, message="no binding of the forced model can be used"
)


async def _fault_of_opening(attempt: Attempt) -> Fault | None:
    """Return why the attempt may not be shown; None when it serves."""
    try:
        await attempt.open()
    except AttemptFault as missed:
        return missed.fault
    return None


def _fault_of_denial(denied: CredentialDenied) -> Fault:
    return Fault(denied.failure_class, retry_after_s=denied.retry_after_s, message=str(denied))


def _is_callers(access: Access | None) -> bool:
    return access is not None and access.grant.attribution.owner is CredentialOwner.CALLER
