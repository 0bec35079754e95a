"""Keeps what happened in one walk, and tells it as the parts of the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.dispatch.model.enums import AttemptOutcome, EffectKind, WalkStep
from services.dispatch.model.outcome import (
    AttemptRecord,
    Effect,
    Fault,
    Head,
    Missed,
    Started,
    Tail,
    Timing,
    Unserved,
)
from services.dispatch.policy import effects
from services.dispatch.policy import headers as header_rules
from services.dispatch.server.target import window_of
from services.domain.vocab import CredentialKind, CredentialOwner, FailureClass
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from services.dispatch.model.access import Access, Attribution
    from services.dispatch.model.enums import AttemptCause, WalkEnd
    from services.dispatch.model.plan import Order, PlannedBinding
    from services.dispatch.policy.step import Step
    from services.dispatch.server.attempt import Attempt
    from services.dispatch.server.draft import Draft
    from services.domain.catalog import Catalog
    from services.domain.vocab import WireFamily

NOT_CONFIGURED = Fault(
    FailureClass.PROVIDER_NOT_CONFIGURED, message="the planned provider is not configured"
)
FORCED_UNSERVABLE = Fault(
    FailureClass.FORCED_MODEL_UNSERVABLE, message="no binding of the forced model can be used"
)

POLICY_REFUSALS = frozenset({FailureClass.CONTENT_POLICY, FailureClass.CYBER_REFUSAL})
"""Refusals of what the request says: of a rescue target they end the walk, and are shown."""

_log = get_logger("dispatch")


@dataclass(frozen=True, slots=True)
class Trial:
    """One attempt to be: where, in which dialect, why, and with what, or why not."""

    number: int
    plan_index: int
    planned: PlannedBinding
    family: WireFamily | None
    cause: AttemptCause
    wait_s: float
    access: Access | None
    fault: Fault | None = None
    rescue: AttemptCause | None = None
    """The rescue that its target belongs to; None: it is one of the plan's own."""
    draft: Draft | None = None
    """What would be sent; None: nothing is."""

    @property
    def is_beyond_plan(self) -> bool:
        """Whether the credential at hand may not be shown for the binding."""
        return self.access is not None and self.draft is None

    @property
    def credential(self) -> Attribution | None:
        """Which credential is used; None: none could be had."""
        return self.access.grant.attribution if self.access else None


