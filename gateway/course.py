"""What became of one action: the facts of its one canonical log line and of its metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway import metrics
from gateway.model import RescueCause
from gateway.model.explained import Completed
from gateway.session_key import log_label
from services.domain.pricing import PARTS_PER_MICRO
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from gateway.explaining.ports import Watchers
    from gateway.model import (
        Action,
        AttemptFailed,
        AttemptStarted,
        BindingRef,
        Decision,
        Head,
        Tail,
    )
    from gateway.model.decision import Belief, Fact
    from gateway.model.record import Bill
    from services.domain.wire.model import Stop, StopReason, Usage
    from services.runtime.clock import Clock

RESCUES = frozenset(cause.value for cause in RescueCause)
_log = get_logger("gateway")


class Course:
    """Collects what happens to an action; mutable, owned by its loop."""

    def __init__(
        self,
        action: Action,
        step: str,
        clock: Clock,
        providers: Collection[str],
        watchers: Watchers,
    ) -> None:
        self._watchers = watchers
        self._providers = providers
        self._action = action
        self._step = step
        self._clock = clock
        self.head: Head | None = None
        self.decision: Decision | None = None
        self.belief: Belief | None = None
        """What the action was believed to cost."""
        self.bill: Bill | None = None
        """What its serving attempt cost."""
        self.fingerprint = ""
        self.attempts = 0
        self.rescue = ""
        """The rescue that the attempt at hand belongs to; empty: none."""
        self.is_over = False
        """Whether dispatch said all it had to say: nothing is left to cancel."""
        self._usage: Usage | None = None
        self._stop: StopReason | None = None
        self._outcome = "failed"
        self._reason = ""
        self._ttft_s: float | None = None

    def decided(self, decision: Decision) -> None:
        """Take note of the decision."""
        self.decision = decision
        self._watchers.decided(self._action, decision)

    def elapsed_s(self) -> float:
        """Return the seconds since the request began."""
        return self._clock.monotonic_s() - self._action.started_monotonic_s

    def first_byte(self) -> None:
        """Take note of the first byte for the client."""
        if self._ttft_s is None:
            self._ttft_s = self.elapsed_s()
            metrics.TTFT_SECONDS.observe(self._ttft_s)

    def saw(self, tail: Tail | None, usage: Usage | None, stop: Stop | None) -> None:
        """Take note of usage and stop: the tail's, else what our own tap saw."""
        self._usage = usage
        self._stop = stop.reason if stop is not None else None
        if tail is not None:
            self.attempts = tail.attempt_count or self.attempts
            self._usage = tail.usage or usage
            self._stop = tail.stop_reason or self._stop

    def attempt_began(self, started: AttemptStarted) -> None:
        """Take note of an attempt, and of the rescue that it begins or a hop that leaves one."""
        self.attempts += 1
        if started.cause in RESCUES:
            self.rescue = started.cause
        elif started.cause == "hop":
            self.rescue = ""
        self._watchers.began(self._action, started)

    def attempt_missed(self, failed: AttemptFailed) -> None:
        """Take note of an attempt that failed."""
        self._attempt_ended(failed.provider, failed.failure.value)
        self._watchers.missed(self._action, failed)

    def _attempt_ended(self, provider: str, outcome: str) -> None:
        """Count an attempt."""
        label = metrics.provider_label(provider, self._providers)
        metrics.ATTEMPTS.labels(label, outcome).inc()

    def ended(self, outcome: str) -> None:
        """Take note of the end of an answer that began: ``served`` or ``broken``."""
        self._outcome = outcome
        if outcome != "served":
            self._reason = self._reason or "broken"
        if self.head is not None:
            self._attempt_ended(self.head.binding.provider, outcome)
        self.is_over = True

    def answered(self) -> None:
        """Take note that the router answered itself."""
        self._outcome = "command"

    def failed(self, reason: str) -> None:
        """Take note of an error; the first reason stays."""
        self._outcome = "failed"
        self._reason = self._reason or reason

    def client_left(self) -> None:
        """Take note of a client that is gone."""
        self._outcome = "client_gone"

    def _tell(self, status: int, binding: BindingRef | None) -> None:
        caller = self._action.caller
        completed = Completed(
            action_id=self._action.id,
            installation_id=caller.installation_id,
            session_key=caller.session_key,
            http_status=status,
            served=binding,
            failure=self._reason,
            attempt_count=self.attempts,
        )
        self._watchers.completed(self._action, completed)

    def close(self, status: int) -> None:
        """Write the line and the metrics."""
        action = self._action
        elapsed_s = self.elapsed_s()
        metrics.ACTION_SECONDS.observe(elapsed_s)
        binding = self.head.binding if self.head is not None else None
        self._tell(status, binding)
        usage, decision = self._usage, self.decision
        if decision is not None:
            metrics.DECISIONS.labels(decision.path.value).inc()
        _log.info(
            "action",
            action_id=action.id,
            request_id=action.caller.client_request_id,
            installation=action.caller.installation_id,
            key=action.caller.key_id,
            client=action.caller.client_app,
            is_evaluation=action.caller.is_evaluation,
            session_hash=log_label(action.caller.thread_key),
            surface=action.surface.value,
            turn_type=action.turn_type.value,
            step=self._step,
            requested_model=action.features.requested_model[:128],
            path=decision.path.value if decision is not None else "",
            decision=decision.reason if decision is not None else "",
            model=binding.model_id if binding is not None else "",
            provider=binding.provider if binding is not None else "",
            status=status,
            attempts=self.attempts,
            rescue=self.rescue,
            fingerprint=(self.head.fingerprint if self.head else "") or self.fingerprint,
            stop=self._stop.value if self._stop is not None else "",
            input_tokens=usage.fresh_input if usage is not None else None,
            cache_read_tokens=usage.cache_read if usage is not None else None,
            cache_write_tokens=usage.cache_write if usage is not None else None,
            output_tokens=usage.output if usage is not None else None,
            ttft_ms=round(self._ttft_s * 1000, 2) if self._ttft_s is not None else None,
            elapsed_ms=round(elapsed_s * 1000, 2),
            outcome=self._outcome,
            reason=self._reason,
            **self._planner_facts(),
            **self._costs(),
        )

    def _planner_facts(self) -> Mapping[str, Fact]:
        """Return what the planner's verdict rests on; nothing where it was not asked."""
        answer = self.decision.answer if self.decision is not None else None
        return answer.facts if answer is not None else {}

    def _costs(self) -> dict[str, int | None]:
        """Return the believed cost beside the billed one; both count where the same served.

        Only the prompts are held against each other: how long an answer gets, nobody knows before.
        """
        belief, bill, head = self.belief, self.bill, self.head
        if belief is None:
            return {}
        costs: dict[str, int | None] = {
            "believed_micros": belief.cost.micros,
            "billed_micros": bill.cost.micros if bill is not None else None,
        }
        is_same = head is not None and (head.binding.model_id, head.binding.provider) == (
            belief.binding.model_id,
            belief.binding.provider,
        )
        if bill is None or not is_same:
            return costs
        believed, billed = belief.cost.input_parts, bill.cost.input_parts
        costs["believed_input_micros"] = believed // PARTS_PER_MICRO
        costs["billed_input_micros"] = billed // PARTS_PER_MICRO
        if billed > 0:
            metrics.BELIEVED_COST_RATIO.observe(believed / billed)
        return costs
