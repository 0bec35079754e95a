from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.dispatch.model.enums import WalkEnd, WalkStep
from services.dispatch.model.plan import Budget
from services.dispatch.policy.step import (
    HOPPING,
    JITTER_RATIO,
    RETRYABLE,
    ROTATING,
    Shape,
    Spent,
    Step,
    next_step,
)
from services.domain.vocab import FailureClass

BUDGET = Budget()
FRESH = Spent(attempts=1, retries=0, binding_s=0.1, walk_s=0.1)
SINGLE = Shape(is_single=True, has_next=False)
SEVERAL = Shape(is_single=False, has_next=True)
THROTTLED = replace(SINGLE, is_throttle_wait_enabled=True)
DOWN = FailureClass.UPSTREAM_STATUS
LIMITED = FailureClass.RATE_LIMITED

classes = st.sampled_from(list(FailureClass))
waits = st.none() | st.floats(0, 100)
spents = st.builds(
    Spent,
    attempts=st.integers(0, 8),
    retries=st.integers(0, 4),
    binding_s=st.floats(0, 20),
    walk_s=st.floats(0, 200),
    has_waited_here=st.booleans(),
    throttle_waits=st.integers(0, 3),
)
shapes = st.builds(
    Shape,
    is_single=st.booleans(),
    has_next=st.booleans(),
    is_throttle_wait_enabled=st.booleans(),
    time_left_s=st.none() | st.floats(0, 600),
)


def step(
    failure_class: FailureClass,
    *,
    spent: Spent = FRESH,
    shape: Shape = SINGLE,
    retry_after_s: float | None = None,
    jitter: float = 0.0,
) -> Step:
    return next_step(failure_class, retry_after_s, spent, shape, BUDGET, jitter)


@pytest.mark.spec("DSP-30")
def test_a_single_binding_is_retried_after_250_and_500_ms_and_then_no_more() -> None:
    assert step(DOWN) == Step(WalkStep.RETRY, 0.25)
    assert step(DOWN, spent=replace(FRESH, attempts=2, retries=1)) == Step(WalkStep.RETRY, 0.5)
    last = step(DOWN, spent=replace(FRESH, attempts=3, retries=2))
    assert last == Step(WalkStep.END, end=WalkEnd.EXHAUSTED)


@pytest.mark.spec("DSP-31")
@given(classes, waits, spents, shapes)
def test_a_plan_of_several_bindings_never_retries_and_never_waits(
    failure_class: FailureClass, retry_after_s: float | None, spent: Spent, shape: Shape
) -> None:
    several = replace(shape, is_single=False)
    taken = next_step(failure_class, retry_after_s, spent, several, BUDGET)
    assert taken.kind in (WalkStep.HOP, WalkStep.END)
    assert taken.wait_s == 0


@pytest.mark.spec("DSP-32", "DSP-33")
def test_the_series_has_ten_seconds_and_no_wait_leads_beyond_them() -> None:
    assert step(DOWN, spent=replace(FRESH, binding_s=9.74)).kind is WalkStep.RETRY
    assert step(DOWN, spent=replace(FRESH, binding_s=9.76)).kind is WalkStep.END
    assert step(DOWN, spent=replace(FRESH, binding_s=10.0)).kind is WalkStep.END


@pytest.mark.spec("DSP-36", "TRN-68")
def test_a_retry_after_of_ten_seconds_is_waited_for_exactly_and_a_longer_one_is_not() -> None:
    assert step(LIMITED, shape=THROTTLED, retry_after_s=10.0).wait_s == 10.0
    assert step(LIMITED, shape=THROTTLED, retry_after_s=10.1).kind is WalkStep.END
    assert step(LIMITED, shape=THROTTLED, retry_after_s=0.0) == Step(
        WalkStep.RETRY, 0.0, is_throttle_wait=True
    )


@pytest.mark.spec("DSP-36", "TRN-68")
def test_without_a_retry_after_a_throttle_backs_off_500_and_1500_ms() -> None:
    assert step(LIMITED, shape=THROTTLED).wait_s == 0.5
    assert step(LIMITED, shape=THROTTLED, spent=replace(FRESH, retries=1)).wait_s == 1.5


