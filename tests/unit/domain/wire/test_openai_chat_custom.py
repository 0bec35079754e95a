"""Custom tools of chat clients: elsewhere functions of one text, and calls in their form again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from services.domain.wire.custom_tools import MalformedCallError
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    End,
    Response,
    Start,
    Stop,
    StopReason,
    ToolChoice,
    ToolUse,
    WireError,
)
from services.domain.wire.openai_chat import CODEC
from tests.unit.domain.wire.contexts import context
from tests.unit.domain.wire.flows import A, G, O, R, at, frames_of, sent, target
from tests.unit.domain.wire.openai_chat_cases import DONE, decoded, frame

if TYPE_CHECKING:
    from services.domain.vocab import WireFamily
    from services.domain.wire.model import Event, Request

GRAMMAR = {"syntax": "lark", "definition": "start: WORD"}
PATCH = {
    "name": "patch",
    "description": "Edits files.",
    "format": {"type": "grammar", "grammar": GRAMMAR},
}
CHOSEN = {"type": "custom", "custom": {"name": "patch"}}
ASK = {"role": "user", "content": "go"}
ASKED = {
    "messages": [ASK],
    "tools": [{"type": "custom", "custom": PATCH}],
    "tool_choice": CHOSEN,
}
STOP = Stop(StopReason.TOOL_USE)


def request(**members: object) -> Request:
    return CODEC.decode_request(json.dumps({"model": "m", **ASKED, **members}).encode())


@pytest.mark.spec("XLT-84")
@pytest.mark.parametrize(
    ("upstream", "place", "schema"),
    [
        (A, ("tools", 0), "input_schema"),
        (R, ("tools", 0), "parameters"),
        (G, ("tools", 0, "functionDeclarations", 0), "parameters"),
    ],
)
def test_a_custom_tool_is_a_function_of_one_text_elsewhere(
    upstream: WireFamily, place: tuple[str | int, ...], schema: str
) -> None:
    body = sent(O, ASKED, upstream)
    assert at(body, *place, "name") == "patch"
    words = "Edits files.\n\nThe input must obey this lark grammar:\nstart: WORD"
    assert at(body, *place, "description") == words
    assert at(body, *place, schema, "properties") == {"input": {"type": "string"}}


@pytest.mark.spec("XLT-84", "XLT-86")
def test_a_custom_tool_can_be_chosen() -> None:
    assert request().tool_choice == ToolChoice("named", name="patch")
    allowed = {"mode": "required", "tools": [CHOSEN]}
    choice = request(tool_choice={"type": "allowed_tools", "allowed_tools": allowed}).tool_choice
    assert (choice.mode, choice.names, choice.is_call_required) == ("allowed", ("patch",), True)
    assert sent(O, ASKED, A)["tool_choice"] == {"type": "tool", "name": "patch"}


@pytest.mark.spec("XLT-30", "XLT-84")
def test_a_request_that_is_written_again_keeps_its_custom_tools() -> None:
    called = {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "a b"}}
    turns = [
        ASK,
        {"role": "assistant", "content": None, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ]
    body = json.loads(CODEC.encode_request(request(messages=turns), target(O)).body)
    assert (body["tools"], body["tool_choice"]) == (ASKED["tools"], CHOSEN)
    assert body["messages"][1]["tool_calls"] == [called]


@pytest.mark.spec("XLT-84")
def test_a_custom_tool_without_a_name_is_refused_by_its_path() -> None:
    with pytest.raises(WireError, match=r"tools\[0\]\.custom\.name"):
        request(tools=[{"type": "custom", "custom": {"name": ""}}])


def _called(arguments: str, stop: Stop = STOP) -> list[Event]:
    opening = BlockOpen(0, "tool_use", "c1", "patch")
    deltas: list[Event] = [BlockDelta(0, part) for part in (arguments[:3], arguments[3:]) if part]
    return [Start("m", "u"), opening, *deltas, BlockClose(0), End(stop, None)]


@pytest.mark.spec("XLT-84", "XLT-134")
def test_a_call_comes_back_as_the_client_declared_its_tool() -> None:
    where = context(request().tools)
    told = {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": 'a"b'}}
    arguments = '{"input":"a\\"b"}'
    answer = Response("m", "u", (ToolUse("c1", "patch", arguments.encode()),), STOP, None)
    whole = json.loads(CODEC.encode_response(answer, where))
    assert at(whole, "choices", 0, "message", "tool_calls") == [told]
    frames = frames_of(CODEC.stream_encoder(where).feed(_called(arguments)))
    calls = [at(each, "choices", 0, "delta", "tool_calls") for each in frames]
    assert [each for each in calls if each is not None] == [[{"index": 0, **told}]]
    assert at(frames, -3, "choices", 0, "finish_reason") == "tool_calls"


@pytest.mark.spec("XLT-84", "XLT-137")
@pytest.mark.parametrize("arguments", ['{"input":1}', '{"input":"a","b":1}', '"x"', "{", ""])
def test_a_malformed_call_of_a_custom_tool_fails_the_answer(arguments: str) -> None:
    where = context(request().tools)
    raw = CODEC.stream_encoder(where).feed(_called(arguments))
    assert at(frames_of(raw), -1, "error", "code") == "upstream_error"
    assert raw.count(b'"error"') == 1
    assert DONE not in raw
    call = ToolUse("c1", "patch", arguments.encode())
    with pytest.raises(MalformedCallError):
        CODEC.encode_response(Response("m", "u", (call,), STOP, None), where)


@pytest.mark.spec("XLT-84", "XLT-137")
def test_a_call_of_a_custom_tool_that_a_limit_cut_is_left_out_and_the_limit_told() -> None:
    where, cut = context(request().tools), Stop(StopReason.MAX_TOKENS)
    frames = frames_of(CODEC.stream_encoder(where).feed(_called('{"input":"a', cut)))
    assert at(frames, -3, "choices", 0, "finish_reason") == "length"
    call = ToolUse("c1", "patch", b'{"input":"a')
    whole = json.loads(CODEC.encode_response(Response("m", "u", (call,), cut, None), where))
    assert at(whole, "choices", 0, "finish_reason") == "length"
    for shown in [*(each["choices"] for each in frames[:-1]), whole["choices"]]:
        assert "tool_calls" not in json.dumps(shown)


@pytest.mark.spec("XLT-84", "XLT-122", "XLT-190")
def test_a_call_of_a_custom_tool_is_read_streamed_and_whole() -> None:
    told = {"name": "patch", "input": '{"x":'}
    head = {"index": 0, "id": "c1", "type": "custom", "custom": {"name": "patch", "input": ""}}
    more = [{"index": 0, "custom": {"input": words}} for words in ('{"', 'x":')]
    begun = b"".join(frame({"tool_calls": [part]}) for part in [head, *more])
    stream = begun + frame({}, "tool_calls") + DONE
    opened = [event for event in decoded(stream) if isinstance(event, BlockOpen | BlockDelta)]
    assert opened == [
        BlockOpen(0, "tool_use", "c1", "patch"),
        BlockDelta(0, '{"input":"{\\"x\\":"}'),
    ]
    message = {"tool_calls": [{"id": "c1", "type": "custom", "custom": told}]}
    body = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    whole = CODEC.decode_response(json.dumps(body).encode())
    assert whole.blocks == (ToolUse("c1", "patch", b'{"input":"{\\"x\\":"}'),)
    cut = begun + frame({}, "length") + DONE
    assert not any(isinstance(event, BlockOpen) for event in decoded(cut))
    body["choices"][0]["finish_reason"] = "length"
    assert CODEC.decode_response(json.dumps(body).encode()).blocks == ()


@pytest.mark.spec("DSP-182", "XLT-42")
def test_the_text_of_a_custom_call_is_progress() -> None:
    observer = CODEC.observer()
    head = {"index": 0, "id": "c1", "type": "custom", "custom": {"name": "patch", "input": ""}}
    observer.feed(frame({"tool_calls": [head]}))
    assert (observer.seen.has_output, observer.seen.tool_calls) == (True, 1)
    before = observer.seen.output_events
    observer.feed(frame({"tool_calls": [{"index": 0, "custom": {"input": "abc"}}]}))
    assert (observer.seen.output_events, observer.seen.output_chars) == (before + 1, 8)
