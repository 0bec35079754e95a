"""When a stream that has output is too slow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.dispatch.model.limits import ANY_PACE, Pace
from services.dispatch.policy.throughput import Throughput

PACE = Pace(window_s=20, warm_up_s=90, floor=8)


def fed(pace: Pace, *windows: int, warm_up: int = 0) -> bool:
    """Return whether a stream with so many events in each window is slow at the end of them."""
    throughput = Throughput(pace)
    throughput.saw(warm_up)
    throughput.waited(pace.warm_up_s)
    for events in windows:
        throughput.saw(events)
        throughput.waited(pace.window_s)
    return throughput.is_slow


@pytest.mark.spec("DSP-183")
@pytest.mark.parametrize(
    ("windows", "is_slow"),
    [
        ((7, 7), True),
        ((1, 1), True),
        ((7,), False),
        ((7, 8), False),
        ((8, 8, 8), False),
        ((7, 0, 7), False),
        ((0, 0, 0), False),
        ((9, 7, 7), True),
        ((7, 9, 7, 7), True),
    ],
)
def test_two_productive_windows_below_the_floor_in_a_row_are_too_slow(
    windows: tuple[int, ...], is_slow: bool
) -> None:
    assert fed(PACE, *windows) is is_slow


@pytest.mark.spec("DSP-183")
def test_nothing_is_judged_while_it_warms_up() -> None:
    assert not fed(PACE, warm_up=1)
    throughput = Throughput(PACE)
    for _ in range(9):
        throughput.waited(9.9)
        throughput.saw(1)
    assert not throughput.is_slow


@pytest.mark.spec("DSP-183")
def test_a_long_silence_is_no_productive_window() -> None:
    throughput = Throughput(PACE)
    throughput.waited(90)
    throughput.saw(1)
    throughput.waited(44)
    throughput.saw(1)
    throughput.waited(16)
    assert not throughput.is_slow


@given(st.lists(st.integers(0, 30), max_size=12), st.integers(-3, 0))
def test_without_a_floor_any_pace_will_do(windows: list[int], floor: int) -> None:
    assert not fed(Pace(floor=floor), *windows)
    assert not fed(ANY_PACE, *windows)


@given(st.lists(st.integers(0, 12), max_size=12), st.integers(0, 12))
def test_more_output_in_every_productive_window_makes_no_stream_slow(
    windows: list[int], more: int
) -> None:
    richer = [events + more if events else 0 for events in windows]
    assert fed(PACE, *windows) or not fed(PACE, *richer)


@given(st.lists(st.tuples(st.floats(0, 5), st.integers(8, 20)), max_size=60))
def test_a_stream_that_is_never_waited_for_is_not_slow(reads: list[tuple[float, int]]) -> None:
    throughput = Throughput(Pace(window_s=5, warm_up_s=0, floor=8))
    for seconds, events in reads:
        throughput.waited(seconds)
        throughput.saw(events)
    assert not throughput.is_slow
