from __future__ import annotations

import pytest

from services.dispatch.model.plan import BindingRef
from services.dispatch.policy.lessons import FAST_PAUSE_S, FAST_TIER, Lesson
from services.dispatch.server.circuits import FAULTS_IN_A_ROW, LONGEST_WAIT_S, Circuits
from services.dispatch.server.memos import MAX_MEMOS, TTL_S, Memos
from services.domain.vocab import FailureClass
from tests.fakes.clock import FakeClock

BINDING = BindingRef("m", "p")
DOWN = FailureClass.TRANSPORT


def broken(clock: FakeClock) -> Circuits:
    circuits = Circuits(clock)
    for _ in range(FAULTS_IN_A_ROW):
        circuits.failed(BINDING, DOWN)
    return circuits


def test_faults_in_a_row_open_a_circuit_for_that_binding_alone() -> None:
    circuits = Circuits(FakeClock())
    for _ in range(FAULTS_IN_A_ROW - 1):
        circuits.failed(BINDING, DOWN)
    assert circuits.outage(BINDING) is None
    circuits.failed(BINDING, FailureClass.STALL)
    assert circuits.outage(BINDING) is FailureClass.STALL
    assert circuits.outage(BindingRef("m", "q")) is None
    assert circuits.outage(BindingRef("n", "p")) is None


def test_an_answer_in_between_begins_the_count_anew() -> None:
    circuits = Circuits(FakeClock())
    for _ in range(FAULTS_IN_A_ROW * 3):
        circuits.failed(BINDING, DOWN)
        circuits.answered(BINDING)
    assert circuits.outage(BINDING) is None


@pytest.mark.parametrize("failure", [FailureClass.RATE_LIMITED, FailureClass.REJECTED])
def test_throttles_and_refusals_are_no_outage(failure: FailureClass) -> None:
    circuits = Circuits(FakeClock())
    for _ in range(10):
        circuits.failed(BINDING, failure)
    assert circuits.outage(BINDING) is None


def test_one_caller_probes_and_the_others_wait() -> None:
    clock = FakeClock()
    circuits = broken(clock)
    assert not circuits.is_probe_due(BINDING)
    clock.advance(5.0)
    assert circuits.is_probe_due(BINDING)
    assert not circuits.is_probe_due(BINDING)


def test_waits_grow_and_stay_well_within_half_a_minute() -> None:
    clock = FakeClock()
    circuits = broken(clock)
    for _ in range(10):
        clock.advance(LONGEST_WAIT_S)
        assert circuits.is_probe_due(BINDING)
        circuits.failed(BINDING, DOWN)
    clock.advance(LONGEST_WAIT_S)
    assert circuits.is_probe_due(BINDING)
    circuits.answered(BINDING)
    assert circuits.outage(BINDING) is None
    assert circuits.is_probe_due(BINDING)


@pytest.mark.spec("DSP-142", "DSP-143")
def test_a_memo_is_kept_for_an_hour_for_its_endpoint_or_model() -> None:
    clock = FakeClock()
    kept = Memos(clock)
    kept.learn("http://a", "m", Lesson("responses_api", is_of_model=False))
    kept.learn("http://a", "m", Lesson("top_k"))
    kept.learn("http://a", "m", Lesson("VALIDATED", ttl_s=0))
    assert kept.given_up("http://a", "m") == {"responses_api", "top_k"}
    assert kept.given_up("http://a", "n") == {"responses_api"}
    assert not kept.given_up("http://b", "m")
    clock.advance(TTL_S)
    assert not kept.given_up("http://a", "m")


@pytest.mark.spec("DSP-60")
def test_a_fast_tier_without_room_is_left_alone_for_five_minutes_by_who_found_that() -> None:
    clock = FakeClock()
    kept = Memos(clock)
    full = Lesson(FAST_TIER, is_of_tenant=True, ttl_s=FAST_PAUSE_S)
    kept.learn("http://a", "m", full, "tenant-1")
    assert kept.given_up("http://a", "m", "tenant-1") == {FAST_TIER}
    assert not kept.given_up("http://a", "m", "tenant-2")
    assert not kept.given_up("http://a", "n", "tenant-1")
    clock.advance(300)
    assert not kept.given_up("http://a", "m", "tenant-1")


def test_the_oldest_memos_go_first() -> None:
    kept = Memos(FakeClock())
    for number in range(MAX_MEMOS + 1):
        kept.learn(str(number), "m", Lesson("top_k"))
    assert not kept.given_up("0", "m")
    assert kept.given_up("1", "m") == kept.given_up(str(MAX_MEMOS), "m") == {"top_k"}
