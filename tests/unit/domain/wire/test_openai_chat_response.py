from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.wire.model import (
    BlockDelta,
    BlockOpen,
    ClientError,
    End,
    ErrorKind,
    Refusal,
    Response,
    Stop,
    StopReason,
    Text,
    Thinking,
    ToolUse,
    Usage,
    WireError,
)
from services.domain.wire.openai_chat.error import decode_error, encode_error, encode_stream_error
from services.domain.wire.openai_chat.response import decode_response, encode_response
from tests.unit.domain.wire.contexts import context
from tests.unit.domain.wire.openai_chat_cases import DONE, decoded, frame

USAGE = {
    "prompt_tokens": 500,
    "completion_tokens": 7,
    "prompt_tokens_details": {"cached_tokens": 400},
}


def answer(message: object, finish: str | None = "stop", **extra: object) -> bytes:
    body = {
        "id": "chatcmpl-up",
        "model": "upstream-model",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        **extra,
    }
    return json.dumps(body).encode()


CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}


@pytest.mark.spec("XLT-107", "XLT-184")
def test_an_answer_with_everything_decodes() -> None:
    message = {
        "role": "assistant",
        "reasoning_content": "hm",
        "content": [{"type": "text", "text": "hi"}],
        "refusal": None,
        "tool_calls": [CALL],
    }
    assert decode_response(answer(message, "tool_calls", usage=USAGE)) == Response(
        id="chatcmpl-up",
        model="upstream-model",
        blocks=(Thinking("hm"), Text("hi"), ToolUse("a", "f", b'{"x": 1}')),
        stop=Stop(StopReason.TOOL_USE),
        usage=Usage(fresh_input=100, cache_read=400, output=7),
    )


@pytest.mark.spec("XLT-107")
def test_the_legacy_call_and_null_calls_decode() -> None:
    legacy = {"content": None, "tool_calls": None, "function_call": {"name": "f", "arguments": ""}}
    (block,) = decode_response(answer(legacy, "function_call")).blocks
    assert isinstance(block, ToolUse)
    assert (block.name, block.arguments) == ("f", b"{}")
    assert block.call_id.startswith("call_")


def test_two_calls_with_one_id_stay_two_calls() -> None:
    blocks = decode_response(answer({"tool_calls": [CALL, CALL]}, "tool_calls")).blocks
    ids = [block.call_id for block in blocks if isinstance(block, ToolUse)]
    assert ids[0] == "a"
    assert len(set(ids)) == 2


@pytest.mark.spec("XLT-115")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"error":{"message":"no"}}',
        b'{"choices":[]}',
        b'{"choices":null}',
        b'{"choices":[{}]}',
    ],
)
def test_what_is_no_answer_is_refused(body: bytes) -> None:
    with pytest.raises(WireError):
        decode_response(body)


@pytest.mark.spec("XLT-108", "XLT-113")
def test_texts_are_joined_without_separator_and_no_text_is_null() -> None:
    response = Response(
        "id",
        "up",
        (Thinking("t"), Text("a"), Text("b"), ToolUse("c", "f", b"")),
        Stop(StopReason.TOOL_USE),
        None,
    )
    body = json.loads(encode_response(response, context()))
    assert body["model"] == "routed-model"
    (choice,) = body["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] == "ab"
    assert choice["message"]["reasoning_content"] == "t"
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "f", "arguments": "{}"}
    silent = Response("id", "up", (), Stop(StopReason.END_TURN), None)
    assert (
        json.loads(encode_response(silent, context()))["choices"][0]["message"]["content"] is None
    )


_words = st.text(min_size=1, max_size=8)
_arguments = st.dictionaries(_words, st.integers() | _words, max_size=3).map(
    lambda value: json.dumps(value).encode()
)


