"""What a Responses client gets: frames in the order of the dialect, and whole answers alike."""

from __future__ import annotations

import dataclasses
import json

import pytest

from services.domain.vocab import WireFamily
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
    ProviderState,
    Refusal,
    Response,
    Start,
    Stop,
    StopReason,
    Text,
    Thinking,
    ToolUse,
    UpstreamError,
    Usage,
)
from services.domain.wire.openai_responses import CODEC
from services.domain.wire.state.requests import opened
from tests.unit.domain.wire.contexts import context
from tests.unit.domain.wire.openai_responses_cases import (
    CUSTOM,
    NAMESPACE,
    Json,
    encoded,
    frames_of,
    request,
    said,
)

A = WireFamily.ANTHROPIC
SIGNED = ProviderState(A, "signature", "sig")
STOP = Stop(StopReason.TOOL_USE)
EVENTS: list[Event] = [
    Start("m", "upstream-model"),
    BlockOpen(0, "thinking"),
    BlockDelta(0, "hm"),
    BlockState(0, SIGNED),
    BlockClose(0),
    BlockOpen(1, "text"),
    BlockDelta(1, "h"),
    BlockDelta(1, "i"),
    BlockClose(1),
    BlockOpen(2, "tool_use", "c1", "f"),
    BlockDelta(2, '{"x":'),
    BlockDelta(2, "1}"),
    BlockClose(2),
    BlockOpen(3, "tool_use", "c2", "g"),
    BlockClose(3),
    BlockOpen(4, "text"),
    BlockDelta(4, "bye"),
    BlockClose(4),
    End(STOP, Usage(10, cache_read=90, output=7, reasoning=3)),
]
ANSWER = Response(
    "m",
    "upstream-model",
    (
        Thinking("hm", (SIGNED,)),
        Text("hi"),
        ToolUse("c1", "f", b'{"x":1}'),
        ToolUse("c2", "g", b""),
        Text("bye"),
    ),
    STOP,
    Usage(10, cache_read=90, output=7, reasoning=3),
)


def types(frames: list[Json]) -> list[str]:
    return [str(frame["type"]).removeprefix("response.") for frame in frames]


def last_of(frames: list[Json]) -> Json:
    told = frames[-1]["response"]
    assert isinstance(told, dict)
    return told


def anonymous(items: object) -> list[Json]:
    """Return items without their ids."""
    assert isinstance(items, list)
    return [{key: value for key, value in item.items() if key != "id"} for item in items]


@pytest.mark.spec("XLT-124", "XLT-125", "XLT-138", "XLT-139")
def test_items_come_one_after_another_and_are_numbered_throughout() -> None:
    """B-011: each call has a place of its own."""
    frames = encoded(EVENTS)
    call = [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
    ]
    text = ["output_item.added", "content_part.added", "output_text.delta"]
    ended = ["output_text.done", "content_part.done", "output_item.done"]
    assert types(frames) == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        *text,
        "output_text.delta",
        *ended,
        *call,
        *call,
        *text,
        *ended,
        "completed",
    ]
    assert [frame["sequence_number"] for frame in frames] == list(range(len(frames)))
    places = [f["output_index"] for f in frames if f["type"] == "response.output_item.added"]
    assert places == [0, 1, 2, 3, 4]
    done = [f["item"] for f in frames if f["type"] == "response.output_item.done"]
    assert last_of(frames)["output"] == done
    prefixes = [item["id"].partition("_")[0] for item in done if isinstance(item, dict)]
    assert prefixes == ["rs", "msg", "fc", "fc", "msg"]


@pytest.mark.spec("XLT-68", "XLT-109", "XLT-114", "XLT-185", "XLT-225")
def test_the_streams_last_answer_is_the_whole_one() -> None:
    """B-016 and B-017: no arguments are the empty object."""
    whole = json.loads(CODEC.encode_response(ANSWER, context()))
    streamed = last_of(encoded(EVENTS))
    assert anonymous(streamed["output"]) == anonymous(whole["output"])
    assert {**streamed, "id": 0, "output": 0} == {**whole, "id": 0, "output": 0}
    assert whole["output"][3]["arguments"] == "{}"
    assert whole["usage"] == {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 90, "cache_write_tokens": 0},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 107,
    }


