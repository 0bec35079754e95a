"""Upstream streams and whole answers become the same canonical answer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.domain.vocab import WireFamily
from services.domain.wire.assemble import Assembler
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    End,
    Event,
    Failure,
    ProviderState,
    Refusal,
    Response,
    Start,
    Stop,
    StopReason,
    Text,
    Thinking,
    ToolUse,
    Usage,
    WireError,
)
from services.domain.wire.openai_responses import CODEC
from tests.unit.domain.wire.openai_responses_cases import (
    CREATED,
    Json,
    answer,
    call,
    decoded,
    event,
    said,
    terminal,
    thought,
)

R = WireFamily.OPENAI_RESPONSES
USAGE = {
    "input_tokens": 1000,
    "input_tokens_details": {"cached_tokens": 900},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 3},
}


def words(index: int, *texts: str, item_id: str = "msg_1") -> bytes:
    place = {"item_id": item_id, "output_index": index, "content_index": 0}
    whole = "".join(texts)
    item = {**said("assistant", whole), "id": item_id}
    return (
        event("output_item.added", output_index=index, item={**item, "content": []})
        + event("content_part.added", **place, part={"type": "output_text", "text": ""})
        + b"".join(event("output_text.delta", **place, delta=each) for each in texts)
        + event("output_text.done", **place, text=whole)
        + event("output_item.done", output_index=index, item=item)
    )


def called(index: int, call_id: str, name: str, *parts: str) -> bytes:
    item = call(call_id, name, "".join(parts), id=f"fc_{index}")
    place = {"item_id": f"fc_{index}", "output_index": index}
    return (
        event("output_item.added", output_index=index, item={**item, "arguments": ""})
        + b"".join(event("function_call_arguments.delta", **place, delta=p) for p in parts)
        + event("function_call_arguments.done", **place, arguments="".join(parts))
        + event("output_item.done", output_index=index, item=item)
    )


def reasoned(index: int, *parts: str, state: str = "enc") -> bytes:
    item = thought(state, *parts)
    frames = [event("output_item.added", output_index=index, item=thought())]
    for at, part in enumerate(parts):
        place = {"item_id": "rs_1", "output_index": index, "summary_index": at}
        frames += [
            event("reasoning_summary_text.delta", **place, delta=part[:2]),
            event("reasoning_summary_text.delta", **place, delta=part[2:]),
            event("reasoning_summary_text.done", **place, text=part),
        ]
    return b"".join([*frames, event("output_item.done", output_index=index, item=item)])


OUTPUT = [
    thought("enc", "plan", "more"),
    said("assistant", "Grüß Gott 😀"),
    call("c1", "f", '{"a":1}'),
    call("c2", "g", ""),
]
STREAM = (
    CREATED
    + event("in_progress", response=answer("in_progress"))
    + reasoned(0, "plan", "more")
    + words(1, "Grüß ", "Gott 😀")
    + called(2, "c1", "f", '{"a":', "1}")
    + called(3, "c2", "g")
    + terminal(*OUTPUT, usage=USAGE)
)
BLOCKS = (
    Thinking("plan\n\nmore", (ProviderState(R, "encrypted", "enc", item_id="rs_1"),)),
    Text("Grüß Gott 😀"),
    ToolUse("c1", "f", b'{"a":1}'),
    ToolUse("c2", "g", b"{}"),
)


def assembled(*chunks: bytes) -> Response:
    assembler = Assembler()
    assembler.feed(decoded(*chunks))
    assert assembler.response is not None
    return assembler.response


def whole(told: Json) -> Response:
    return CODEC.decode_response(json.dumps(told).encode())


def failure(*chunks: bytes) -> Failure:
    events = decoded(*chunks)
    assert isinstance(events[-1], Failure)
    assert not any(isinstance(each, End) for each in events)
    assert sum(isinstance(each, Failure) for each in events) == 1
    return events[-1]


def failed(code: str) -> bytes:
    return terminal(status="failed", error={"code": code, "message": "x"})


def cut(reason: str) -> bytes:
    return terminal(status="incomplete", incomplete_details={"reason": reason})


def bare(**members: object) -> bytes:
    return b"data: " + json.dumps({"message": "m", **members}).encode() + b"\n\n"


def is_sequential(events: list[Event]) -> bool:
    """Return whether one block at a time is open and indexes rise from 0."""
    opened: int | None = None
    count = 0
    for each in events:
        if isinstance(each, BlockOpen):
            if opened is not None or each.index != count:
                return False
            opened, count = each.index, count + 1
        elif isinstance(each, BlockDelta | BlockClose) and each.index != opened:
            return False
        elif isinstance(each, BlockClose):
            opened = None
    return opened is None


@pytest.mark.spec("XLT-110", "XLT-114", "XLT-185", "XLT-187", "XLT-225")
def test_a_stream_and_a_whole_answer_say_the_same() -> None:
    expected = Response(
        "resp_up",
        "upstream-model",
        BLOCKS,
        Stop(StopReason.TOOL_USE),
        Usage(100, cache_read=900, output=7, reasoning=3),
    )
    assert whole(answer("completed", *OUTPUT, usage=USAGE)) == expected
    assert assembled(STREAM) == expected
    assert is_sequential(decoded(STREAM))


@pytest.mark.spec("XLT-116", "XLT-225")
def test_no_cut_is_visible() -> None:
    """B-088 and B-089."""
    expected = assembled(STREAM)
    for at in range(1, len(STREAM), 7):
        assert assembled(STREAM[:at], STREAM[at:]) == expected
    assert assembled(*(STREAM[at : at + 1] for at in range(len(STREAM)))) == expected


@pytest.mark.spec("XLT-124", "XLT-31")
def test_items_that_are_told_in_turns_come_one_after_another() -> None:
    deltas = [
        event("output_item.added", output_index=0, item={**said("assistant"), "id": "m"}),
        event("output_item.added", output_index=1, item=call("c1", "f", "", id="fc")),
        event("output_text.delta", output_index=0, content_index=0, delta="a"),
        event("function_call_arguments.delta", output_index=1, delta="{}"),
        event("output_item.done", output_index=1, item=call("c1", "f", "{}", id="fc")),
        event("output_text.delta", output_index=0, content_index=0, delta="b"),
        event("output_item.done", output_index=0, item=said("assistant", "ab")),
    ]
    events = decoded(CREATED, *deltas, terminal())
    assert is_sequential(events)
    assembler = Assembler()
    assembler.feed(events)
    assert assembler.response is not None
    assert assembler.response.blocks == (Text("ab"), ToolUse("c1", "f", b"{}"))


@pytest.mark.spec("XLT-117", "XLT-123")
@pytest.mark.parametrize(
    "frames",
    [
        [event("output_text.delta", item_id="m", output_index=0, content_index=0, delta="hi")],
        [event("output_text.delta", delta="h"), event("output_text.delta", delta="i")],
        [event("output_text.done", item_id="m", output_index=0, content_index=0, text="hi")],
        [event("output_item.done", output_index=0, item=said("assistant", "hi"))],
        [event("output_text.delta", delta="h"), event("output_text.done", text="hi")],
        [],
    ],
)
def test_an_opening_that_never_came_is_made_up_for(frames: list[bytes]) -> None:
    found = assembled(CREATED, *frames, terminal(said("assistant", "hi")))
    assert found.blocks == (Text("hi"),)


@pytest.mark.spec("XLT-117")
def test_events_and_items_that_are_not_known_are_passed_over() -> None:
    searched = {"type": "web_search_call", "id": "ws", "status": "completed"}
    found = assembled(
        b": comment\n\n",
        CREATED,
        event("output_item.added", output_index=0, item=searched),
        event("web_search_call.searching", output_index=0, item_id="ws"),
        event("output_item.done", output_index=0, item=searched),
        words(1, "hi"),
        b"data: not json\n\n",
        terminal(searched, said("assistant", "hi")),
    )
    assert found.blocks == (Text("hi"),)
    assert whole(answer("completed", searched, said("assistant", "hi"))) == found


@pytest.mark.spec("XLT-84")
def test_custom_and_namespaced_calls_come_as_flat_functions() -> None:
    custom = {"type": "custom_tool_call", "id": "ctc", "call_id": "c1", "name": "patch"}
    spaced = call("c2", "find", "{}", namespace="crm")
    stream = [
        CREATED,
        event("output_item.added", output_index=0, item={**custom, "input": ""}),
        event("custom_tool_call_input.delta", output_index=0, item_id="ctc", delta='a"'),
        event("custom_tool_call_input.delta", output_index=0, item_id="ctc", delta="b"),
        event("output_item.done", output_index=0, item={**custom, "input": 'a"b'}),
        event("output_item.done", output_index=1, item=spaced),
        terminal({**custom, "input": 'a"b'}, spaced),
    ]
    blocks = (ToolUse("c1", "patch", b'{"input":"a\\"b"}'), ToolUse("c2", "crm__find", b"{}"))
    assert assembled(*stream).blocks == blocks
    assert whole(answer("completed", {**custom, "input": 'a"b'}, spaced)).blocks == blocks


@pytest.mark.spec("XLT-142", "XLT-188", "XLT-190")
@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("max_output_tokens", StopReason.MAX_TOKENS),
        ("content_filter", StopReason.REFUSAL),
    ],
)
def test_a_cut_answer_keeps_its_reason_and_loses_half_a_call(reason: str, stop: StopReason) -> None:
    members: Json = {"incomplete_details": {"reason": reason}}
    items = [
        said("assistant", "hi"),
        call("c1"),
        {**call("c2", "g", '{"a'), "status": "incomplete"},
    ]
    streamed = assembled(
        CREATED,
        words(0, "hi"),
        called(1, "c1", "f", "{}"),
        called(2, "c2", "g", '{"a'),
        terminal(*items, status="incomplete", **members),
    )
    assert streamed == whole(answer("incomplete", *items, **members))
    assert streamed.stop == Stop(stop)
    is_kept = stop is StopReason.REFUSAL
    assert len([b for b in streamed.blocks if isinstance(b, ToolUse)]) == 1 + is_kept


@pytest.mark.spec("XLT-107", "XLT-188")
def test_a_refusal_is_a_block_and_a_stop_of_its_own() -> None:
    part = {"type": "refusal", "refusal": "no"}
    item = {"type": "message", "role": "assistant", "content": [part]}
    found = assembled(
        CREATED,
        event("refusal.delta", output_index=0, content_index=0, delta="n"),
        event("refusal.done", output_index=0, content_index=0, refusal="no"),
        event("output_item.done", output_index=0, item=item),
        terminal(item),
    )
    assert found == whole(answer("completed", item))
    assert (found.blocks, found.stop.reason) == ((Refusal("no"),), StopReason.REFUSAL)


@pytest.mark.spec("XLT-110")
def test_state_without_a_summary_is_kept() -> None:
    found = assembled(CREATED, reasoned(0), words(1, "x"), terminal())
    assert found.blocks[0] == Thinking("", (ProviderState(R, "encrypted", "enc", item_id="rs_1"),))


@pytest.mark.spec("XLT-36", "XLT-141", "XLT-142")
@pytest.mark.parametrize(
    ("frames", "status", "code"),
    [
        ([failed("server_error")], 500, "server_error"),
        ([failed("rate_limit_exceeded")], 429, "rate_limit_exceeded"),
        ([CREATED, terminal(status="failed", error=None)], 502, ""),
        ([CREATED, cut("other")], 502, "incomplete"),
        ([CREATED, event("completed", response=answer("cancelled"))], 502, ""),
        ([bare(type="error", code="server_is_overloaded")], 503, "server_is_overloaded"),
        ([bare(error={"code": "context_length_exceeded"})], 400, "context_length_exceeded"),
        ([CREATED, words(0, "hi")], 502, "stream_incomplete"),
        ([CREATED, b"data: [DONE]\n\n"], 502, "stream_incomplete"),
        ([], 502, "stream_empty"),
        ([CREATED, *[b"data: {\n\n"] * 3], 502, "stream_unreadable"),
    ],
)
def test_a_failed_answer_is_one_failure_and_never_an_empty_one(
    frames: list[bytes], status: int, code: str
) -> None:
    """B-043."""
    error = failure(*frames).error
    assert (error.http_status, error.vendor_code) == (status, code)


@pytest.mark.spec("XLT-115", "XLT-142")
@pytest.mark.parametrize(
    "told",
    [
        {"error": {"message": "x"}},
        answer("failed", error={"code": "server_error", "message": "x"}),
        answer("incomplete", incomplete_details={"reason": "other"}),
        answer("in_progress"),
        {"id": "x", "choices": []},
    ],
)
def test_a_whole_body_that_is_no_answer_is_refused(told: Json) -> None:
    with pytest.raises(WireError):
        whole(told)
    with pytest.raises(WireError):
        CODEC.decode_response(b"[]")
    with pytest.raises(WireError):
        CODEC.decode_response(b"<html>")


@pytest.mark.spec("XLT-119", "XLT-33")
def test_halves_of_a_surrogate_pair_are_joined() -> None:
    halves = [
        b'data: {"type":"response.output_text.delta","output_index":0,"delta":"a\\ud83d"}\n\n',
        b'data: {"type":"response.output_text.delta","output_index":0,"delta":"\\ude00"}\n\n',
    ]
    assert assembled(CREATED, *halves, terminal()).blocks == (Text("a😀"),)


def test_the_start_names_the_upstreams_answer() -> None:
    assert decoded(CREATED)[0] == Start("resp_up", "upstream-model")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["type", "id", "text", "content", "summary", "arguments", "name"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
NAMES = st.sampled_from(
    [
        "created",
        "output_item.added",
        "output_item.done",
        "output_text.delta",
        "output_text.done",
        "reasoning_summary_text.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "refusal.done",
        "completed",
        "incomplete",
    ]
)
ITEMS = JSON | st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "reasoning", "function_call", "custom_tool_call"])},
    optional={
        "id": JSON,
        "content": JSON,
        "summary": JSON,
        "name": st.text(max_size=3),
        "arguments": JSON,
    },
)
FRAMES = st.builds(
    lambda name, members: event(name, **members),
    NAMES,
    st.fixed_dictionaries(
        {},
        optional={
            "output_index": st.integers(0, 3) | JSON,
            "content_index": JSON,
            "item_id": JSON,
            "item": ITEMS,
            "delta": JSON,
            "text": JSON,
            "response": JSON | st.fixed_dictionaries({"output": st.lists(ITEMS, max_size=3)}),
        },
    ),
)


@settings(max_examples=40)
@given(st.lists(FRAMES | st.binary(max_size=12), max_size=8))
@pytest.mark.spec("XLT-225", "XLT-34")
def test_any_stream_ends_in_one_end_or_one_failure(frames: list[bytes]) -> None:
    events = decoded(*frames)
    assert sum(isinstance(each, End | Failure) for each in events) == 1
    assert isinstance(events[-1], End | Failure)
    assert isinstance(events[-1], Failure) or is_sequential(events)
    observer = CODEC.observer()
    for frame in frames:
        observer.feed(frame)
    observer.finish()
    assert observer.seen.has_terminal or isinstance(events[-1], Failure)