@st.composite
def _responses(draw: st.DrawFn) -> Response:
    blocks: list[Thinking | Text | Refusal | ToolUse] = []
    if draw(st.booleans()):
        blocks.append(Thinking(draw(_words)))
    if draw(st.booleans()):
        blocks.append(Text(draw(_words)))
    if draw(st.booleans()):
        blocks.append(Refusal(draw(_words)))
    has_refusal = any(isinstance(block, Refusal) for block in blocks)
    calls = draw(st.lists(_arguments, max_size=3))
    blocks += [ToolUse(f"c{number}", "f", raw) for number, raw in enumerate(calls)]
    quiet = StopReason.REFUSAL if has_refusal else StopReason.END_TURN
    done = StopReason.TOOL_USE if calls else quiet
    reason = draw(st.sampled_from([done, StopReason.MAX_TOKENS]))
    usage = Usage(
        draw(st.integers(0, 9)), draw(st.integers(0, 9)), draw(st.integers(1, 9)), output=3
    )
    return Response("chatcmpl-1", "routed-model", tuple(blocks), Stop(reason), usage)


@pytest.mark.spec("XLT-30")
@given(_responses())
def test_what_is_encoded_decodes_to_the_same_answer(response: Response) -> None:
    assert decode_response(encode_response(response, context())) == response


@pytest.mark.spec("XLT-187")
@given(_responses())
def test_a_stream_gives_what_the_whole_answer_gives(response: Response) -> None:
    body = json.loads(encode_response(response, context()))
    choice = body["choices"][0]
    message = choice["message"]
    calls = [{"index": at, **one} for at, one in enumerate(message.get("tool_calls", []))]
    parts = [
        frame({"reasoning_content": message.get("reasoning_content")}),
        frame({"content": message["content"]}),
        frame({"refusal": message["refusal"]}),
        *[frame({"tool_calls": [one]}) for one in calls],
        frame({}, choice["finish_reason"]),
        frame(None, choices=[], usage=body["usage"]),
        DONE,
    ]
    events = decoded(b"".join(parts))
    last = events[-1]
    assert last == End(response.stop, response.usage)
    kinds = [event.kind for event in events if isinstance(event, BlockOpen)]
    wanted = {Thinking: "thinking", Text: "text", Refusal: "refusal", ToolUse: "tool_use"}
    assert kinds == [wanted[type(block)] for block in response.blocks if type(block) in wanted]
    said = [event.text for event in events if isinstance(event, BlockDelta)]
    assert said == [
        block.arguments.decode() if isinstance(block, ToolUse) else block.text
        for block in response.blocks
        if isinstance(block, ToolUse | Text | Thinking | Refusal)
    ]


@given(st.binary(max_size=100))
def test_no_body_raises_anything_else(body: bytes) -> None:
    decode_error(500, body)
    try:
        decode_response(body)
    except WireError:
        return


@pytest.mark.parametrize(
    ("body", "kind", "code", "message"),
    [
        (
            b'{"error":{"message":"m","type":"t","param":"p","code":"c"}}',
            "t",
            "c",
            "m",
        ),
        (b'{"error":{"message":"m","type":null,"code":429}}', "", "429", "m"),
        (b'{"error":"m"}', "", "", "m"),
        (b'[{"error":{"message":"m"}}]', "", "", "m"),
        (b'{"detail":"m"}', "", "", "m"),
        (b"<html>", "", "", "upstream request failed"),
    ],
)
def test_upstream_errors_say_what_they_can(body: bytes, kind: str, code: str, message: str) -> None:
    error = decode_error(418, body)
    assert (error.http_status, error.vendor_type, error.vendor_code, error.message) == (
        418,
        kind,
        code,
        message,
    )


@pytest.mark.spec("DSP-151")
def test_errors_have_the_four_members() -> None:
    error = ClientError(ErrorKind.UPSTREAM, "upstream stream failed")
    whole = {
        "error": {
            "message": "upstream stream failed",
            "type": "server_error",
            "param": None,
            "code": "upstream_error",
        }
    }
    assert json.loads(encode_error(error)) == whole
    assert encode_stream_error(error) == b"data: " + encode_error(error) + b"\n\n"


@pytest.mark.spec("XLT-188", "XLT-189")
def test_a_filter_behind_a_refusal_and_a_call_is_no_plain_stop() -> None:
    refused = Stop(StopReason.REFUSAL)
    blocks = (Refusal("no"), ToolUse("c", "f", b"{}"))
    for said, finish in ((blocks, "content_filter"), (blocks[:1], "stop")):
        body = json.loads(encode_response(Response("id", "up", said, refused, None), context()))
        assert body["choices"][0]["finish_reason"] == finish