@pytest.mark.spec("XLT-113", "XLT-140")
def test_the_answer_has_every_member_that_clients_read() -> None:
    frames = encoded(EVENTS)
    first = frames[0]["response"]
    assert isinstance(first, dict)
    wanted = (
        "id object created_at status model output error incomplete_details instructions metadata "
        "parallel_tool_calls temperature top_p tool_choice tools usage"
    )
    for told in (first, last_of(frames)):
        assert set(wanted.split()) <= told.keys()
        assert told["model"] == "routed-model"
    assert (first["status"], first["usage"], first["output"]) == ("in_progress", None, [])


@pytest.mark.spec("XLT-109")
def test_foreign_state_comes_back_through_the_client_untouched() -> None:
    output = json.loads(CODEC.encode_response(ANSWER, context()))["output"]
    turn = opened(request(input=[said("user", "a"), *output])).turns[1]
    thinking = turn.blocks[0]
    assert isinstance(thinking, Thinking)
    assert (thinking.text, thinking.state) == ("hm", (SIGNED,))
    redacted = ProviderState(A, "redacted", "blob")
    told = encoded(
        [
            Start("m", "u"),
            BlockOpen(0, "redacted_thinking", data="blob"),
            BlockState(0, redacted),
            BlockClose(0),
            End(STOP, None),
        ]
    )
    items = anonymous(last_of(told)["output"])
    again = opened(request(input=[said("user", "a"), *items])).turns[1]
    assert isinstance(again.blocks[0], Thinking)
    assert again.blocks[0].state == (redacted,)


@pytest.mark.spec("XLT-84")
def test_custom_and_namespaced_calls_are_told_as_the_client_declared_them() -> None:
    tools = request(tools=[CUSTOM, NAMESPACE]).tools
    blocks = (
        ToolUse("c1", "patch", b'{"input":"a\\"b"}'),
        ToolUse("c2", "crm__find", b'{"q":1}'),
    )
    whole = json.loads(CODEC.encode_response(_answer(blocks), context(tools)))
    custom, spaced = whole["output"]
    assert (custom["type"], custom["name"], custom["input"]) == ("custom_tool_call", "patch", 'a"b')
    assert custom["id"].startswith("ctc_")
    assert (spaced["name"], spaced["namespace"]) == ("find", "crm")
    frames = encoded(_call("patch", '{"input":"x"}'), tools)
    assert types(frames)[2:6] == [
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
    ]
    assert frames[3]["delta"] == "x"


@pytest.mark.spec("XLT-84")
@pytest.mark.parametrize("arguments", ['{"input":1}', '{"input":"a","b":1}', '"x"', "{"])
def test_a_malformed_call_of_a_custom_tool_fails_the_answer(arguments: str) -> None:
    tools = request(tools=[CUSTOM]).tools
    frames = encoded(_call("patch", arguments), tools)
    assert types(frames)[-1] == "failed"
    assert types(frames).count("failed") == 1
    blocks = (ToolUse("c1", "patch", arguments.encode()),)
    whole = json.loads(CODEC.encode_response(_answer(blocks), context(tools)))
    assert (whole["status"], whole["output"]) == ("failed", [])
    assert whole["error"]["code"] == last_of(frames)["error"]["code"]  # type: ignore[index]  # JSON


def _answer(blocks: tuple[ToolUse, ...]) -> Response:
    return dataclasses.replace(ANSWER, blocks=blocks)


def _call(name: str, arguments: str) -> list[Event]:
    opened: list[Event] = [Start("m", "u"), BlockOpen(0, "tool_use", "c1", name)]
    return [*opened, BlockDelta(0, arguments), BlockClose(0), End(STOP, None)]


@pytest.mark.spec("XLT-188", "XLT-190")
@pytest.mark.parametrize(
    ("reason", "status", "cut"),
    [
        (StopReason.END_TURN, "completed", None),
        (StopReason.STOP_SEQUENCE, "completed", None),
        (StopReason.PAUSE, "completed", None),
        (StopReason.MAX_TOKENS, "incomplete", "max_output_tokens"),
        (StopReason.CONTEXT_FULL, "incomplete", "max_output_tokens"),
        (StopReason.REFUSAL, "incomplete", "content_filter"),
        (StopReason.MALFORMED, "failed", None),
    ],
)
def test_stops_have_a_status_and_a_reason(reason: StopReason, status: str, cut: str | None) -> None:
    told = last_of(encoded([Start("m", "u"), End(Stop(reason), None)]))
    details = told["incomplete_details"]
    assert (told["status"], details) == (status, None if cut is None else {"reason": cut})
    assert (told["error"] is not None) is (status == "failed")


