from __future__ import annotations

import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.vocab import WireFamily
from services.domain.wire.anthropic.writer import MessagesStreamEncoder
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    BlockState,
    ClientError,
    End,
    ErrorKind,
    Event,
    Failure,
    Ping,
    ProviderState,
    Start,
    Stop,
    StopReason,
    UpstreamError,
    Usage,
    UsageSeen,
)
from tests.unit.domain.wire.anthropic_cases import Json, frames_of, kinds, written
from tests.unit.domain.wire.contexts import context

START = Start("up", "upstream-model")
END = End(Stop(StopReason.END_TURN), Usage(fresh_input=100, cache_read=900, output=7))

Kind = Literal["text", "thinking", "tool_use", "refusal"]


def block(index: int, kind: Kind, *words: str, call_id: str = "", name: str = "") -> list[Event]:
    deltas: list[Event] = [BlockDelta(index, word) for word in words]
    return [BlockOpen(index, kind, call_id, name), *deltas, BlockClose(index)]


def call(index: int, call_id: str, name: str, *parts: str) -> list[Event]:
    return block(index, "tool_use", *parts, call_id=call_id, name=name)


def starts(frames: list[Json]) -> list[Json]:
    found = [frame["content_block"] for frame in frames if frame["type"] == "content_block_start"]
    return [each for each in found if isinstance(each, dict)]


def member(frame: Json, *path: str) -> object:
    value: object = frame
    for key in path:
        assert isinstance(value, dict)
        value = value[key]
    return value


def arguments(frames: list[Json]) -> list[object]:
    texts: dict[object, str] = {}
    for frame in frames:
        if (
            frame["type"] == "content_block_delta"
            and member(frame, "delta", "type") == "input_json_delta"
        ):
            part = str(member(frame, "delta", "partial_json"))
            texts[frame["index"]] = texts.get(frame["index"], "") + part
    return [json.loads(text) for text in texts.values()]


@pytest.mark.spec("XLT-128", "XLT-129", "XLT-130", "XLT-132")
def test_the_grammar_of_a_whole_answer() -> None:
    events = [START, *block(0, "text", "Hel", "lo"), *call(1, "c1", "f", '{"a":', "1}"), END]
    frames = written(events)
    assert kinds(frames) == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert frames[0]["message"] == {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "routed-model",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 11,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 0,
        },
    }
    assert [frame["index"] for frame in frames[1:8]] == [0, 0, 0, 0, 1, 1, 1]
    assert frames[-2]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}
    assert member(frames[-2], "usage", "input_tokens") == 100
    assert member(frames[-2], "usage", "cache_read_input_tokens") == 900
    assert member(frames[-2], "usage", "output_tokens") == 7


@pytest.mark.spec("XLT-129")
def test_the_start_shows_the_real_input_when_it_is_known() -> None:
    known = Start("up", "m", Usage(fresh_input=12, cache_read=3, output=1))
    usage = member(written([known, END])[0], "message", "usage")
    assert usage == {
        "input_tokens": 12,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 3,
        "output_tokens": 0,
    }


@pytest.mark.spec("XLT-129", "XLT-34")
def test_even_an_answer_without_a_start_opens_and_ends() -> None:
    assert kinds(written([END])) == ["message_start", "message_delta", "message_stop"]


@pytest.mark.spec("XLT-131", "XLT-189")
def test_no_empty_text_block_is_opened_and_a_call_makes_the_stop_tool_use() -> None:
    """B-038: an empty text before a call, with a plain stop."""
    frames = written([START, *block(0, "text", "\n "), *call(1, "c", "f"), END])
    assert [each["type"] for each in starts(frames)] == ["tool_use"]
    assert member(frames[1], "index") == 0
    assert member(frames[-2], "delta", "stop_reason") == "tool_use"


@pytest.mark.spec("XLT-131")
def test_leading_blanks_wait_for_real_text() -> None:
    frames = written([START, *block(0, "text", "\n", " ", "x", " "), END])
    deltas = [member(frame, "delta", "text") for frame in frames[2:4]]
    assert deltas == ["\n x", " "]


@pytest.mark.spec("XLT-189")
def test_a_tool_stop_without_a_call_is_a_plain_end() -> None:
    frames = written([START, *block(0, "text", "x"), End(Stop(StopReason.TOOL_USE), None)])
    assert member(frames[-2], "delta", "stop_reason") == "end_turn"


@pytest.mark.spec("XLT-190")
def test_a_call_that_the_limit_cut_is_dropped_and_whole_ones_stay() -> None:
    events = [START, *call(0, "a", "f", '{"x":1}'), *call(1, "b", "g", '{"path": "/et')]
    frames = written([*events, End(Stop(StopReason.MAX_TOKENS), None)])
    assert [each["name"] for each in starts(frames)] == ["f"]
    assert member(frames[-2], "delta", "stop_reason") == "max_tokens"


@pytest.mark.spec("XLT-157")
def test_unreadable_arguments_are_mended_when_the_answer_went_on() -> None:
    events = [START, *call(0, "a", "f", '{"x":1,}'), *block(1, "text", "and"), END]
    frames = written(events)
    assert arguments(frames) == [{"x": 1}]
    stops = [frame["index"] for frame in frames if frame["type"] == "content_block_stop"]
    assert stops == [0, 1]


@pytest.mark.spec("XLT-123")
def test_a_call_without_arguments_gets_the_empty_object() -> None:
    assert arguments(written([START, *call(0, "a", "f"), END])) == [{}]


@pytest.mark.spec("XLT-125")
def test_long_arguments_come_in_slices_that_add_up() -> None:
    text = json.dumps({"text": "ä" * 40_000}, ensure_ascii=False)
    frames = written([START, *call(0, "a", "f", text), END])
    assert arguments(frames) == [json.loads(text)]
    parts = [f for f in frames if f["type"] == "content_block_delta"]
    assert len(parts) > 1
    assert all(len(str(member(part, "delta", "partial_json"))) <= 16 * 1024 for part in parts)


