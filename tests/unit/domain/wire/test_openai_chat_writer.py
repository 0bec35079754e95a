from __future__ import annotations

import json

import pytest

from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    ClientError,
    End,
    ErrorKind,
    Event,
    Failure,
    Start,
    Stop,
    StopReason,
    UpstreamError,
    Usage,
    UsageSeen,
)
from services.domain.wire.openai_chat.writer import ChatStreamEncoder
from tests.unit.domain.wire.contexts import context
from tests.unit.domain.wire.openai_chat_cases import decoded, encoded

END = End(Stop(StopReason.END_TURN), Usage(fresh_input=12, output=30))
SAY: list[Event] = [Start("m", "up"), BlockOpen(0, "text"), BlockDelta(0, "hi"), BlockClose(0)]


def choices(chunks: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the first choice of every chunk that has one."""
    found: list[dict[str, object]] = []
    for chunk in chunks:
        rows = chunk.get("choices")
        if isinstance(rows, list) and rows:
            found.append(rows[0])
    return found


@pytest.mark.spec("XLT-133", "XLT-135", "XLT-136")
def test_a_text_answer_with_usage() -> None:
    chunks = encoded([*SAY, END])
    assert [choice["delta"] for choice in choices(chunks)] == [
        {"role": "assistant", "content": ""},
        {"content": "hi"},
        {},
    ]
    assert [choice["finish_reason"] for choice in choices(chunks)] == [None, None, "stop"]
    assert {chunk["id"] for chunk in chunks[:-1]} == {"chatcmpl-1"}
    assert {chunk["model"] for chunk in chunks[:-1]} == {"routed-model"}
    assert [chunk["usage"] for chunk in chunks[:-2]] == [None, None, None]
    usage = chunks[-2]
    assert usage["choices"] == []
    assert usage["usage"] == {
        "prompt_tokens": 12,
        "completion_tokens": 30,
        "total_tokens": 42,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    assert chunks[-1] == {"done": True}


@pytest.mark.spec("XLT-136")
def test_without_the_wish_there_is_no_usage_key() -> None:
    chunks = encoded([*SAY, UsageSeen(Usage(output=1)), END], is_usage_wanted=False)
    assert all("usage" not in chunk for chunk in chunks)


@pytest.mark.spec("XLT-134")
def test_calls_count_from_zero_and_reasoning_has_its_own_key() -> None:
    events: list[Event] = [
        Start("m", "up"),
        BlockOpen(0, "thinking"),
        BlockDelta(0, "hm"),
        BlockClose(0),
        BlockOpen(1, "tool_use", "a", "f"),
        BlockDelta(1, '{"x":'),
        BlockDelta(1, "1}"),
        BlockClose(1),
        BlockOpen(2, "tool_use", "b", "g"),
        BlockDelta(2, ""),
        BlockClose(2),
        End(Stop(StopReason.TOOL_USE), None),
    ]
    chunks = encoded(events)
    deltas = [choice["delta"] for choice in choices(chunks)]
    head = {"type": "function"}
    assert deltas[1:] == [
        {"reasoning_content": "hm"},
        {
            "tool_calls": [
                {"index": 0, "id": "a", **head, "function": {"name": "f", "arguments": ""}}
            ]
        },
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"x":'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]},
        {
            "tool_calls": [
                {"index": 1, "id": "b", **head, "function": {"name": "g", "arguments": ""}}
            ]
        },
        {"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]},
        {},
    ]
    assert choices(chunks)[-1]["finish_reason"] == "tool_calls"


@pytest.mark.spec("XLT-137")
def test_a_failure_is_one_error_frame_without_end_mark() -> None:
    encoder = ChatStreamEncoder(context())
    started = encoder.feed(SAY)
    raw = encoder.feed([Failure(UpstreamError(529, "overloaded_error", message="Overloaded")), END])
    assert b"[DONE]" not in started + raw
    assert json.loads(raw.removeprefix(b"data: ")) == {
        "error": {
            "message": "Overloaded",
            "type": "server_error",
            "param": None,
            "code": "overloaded",
        }
    }
    assert encoder.fail(ClientError(ErrorKind.UPSTREAM, "again")) == b""


@pytest.mark.spec("XLT-36")
def test_no_error_follows_a_clean_end() -> None:
    encoder = ChatStreamEncoder(context())
    encoder.feed([*SAY, END])
    assert encoder.fail(ClientError(ErrorKind.UPSTREAM, "late")) == b""


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        (StopReason.END_TURN, "stop"),
        (StopReason.STOP_SEQUENCE, "stop"),
        (StopReason.TOOL_USE, "stop"),
        (StopReason.MAX_TOKENS, "length"),
        (StopReason.CONTEXT_FULL, "length"),
        (StopReason.REFUSAL, "content_filter"),
        (StopReason.PAUSE, "stop"),
        (StopReason.MALFORMED, "stop"),
    ],
)
def test_every_stop_reason_has_a_finish_reason(reason: StopReason, finish: str) -> None:
    assert choices(encoded([*SAY, End(Stop(reason), None)]))[-1]["finish_reason"] == finish


def test_what_is_written_decodes_to_the_same_events() -> None:
    events: list[Event] = [*SAY, END]
    raw = ChatStreamEncoder(context()).feed(events)
    again = [event for event in decoded(raw) if not isinstance(event, UsageSeen)]
    assert again[0] == Start("chatcmpl-1", "routed-model")
    assert again[1:4] == events[1:4]
    last = again[-1]
    assert isinstance(last, End)
    assert last.stop == END.stop
    assert last.usage == Usage(fresh_input=12, cache_read=0, output=30)