class Chronicle:
    """The records of one walk, the error to show if nothing serves, and the shortest wait."""

    def __init__(self, catalog: Catalog, order: Order) -> None:
        self._catalog = catalog
        self._order = order
        self._records: list[AttemptRecord] = []
        self._shown: tuple[Fault, AttemptRecord] | None = None
        self._shortest_wait_s: float | None = None
        self._rescue: AttemptCause | None = None

    def window_of(self, trial: Trial) -> int:
        """Return the context window of an attempt's binding in tokens."""
        return window_of(self._catalog, trial.planned)

    def started(self, trial: Trial) -> Started:
        """Return the part that announces an attempt."""
        self._rescue = trial.rescue or self._rescue
        return Started(
            number=trial.number,
            plan_index=trial.plan_index,
            binding=trial.planned.ref,
            family=trial.family,
            cause=trial.cause,
            context_window_tokens=self.window_of(trial),
            credential=trial.credential,
            wait_s=trial.wait_s,
        )

    def note(self, trial: Trial, fault: Fault, attempt: Attempt | None) -> None:
        """Keep the record of an attempt that failed.

        The error shown in the end is the plan's own, one that was sent rather than another. That of
        a rescue would only puzzle, unless it is about what the request says.
        """
        is_sent = attempt is not None and attempt.is_sent
        outcome = AttemptOutcome.FAILED if is_sent else AttemptOutcome.SKIPPED
        record = self._record(trial, attempt, outcome, fault.failure_class, fault.http_status)
        self._records.append(record)
        is_told = trial.rescue is None or fault.failure_class in POLICY_REFUSALS
        if is_told and (is_sent or self._shown is None or not self._shown[1].send_count):
            self._shown = (fault, record)
        self._shortest_wait_s = _shorter(self._shortest_wait_s, fault.retry_after_s)

    def missed(
        self, trial: Trial, fault: Fault, step: Step, attempt: Attempt | None = None
    ) -> Missed:
        """Return the part about the attempt noted last."""
        record, failure_class, rescued, unserved = (
            self._records[-1],
            fault.failure_class,
            None,
            None,
        )
        if step.kind in (WalkStep.RESCUE, WalkStep.END):
            conduct = self._order.plan.conduct
            rescued = effects.if_rescued(failure_class, fault.http_status, conduct)
            if trial.rescue is None or rescued is EffectKind.CORRECT_ESTIMATE:
                unserved = effects.if_unserved(failure_class, step.rescue)
        _log_missed(self._order, record, fault, step)
        return Missed(
            record,
            step.kind,
            step.wait_s,
            fault.retry_after_s,
            fault.vendor_type,
            _effect(rescued, trial),
            _effect(unserved, trial),
            attempt.draft.dropped_feature if attempt else "",
        )

    def head(self, trial: Trial, attempt: Attempt) -> Head:
        """Return the part that opens the answer."""
        credential = trial.credential
        return Head(
            number=trial.number,
            binding=trial.planned.ref,
            family=attempt.family,
            http_status=attempt.http_status or 200,
            headers=header_rules.for_client(
                attempt.headers, is_caller_credential=_is_callers(credential)
            ),
            body_bytes=attempt.body_bytes,
            context_window_tokens=self.window_of(trial),
            plan_index=trial.plan_index,
            planned_provider=self._order.plan.planned_provider,
            cause=trial.cause,
            credential=credential,
            is_model_aliased=credential is not None and credential.kind is CredentialKind.GATEWAY,
            transforms=attempt.transforms,
            is_fast_tier=attempt.draft.is_fast,
        )

    def tail(self, trial: Trial, attempt: Attempt, pre_commit_s: float) -> Tail:
        """Return the part that closes the answer."""
        is_whole = attempt.broken is None
        outcome = AttemptOutcome.SERVED if is_whole else AttemptOutcome.BROKEN
        effect = effects.if_answered(attempt.failure_class, self._order.plan.conduct)
        record = self._record(trial, attempt, outcome, attempt.failure_class)
        if attempt.broken is not None:
            _log_broken(self._order, record, attempt)
        return Tail(
            record=record,
            stop=attempt.stop if is_whole else None,
            broken=attempt.broken,
            refusal_seen=attempt.refusal_seen,
            attempt_count=len(self._records) + 1,
            tool_calls=attempt.tool_calls,
            sent_bytes=attempt.sent_bytes,
            max_gap_s=attempt.max_gap_s,
            pre_commit_s=pre_commit_s,
            rescue=self._rescue,
            effect=_effect(effect, trial),
            dropped_feature=attempt.draft.dropped_feature,
        )

    def unserved(self, end: WalkEnd) -> Unserved:
        """Return the part that closes a walk in which nothing served."""
        fault, record = self._shown or (NOT_CONFIGURED, self._records[-1])
        is_callers = _is_callers(record.credential)
        is_unservable = self._order.plan.is_user_forced and fault is NOT_CONFIGURED
        return Unserved(
            fault=FORCED_UNSERVABLE if is_unservable else fault,
            headers=header_rules.for_client(fault.headers, is_caller_credential=is_callers),
            retry_after_s=self._shortest_wait_s,
            records=tuple(self._records),
            rendered_number=record.number,
            family=record.family if fault.body else None,
            is_caller_credential=is_callers,
            end=end,
            rescue=self._rescue,
        )

    def _record(
        self,
        trial: Trial,
        attempt: Attempt | None,
        outcome: AttemptOutcome,
        failure_class: FailureClass | None,
        http_status: int | None = None,
    ) -> AttemptRecord:
        has_answered = outcome in (AttemptOutcome.SERVED, AttemptOutcome.BROKEN)
        estimate = self._order.estimated_input_tokens if has_answered else None
        return AttemptRecord(
            number=trial.number,
            kind=self._order.kind,
            binding=trial.planned.ref,
            plan_index=trial.plan_index,
            cause=trial.cause,
            family=attempt.family if attempt else trial.family,
            outcome=outcome,
            credential=trial.credential,
            http_status=http_status or (attempt.http_status if attempt else None),
            measured=attempt.measured(estimate) if attempt else None,
            timing=attempt.watch.timing() if attempt else Timing(),
            send_count=attempt.send_count if attempt else 0,
            upstream_request_id=header_rules.request_id_of(attempt.headers) if attempt else "",
            failure_class=failure_class,
            is_fast_tier=attempt is not None and attempt.draft.is_fast,
        )


def _effect(kind: EffectKind | None, trial: Trial) -> Effect | None:
    return None if kind is None else Effect(kind, trial.planned.ref)


def _is_callers(credential: Attribution | None) -> bool:
    return credential is not None and credential.owner is CredentialOwner.CALLER


def _shorter(left: float | None, right: float | None) -> float | None:
    """Return the shorter of two waits; None is no wait."""
    if left is None or right is None:
        return right if left is None else left
    return min(left, right)


def _log_broken(order: Order, record: AttemptRecord, attempt: Attempt) -> None:
    """Write one line about an answer that broke after its first output."""
    _log.error(
        "attempt_broken",
        vendor_type=attempt.broken.vendor_type if attempt.broken else "",
        stall_kind=attempt.stall_kind,
        sent_bytes=attempt.sent_bytes,
        **_facts(order, record),
    )


def _log_missed(order: Order, record: AttemptRecord, fault: Fault, step: Step) -> None:
    """Write one line about a failed or skipped attempt: its class, and nothing that was said."""
    is_throttle = fault.failure_class is FailureClass.RATE_LIMITED
    throttle = {"is_retry_after_honoured": step.is_throttle_wait} if is_throttle else {}
    write = _log.warning if is_throttle or not record.send_count else _log.error
    write(
        "attempt_failed" if record.send_count else "attempt_skipped",
        vendor_type=fault.vendor_type,
        stall_kind=fault.stall_kind,
        retry_after_s=fault.retry_after_s,
        next_step=step.rescue.value if step.rescue else step.kind.value,
        wait_s=round(step.wait_s, 3),
        **throttle,
        **_facts(order, record),
    )


def _facts(order: Order, record: AttemptRecord) -> dict[str, str | int | None]:
    """Return what every line about an attempt says."""
    failure_class = record.failure_class
    return {
        "action_id": order.action.action_id,
        "attempt": record.number,
        "provider": record.binding.provider,
        "model": record.binding.model_id,
        "failure_class": failure_class.value if failure_class else "",
        "status": record.http_status,
        "cause": record.cause.value,
        "fingerprint": record.credential.fingerprint if record.credential else "",
    }