@pytest.mark.spec("DSP-36", "TRN-68")
def test_with_the_flag_off_a_throttle_backs_off_like_any_fault() -> None:
    assert step(LIMITED, retry_after_s=3.0).wait_s == 0.25


def test_a_retry_after_is_honoured_once_per_binding_and_twice_per_action() -> None:
    here = replace(FRESH, has_waited_here=True, throttle_waits=1)
    assert step(LIMITED, shape=THROTTLED, retry_after_s=1.0, spent=here).kind is WalkStep.END
    twice = replace(FRESH, throttle_waits=2)
    assert step(LIMITED, shape=THROTTLED, retry_after_s=1.0, spent=twice).kind is WalkStep.END


def test_an_honoured_retry_after_may_lead_beyond_the_series_clock() -> None:
    spent = replace(FRESH, binding_s=9.0)
    assert step(LIMITED, shape=THROTTLED, retry_after_s=8.0, spent=spent).wait_s == 8.0


@pytest.mark.spec("DSP-40", "DSP-43")
@pytest.mark.parametrize("failure_class", list(FailureClass), ids=str)
def test_only_faults_of_the_binding_hop(failure_class: FailureClass) -> None:
    taken = step(failure_class, shape=SEVERAL)
    is_hop = failure_class in HOPPING
    assert taken.kind is (WalkStep.HOP if is_hop else WalkStep.END)
    assert taken.end is (None if is_hop else WalkEnd.TERMINAL)


@pytest.mark.spec("DSP-40")
@pytest.mark.parametrize("failure_class", [FailureClass.MODEL_NOT_FOUND, FailureClass.BILLING])
def test_404_and_402_are_never_retried_in_place(failure_class: FailureClass) -> None:
    assert step(failure_class).kind is WalkStep.END


def test_what_a_caller_did_or_wrote_never_moves_the_walk() -> None:
    for failure_class in (
        FailureClass.CANCELLED,
        FailureClass.CONTENT_POLICY,
        FailureClass.CONTEXT_OVERFLOW,
        FailureClass.REJECTED,
    ):
        assert failure_class not in HOPPING | ROTATING


def test_the_attempt_budget_ends_the_walk() -> None:
    spent = replace(FRESH, attempts=6)
    assert step(DOWN, shape=SEVERAL, spent=spent).end is WalkEnd.ATTEMPT_BUDGET


def test_the_clock_before_the_commit_point_ends_the_walk() -> None:
    late = replace(FRESH, walk_s=120.0)
    assert step(DOWN, shape=SEVERAL, spent=late).end is WalkEnd.TIME_BUDGET
    almost = replace(FRESH, walk_s=115.0)
    taken = step(LIMITED, shape=THROTTLED, retry_after_s=8.0, spent=almost)
    assert taken.end is WalkEnd.TIME_BUDGET


def test_no_wait_outlasts_the_deadline_of_the_call() -> None:
    assert step(DOWN, shape=replace(SINGLE, time_left_s=0.2)).end is WalkEnd.TIME_BUDGET


@given(classes, waits, spents, shapes, st.floats(-1, 1))
def test_every_step_is_well_formed(
    failure_class: FailureClass,
    retry_after_s: float | None,
    spent: Spent,
    shape: Shape,
    jitter: float,
) -> None:
    taken = next_step(failure_class, retry_after_s, spent, shape, BUDGET, jitter)
    assert taken.wait_s >= 0
    assert (taken.end is not None) is (taken.kind is WalkStep.END)
    if taken.kind is WalkStep.RETRY:
        assert shape.is_single
        assert failure_class in RETRYABLE
        assert spent.walk_s + taken.wait_s < BUDGET.pre_commit_s
    if taken.kind is WalkStep.HOP:
        assert shape.has_next
    if taken.kind is not WalkStep.END:
        assert spent.attempts < BUDGET.max_attempts


@given(st.floats(-1, 1), st.integers(0, 1))
def test_jitter_stays_within_a_fifth(jitter: float, retries: int) -> None:
    wait_s = step(DOWN, spent=replace(FRESH, retries=retries), jitter=jitter).wait_s
    nominal_s = 0.25 * 2**retries
    assert abs(wait_s - nominal_s) <= nominal_s * JITTER_RATIO + 1e-9
