"""What a walk does after a failed attempt: retry, hop or end. Rotation was tried before.

A plan of one binding retries in place; one of several hops at once and never retries. Steps are
bounded by a number of attempts, by the series' clock and by the clock until the commit point; an
attempt that runs is never cut by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.dispatch.model.enums import WalkEnd, WalkStep
from services.dispatch.policy.patience import DEADLINE_MARGIN_S
from services.domain.vocab import FailureClass

if TYPE_CHECKING:
    from services.dispatch.model.enums import AttemptCause
    from services.dispatch.model.plan import Budget

ROTATING = frozenset(
    {
        FailureClass.AUTH,
        FailureClass.BILLING,
        FailureClass.PLAN_EXHAUSTED,
        FailureClass.RATE_LIMITED,
    }
)
"""Faults that lie in the credential: another one of the same binding is tried first."""

RETRYABLE = frozenset(
    {
        FailureClass.HEADER_TIMEOUT,
        FailureClass.OVERLOADED,
        FailureClass.RATE_LIMITED,
        FailureClass.STALL,
        FailureClass.STREAM_EMPTY,
        FailureClass.STREAM_INCOMPLETE,
        FailureClass.TRANSPORT,
        FailureClass.UPSTREAM_STATUS,
    }
)
"""Faults after which the same binding may answer."""

HOPPING = RETRYABLE | {
    FailureClass.AUTH,
    FailureClass.BAD_RESPONSE,
    FailureClass.BILLING,
    FailureClass.CREDENTIALS_COOLING,
    FailureClass.CREDENTIALS_DISABLED,
    FailureClass.CREDENTIALS_UNREACHABLE,
    FailureClass.MODEL_NOT_FOUND,
    FailureClass.NO_ELIGIBLE_PROVIDER,
    FailureClass.PLAN_EXHAUSTED,
    FailureClass.PROVIDER_NOT_CONFIGURED,
    FailureClass.SCHEMA,
    FailureClass.UNBUILDABLE,
}
"""Faults after which another binding may answer."""

JITTER_RATIO = 0.2
"""Largest deviation of a back-off from its nominal length, either way."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a walk has used up. Times in seconds."""

    attempts: int
    """Sent ones; rotations are not among them."""
    retries: int
    """In place, on this binding."""
    binding_s: float
    """Since the first attempt on this binding began."""
    walk_s: float
    has_waited_here: bool = False
    """A Retry-After of this binding was honoured."""
    throttle_waits: int = 0
    """Retry-Afters honoured in the whole walk."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What the plan still allows. ``time_left_s`` is the call's deadline; None: it has none."""

    is_single: bool
    has_next: bool
    is_throttle_wait_enabled: bool = False
    time_left_s: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """What to do next and how long to wait before it."""

    kind: WalkStep
    wait_s: float = 0.0
    end: WalkEnd | None = None
    is_throttle_wait: bool = False
    rescue: AttemptCause | None = None
    rescue_place: int | None = None
    """Which of the plan's rescue targets is next; None: the step is no rescue."""
    is_late: bool = False
    """Whether it goes back to a binding that was postponed."""


def next_step(
    failure_class: FailureClass,
    retry_after_s: float | None,
    spent: Spent,
    shape: Shape,
    budget: Budget,
    jitter: float = 0.0,
) -> Step:
    """Return the step after a fault of a binding whose credentials are used up.

    ``jitter`` in [-1, 1] moves a back-off within :data:`JITTER_RATIO`.
    """
    if failure_class not in HOPPING:
        return Step(WalkStep.END, end=WalkEnd.TERMINAL)
    if spent.attempts >= budget.max_attempts:
        return Step(WalkStep.END, end=WalkEnd.ATTEMPT_BUDGET)
    if spent.walk_s >= budget.pre_commit_s:
        return Step(WalkStep.END, end=WalkEnd.TIME_BUDGET)
    if not shape.is_single:
        if shape.has_next:
            return Step(WalkStep.HOP)
        return Step(WalkStep.END, end=WalkEnd.EXHAUSTED)
    if failure_class not in RETRYABLE:
        return Step(WalkStep.END, end=WalkEnd.EXHAUSTED)
    step = _retry(failure_class, retry_after_s, spent, shape, budget, jitter)
    if step.kind is WalkStep.RETRY and _is_too_late(step.wait_s, spent, shape, budget):
        return Step(WalkStep.END, end=WalkEnd.TIME_BUDGET)
    return step


def _retry(
    failure_class: FailureClass,
    retry_after_s: float | None,
    spent: Spent,
    shape: Shape,
    budget: Budget,
    jitter: float,
) -> Step:
    exhausted = Step(WalkStep.END, end=WalkEnd.EXHAUSTED)
    is_throttle = failure_class is FailureClass.RATE_LIMITED and shape.is_throttle_wait_enabled
    if is_throttle and retry_after_s is not None:
        is_allowed = (
            retry_after_s <= budget.max_throttle_wait_s
            and not spent.has_waited_here
            and spent.throttle_waits < budget.max_throttle_waits
        )
        if not is_allowed:
            return exhausted
        return Step(WalkStep.RETRY, retry_after_s, is_throttle_wait=True)
    if spent.retries >= budget.same_binding_retries or spent.binding_s >= budget.same_binding_s:
        return exhausted
    if is_throttle:
        schedule = budget.throttle_backoff_s
        nominal_s = schedule[min(spent.retries, len(schedule) - 1)]
    else:
        nominal_s = budget.backoff_base_s * 2**spent.retries
    wait_s = nominal_s * (1 + JITTER_RATIO * max(-1.0, min(1.0, jitter)))
    if spent.binding_s + wait_s > budget.same_binding_s:
        return exhausted
    return Step(WalkStep.RETRY, wait_s)


def _is_too_late(wait_s: float, spent: Spent, shape: Shape, budget: Budget) -> bool:
    if spent.walk_s + wait_s >= budget.pre_commit_s:
        return True
    # What is kept of the caller's time is no time to try once more.
    return shape.time_left_s is not None and wait_s + DEADLINE_MARGIN_S >= shape.time_left_s
