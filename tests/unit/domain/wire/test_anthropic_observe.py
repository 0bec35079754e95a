from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.wire.anthropic.observe import MessagesStreamObserver
from services.domain.wire.model import Observation, Stop, StopReason, Usage
from tests.unit.domain.wire.anthropic_cases import (
    RICH_STREAM,
    delta,
    ending,
    frame,
    opened,
    start,
    text_block,
)


def observed(*chunks: bytes) -> Observation:
    observer = MessagesStreamObserver()
    for chunk in chunks:
        observer.feed(chunk)
    observer.finish()
    return observer.seen


@pytest.mark.spec("DSP-126", "XLT-42")
def test_a_whole_stream_is_taken_note_of() -> None:
    seen = observed(RICH_STREAM)
    assert (seen.is_started, seen.has_output, seen.has_terminal) == (True, True, True)
    assert seen.usage == Usage(fresh_input=12, cache_read=900, output=30)
    assert seen.stop == Stop(StopReason.TOOL_USE)
    assert seen.tool_calls == 2
    assert seen.error is None
    assert seen.output_chars == len("Überlegen \U0001f600Grüß Gott \U0001f600") + len('{"a":1}')


@pytest.mark.spec("XLT-116")
def test_a_cut_at_every_byte_teaches_the_same() -> None:
    whole = observed(RICH_STREAM)
    for at in range(1, len(RICH_STREAM)):
        assert observed(RICH_STREAM[:at], RICH_STREAM[at:]) == whole


@pytest.mark.spec("DSP-182")
@pytest.mark.parametrize(
    "bookkeeping",
    [
        start(),
        frame("ping"),
        opened(0, type="text", text=""),
        opened(0, type="thinking", thinking="", signature=""),
        delta(0, type="text_delta", text=""),
        delta(0, type="signature_delta", signature="x"),
        frame("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 1}),
        frame("new_kind"),
    ],
)
def test_bookkeeping_is_no_output(bookkeeping: bytes) -> None:
    assert not observed(bookkeeping).has_output


@pytest.mark.spec("DSP-182")
@pytest.mark.parametrize(
    "output",
    [
        opened(0, type="tool_use", id="t", name="f", input={}),
        delta(0, type="text_delta", text="x"),
        delta(0, type="thinking_delta", thinking="x"),
        delta(0, type="input_json_delta", partial_json="{"),
        frame("message_stop"),
    ],
)
def test_text_reasoning_calls_and_the_end_are_output(output: bytes) -> None:
    seen = observed(start(), output)
    assert (seen.has_output, seen.output_events) == (True, 1)


@pytest.mark.spec("DSP-126")
def test_pings_and_comments_alone_never_start_a_stream() -> None:
    seen = observed(b": keepalive\n\n", frame("ping"))
    assert (seen.is_started, seen.has_terminal) == (False, False)


@pytest.mark.spec("DSP-126", "XLT-34")
def test_a_stop_reason_alone_is_no_terminal() -> None:
    assert not observed(RICH_STREAM.removesuffix(frame("message_stop"))).has_terminal
    assert observed(RICH_STREAM[:-2]).has_terminal


@pytest.mark.spec("XLT-148", "DSP-126")
def test_an_error_event_is_a_terminal_and_says_whether_output_came_before() -> None:
    error = frame("error", error={"type": "overloaded_error", "message": "busy"})
    first = observed(start(), error)
    assert first.error is not None
    assert (first.error.http_status, first.is_error_first, first.has_terminal) == (529, True, True)
    assert not observed(start(), text_block(0, "x"), error).is_error_first


def test_a_refusal_is_seen() -> None:
    assert observed(start(), ending("refusal")).refusal_seen


@pytest.mark.spec("XLT-43")
def test_unreadable_frames_are_counted_and_the_rest_is_read() -> None:
    seen = observed(start(), b"data: {nope\n\n", b"data: []\n\n", text_block(0, "x"), ending())
    assert (seen.bad_frames, seen.has_terminal) == (2, True)


@pytest.mark.spec("XLT-43")
@given(st.lists(st.binary(max_size=30), max_size=5))
def test_no_bytes_make_it_fail(chunks: list[bytes]) -> None:
    observed(*[b"data: " + chunk + b"\n\n" for chunk in chunks])
