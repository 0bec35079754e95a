from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.wire.model import Observation, StopReason
from services.domain.wire.openai_chat.observe import ChatStreamObserver
from services.domain.wire.openai_chat.usage_filter import UsageFrameFilter
from tests.unit.domain.wire.openai_chat_cases import DONE, call, frame

USAGE = {"prompt_tokens": 12, "completion_tokens": 5}


def observed(*parts: bytes) -> Observation:
    observer = ChatStreamObserver()
    for part in parts:
        observer.feed(part)
    observer.finish()
    return observer.seen


def test_keepalives_start_nothing() -> None:
    assert observed(b": processing\n\n" * 3) == Observation()


@pytest.mark.spec("DSP-182")
def test_role_and_empty_deltas_and_usage_are_bookkeeping() -> None:
    seen = observed(
        frame({"role": "assistant", "content": ""}),
        frame({}),
        frame(None, choices=[], usage=USAGE),
        frame({"content": None, "tool_calls": None}),
    )
    assert seen.is_started
    assert not seen.has_output
    assert seen.output_events == 0
    assert seen.usage is not None
    assert seen.usage.output == 5


@pytest.mark.spec("DSP-182")
@pytest.mark.parametrize(
    "part",
    [
        frame({"content": "abc"}),
        frame({"reasoning_content": "abc"}),
        frame({"role": "assistant", "content": "", "reasoning": "abc"}),
        frame({"refusal": "abc"}),
        call(0, "a", name="abc", arguments=""),
        call(0, arguments="abc"),
    ],
)
def test_output_counts(part: bytes) -> None:
    seen = observed(part)
    assert (seen.has_output, seen.output_events, seen.output_chars) == (True, 1, 3)
    assert not seen.has_terminal


@pytest.mark.spec("DSP-126")
def test_a_terminal_is_a_finish_of_every_started_choice_or_the_end_mark() -> None:
    second = [{"index": 1, "delta": {"content": "b"}, "finish_reason": None}]
    first = frame({"content": "a"}) + frame(None, choices=second) + frame({}, "stop")
    assert not observed(first).has_terminal
    assert observed(first, DONE).has_terminal
    closed = [{"index": 1, "delta": {}, "finish_reason": "length"}]
    seen = observed(first, frame(None, choices=closed))
    assert seen.has_terminal
    assert seen.stop is not None
    assert seen.stop.reason is StopReason.END_TURN


@pytest.mark.spec("DSP-126")
def test_a_choice_that_starts_after_a_finish_needs_its_own() -> None:
    late = [{"index": 1, "delta": {"content": "b"}, "finish_reason": None}]
    seen = observed(frame({"content": "a"}, "stop"), frame(None, choices=late))
    assert not seen.has_terminal
    assert observed(frame({"content": "a"}, "stop"), frame({})).has_terminal


def test_an_error_finish_is_an_error() -> None:
    seen = observed(frame({"content": "a"}), frame({}, "error"))
    assert seen.error is not None
    assert not seen.is_error_first


def test_calls_are_counted_once() -> None:
    seen = observed(
        call(0, "a", name="f", arguments=""),
        call(0, arguments="{"),
        call(0, "", arguments="}"),
        call(1, "b", name="g", arguments="{}"),
        frame({}, "stop"),
    )
    assert seen.tool_calls == 2
    assert seen.stop is not None
    assert seen.stop.reason is StopReason.TOOL_USE


def test_an_error_frame_is_noted_with_its_status() -> None:
    error = b'data: {"error":{"message":"slow down","code":429}}\n\n'
    first = observed(frame({"role": "assistant"}), error)
    assert first.error is not None
    assert first.error.http_status == 429
    assert first.is_error_first
    assert first.has_terminal
    later = observed(frame({"content": "x"}), error)
    assert not later.is_error_first


def test_a_filter_stop_is_a_refusal() -> None:
    assert observed(frame({}, "content_filter")).refusal_seen


def test_bad_frames_are_counted_and_passed_over() -> None:
    seen = observed(b"data: {nope\n\n", b"data: [1]\n\n", frame({"content": "x"}, "stop"))
    assert seen.bad_frames == 2
    assert seen.has_terminal


STREAM = (
    frame({"role": "assistant", "content": ""}, usage=None)
    + frame({"content": "ü"})
    + call(0, "a", name="f", arguments="{}")
    + frame({}, "tool_calls")
    + frame(None, choices=[], usage=USAGE)
    + DONE
)


@pytest.mark.spec("XLT-116")
@given(st.lists(st.integers(0, len(STREAM)), max_size=6))
def test_no_cut_changes_what_is_seen(cuts: list[int]) -> None:
    at = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:stop] for start, stop in itertools.pairwise(at)]
    assert observed(*pieces) == observed(STREAM)


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    observed(b"data: " + data + b"\n\n", data)


@pytest.mark.spec("XLT-136")
@given(st.lists(st.integers(0, len(STREAM)), max_size=6))
def test_the_filter_takes_out_the_usage_frame_and_nothing_else(cuts: list[int]) -> None:
    usage_frame = frame(None, choices=[], usage=USAGE)
    at = [0, *sorted(cuts), len(STREAM)]
    usage_filter = UsageFrameFilter()
    passed = [usage_filter.feed(STREAM[start:stop]) for start, stop in itertools.pairwise(at)]
    assert b"".join([*passed, usage_filter.finish()]) == STREAM.replace(usage_frame, b"")


@given(st.binary(max_size=300))
def test_the_filter_keeps_every_other_byte(data: bytes) -> None:
    usage_filter = UsageFrameFilter()
    assert usage_filter.feed(data) + usage_filter.finish() == data