@pytest.mark.spec("XLT-190")
def test_half_a_call_at_the_limit_is_not_shown() -> None:
    events = _call("f", '{"a')[:-1]
    assert last_of(encoded([*events, End(Stop(StopReason.MAX_TOKENS), None)]))["output"] == []
    kept = last_of(encoded([*events, End(STOP, None)]))["output"]
    assert isinstance(kept, list)
    assert kept[0]["arguments"] == '{"a'


def test_a_refusal_is_a_message_with_a_part_of_its_own() -> None:
    frames = encoded(
        [
            Start("m", "u"),
            BlockOpen(0, "refusal"),
            BlockDelta(0, "no"),
            BlockClose(0),
            End(Stop(StopReason.REFUSAL), None),
        ]
    )
    assert last_of(frames)["status"] == "completed"
    blocks = (Refusal("no"),)
    response = Response("m", "u", blocks, Stop(StopReason.REFUSAL), None)
    whole = json.loads(CODEC.encode_response(response, context()))
    assert anonymous(whole["output"]) == anonymous(last_of(frames)["output"])


@pytest.mark.spec("XLT-36", "XLT-141")
def test_a_failure_closes_what_is_open_and_ends_the_answer() -> None:
    """B-107: there is always a terminal frame, and only one."""
    error = UpstreamError(503, message="busy")
    encoder = CODEC.stream_encoder(context())
    frames = frames_of(encoder.feed([*EVENTS[:7], Failure(error)]))
    assert types(frames)[-4:] == [
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "failed",
    ]
    told = last_of(frames)
    assert told["error"] == {"code": "unavailable", "message": "busy"}
    assert encoder.fail(ClientError(ErrorKind.INTERNAL, "x")) == b""
    assert encoder.feed(EVENTS) == b""
    early = frames_of(CODEC.stream_encoder(context()).fail(ClientError(ErrorKind.INTERNAL, "x")))
    assert types(early) == ["created", "in_progress", "failed"]


@pytest.mark.spec("XLT-141", "XLT-205", "XLT-206")
def test_errors_have_the_envelope_of_the_vendor_and_mask_keys() -> None:
    error = ClientError(ErrorKind.RATE_LIMIT, "slow down sk-abcdefgh123", param="p")
    assert json.loads(CODEC.encode_error(error)) == {
        "error": {
            "message": "slow down ***",
            "type": "rate_limit_error",
            "param": "p",
            "code": "rate_limit_exceeded",
        }
    }
    (frame,) = frames_of(CODEC.encode_stream_error(error))
    assert frame["type"] == "response.failed"
    told = last_of([frame])
    assert (told["status"], told["error"]) == (
        "failed",
        {"code": "rate_limit_exceeded", "message": "slow down ***"},
    )


@pytest.mark.spec("XLT-205")
@pytest.mark.parametrize(
    "told",
    [
        {"error": {"code": "slow_down", "message": "busy"}},
        {"type": "error", "code": "slow_down", "message": "busy", "param": None},
        {"type": "error", "error": {"code": "slow_down", "message": "busy"}},
        {
            "type": "response.failed",
            "response": {"error": {"code": "slow_down", "message": "busy"}},
        },
    ],
)
def test_upstream_errors_are_read_in_all_their_forms(told: Json) -> None:
    found = CODEC.decode_error(503, json.dumps(told).encode())
    assert found == UpstreamError(503, vendor_code="slow_down", message="busy")
    for odd in (b"<html>", b"[]", b"null", b'"x"'):
        assert CODEC.decode_error(500, odd).http_status == 500


@pytest.mark.spec("XLT-145")
def test_a_stream_with_numbers_of_its_own_gets_a_comment_to_keep_it_alive() -> None:
    assert CODEC.keepalive == b": keepalive\n\n"