@pytest.mark.spec("XLT-179")
def test_call_ids_are_legal_and_unique_within_the_answer() -> None:
    frames = written([START, *call(0, "call:1", "f"), *call(1, "call:1", "g"), END])
    ids = [str(each["id"]) for each in starts(frames)]
    assert len(set(ids)) == 2
    assert all(each.replace("_", "").replace("-", "").isalnum() for each in ids)
    again = written([START, *call(0, ids[0], "f"), END])
    assert starts(again)[0]["id"] == ids[0]


@pytest.mark.spec("XLT-130", "XLT-29")
def test_reasoning_is_shown_with_its_own_signature_only() -> None:
    own = ProviderState(WireFamily.ANTHROPIC, "signature", "c2ln")
    other = ProviderState(WireFamily.GEMINI, "signature", "bm8=")
    for state, count in ((own, 1), (other, 0)):
        opening: list[Event] = [BlockOpen(0, "thinking"), BlockDelta(0, "hm")]
        frames = written([START, *opening, BlockState(0, state), BlockClose(0), END])
        assert starts(frames) == [{"type": "thinking", "thinking": "", "signature": ""}]
        deltas = [member(f, "delta") for f in frames if f["type"] == "content_block_delta"]
        assert {"type": "thinking_delta", "thinking": "hm"} in deltas
        assert deltas.count({"type": "signature_delta", "signature": "c2ln"}) == count


@pytest.mark.spec("XLT-130")
def test_redacted_thinking_is_one_complete_block() -> None:
    events: list[Event] = [START, BlockOpen(0, "redacted_thinking", data="xx"), BlockClose(0), END]
    assert starts(written(events)) == [{"type": "redacted_thinking", "data": "xx"}]


@pytest.mark.spec("XLT-147")
def test_upstream_pings_are_consumed() -> None:
    assert kinds(written([START, Ping(), END])) == kinds(written([START, END]))


@pytest.mark.spec("XLT-132")
def test_usage_that_comes_late_is_in_the_final_delta() -> None:
    """B-025: usage on a frame after the finish."""
    late = UsageSeen(Usage(fresh_input=9, output=4))
    frames = written([START, *block(0, "text", "x"), late, End(Stop(StopReason.END_TURN), None)])
    assert member(frames[-2], "usage", "output_tokens") == 4


@pytest.mark.spec("XLT-36")
def test_a_failure_is_one_error_frame_and_no_end() -> None:
    """B-044: a stream that dies after text."""
    failure = Failure(UpstreamError(529, "server_error", "", "busy"))
    frames = written([START, *block(0, "text", "x"), failure, END])
    assert kinds(frames)[-1] == "error"
    assert member(frames[-1], "error") == {"type": "overloaded_error", "message": "busy"}
    assert "message_stop" not in kinds(frames)


@pytest.mark.spec("XLT-36")
def test_fail_writes_once_and_never_after_an_end() -> None:
    error = ClientError(ErrorKind.TIMEOUT, "too late", request_id="r1")
    encoder = MessagesStreamEncoder(context())
    encoder.feed([START])
    assert frames_of(encoder.fail(error)) == [
        {
            "type": "error",
            "error": {"type": "timeout_error", "message": "too late"},
            "request_id": "r1",
        }
    ]
    assert encoder.fail(error) == b""
    done = MessagesStreamEncoder(context())
    done.feed([START, END])
    assert done.fail(error) == b""


@pytest.mark.spec("XLT-188")
@pytest.mark.parametrize(
    ("reason", "name"),
    [
        (StopReason.REFUSAL, "refusal"),
        (StopReason.MAX_TOKENS, "max_tokens"),
        (StopReason.CONTEXT_FULL, "model_context_window_exceeded"),
        (StopReason.PAUSE, "pause_turn"),
        (StopReason.MALFORMED, "end_turn"),
    ],
)
def test_other_stops_keep_their_reason(reason: StopReason, name: str) -> None:
    frames = written([START, *block(0, "text", "x"), End(Stop(reason, "END"), None)])
    assert frames[-2]["delta"] == {"stop_reason": name, "stop_sequence": "END"}


events_of_any_order = st.lists(
    st.one_of(
        st.just(START),
        st.builds(
            BlockOpen,
            st.integers(0, 3),
            st.sampled_from(["text", "thinking", "redacted_thinking", "tool_use", "refusal"]),
            st.text(max_size=3),
            st.text(max_size=3),
            st.text(max_size=3),
        ),
        st.builds(BlockDelta, st.integers(0, 3), st.text(max_size=4)),
        st.builds(BlockClose, st.integers(0, 3)),
        st.just(Ping()),
        st.builds(UsageSeen, st.builds(Usage, st.integers(0, 9))),
    ),
    max_size=14,
)


@pytest.mark.spec("XLT-124", "XLT-225")
@given(events_of_any_order, st.sampled_from(list(StopReason)))
def test_whatever_comes_blocks_are_sequential(events: list[Event], reason: StopReason) -> None:
    frames = written([*events, End(Stop(reason), None)])
    assert kinds(frames)[0] == "message_start"
    assert kinds(frames)[-2:] == ["message_delta", "message_stop"]
    open_index, next_index = None, 0
    for frame in frames[1:-2]:
        if frame["type"] == "content_block_start":
            assert open_index is None
            assert frame["index"] == next_index
            open_index = next_index
        else:
            assert frame["index"] == open_index
        if frame["type"] == "content_block_stop":
            open_index, next_index = None, next_index + 1
    assert open_index is None
