"""The observer of a passing stream sees what the decoder would have read."""

from __future__ import annotations

import pytest

from services.domain.wire.model import End, Observation, StopReason
from services.domain.wire.openai_responses import CODEC
from tests.unit.domain.wire.openai_responses_cases import CREATED, decoded, event, said, terminal
from tests.unit.domain.wire.test_openai_responses_stream import STREAM, reasoned, words


def seen(*chunks: bytes) -> Observation:
    observer = CODEC.observer()
    for chunk in chunks:
        observer.feed(chunk)
    observer.finish()
    return observer.seen


@pytest.mark.spec("XLT-42", "XLT-116", "DSP-126")
def test_the_tap_and_the_decoder_read_the_same_usage_and_stop() -> None:
    last = decoded(STREAM)[-1]
    assert isinstance(last, End)
    found = seen(STREAM)
    assert found.has_terminal
    assert (found.usage, found.stop, found.tool_calls) == (last.usage, last.stop, 2)
    assert seen(*(STREAM[at : at + 3] for at in range(0, len(STREAM), 3))) == found


@pytest.mark.spec("DSP-182")
def test_bookkeeping_is_no_output_and_advancing_reasoning_is() -> None:
    found = seen(CREATED, event("output_item.added", output_index=0, item=said("assistant")))
    assert (found.is_started, found.has_output, found.output_events) == (True, False, 0)
    thinking = seen(CREATED, reasoned(0, "plan"))
    assert (thinking.has_output, thinking.output_events, thinking.output_chars) == (True, 2, 4)
    spoken = seen(CREATED, words(0, "ab", "c"))
    assert (spoken.has_output, spoken.output_events, spoken.output_chars) == (True, 2, 3)
    assert not spoken.has_terminal


@pytest.mark.spec("XLT-148", "XLT-43")
def test_errors_say_whether_they_came_first() -> None:
    failed = terminal(status="failed", error={"code": "rate_limit_exceeded", "message": "m"})
    first = seen(CREATED, failed)
    assert first.error is not None
    assert (first.error.http_status, first.is_error_first, first.has_terminal) == (429, True, True)
    late = seen(CREATED, words(0, "x"), failed)
    assert (late.is_error_first, late.stop) == (False, None)
    bare = seen(b'event: error\ndata: {"type":"error","code":"slow_down","message":"m"}\n\n')
    assert bare.error is not None
    assert bare.error.http_status == 503


def test_unreadable_frames_are_counted_and_refusals_seen() -> None:
    refusal = event("refusal.delta", output_index=0, content_index=0, delta="no")
    found = seen(CREATED, b"data: {\n\n", refusal, terminal())
    assert (found.bad_frames, found.refusal_seen) == (1, True)
    assert found.stop is not None
    assert found.stop.reason is StopReason.REFUSAL
    assert seen(b"data: [DONE]\n\n", b": c\n\n") == Observation()
