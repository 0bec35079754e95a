from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.vocab import WireFamily
from services.domain.wire.anthropic import CODEC
from services.domain.wire.model import (
    Block,
    ClientError,
    ErrorKind,
    ProviderState,
    Refusal,
    Response,
    Stop,
    StopReason,
    Text,
    Thinking,
    ToolUse,
    UpstreamError,
    Usage,
    WireError,
)
from tests.unit.domain.wire.anthropic_cases import Json
from tests.unit.domain.wire.contexts import context

ANSWER: Json = {
    "id": "msg_up",
    "type": "message",
    "role": "assistant",
    "model": "upstream-model",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "text", "text": "Gut."},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"n": 2**70}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {
        "input_tokens": 3,
        "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 40,
        "cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 10},
        "output_tokens": 7,
        "server_tool_use": {"web_search_requests": 2},
    },
}


def encoded(*blocks: Block, stop: StopReason = StopReason.END_TURN, **more: Usage) -> Json:
    response = Response("up", "m", blocks, Stop(stop), more.get("usage"))
    answer: Json = json.loads(CODEC.encode_response(response, context()))
    return answer


def content(answer: Json) -> list[Json]:
    blocks = answer["content"]
    assert isinstance(blocks, list)
    return blocks


@pytest.mark.spec("XLT-183", "XLT-33")
def test_an_answer_is_read() -> None:
    response = CODEC.decode_response(json.dumps(ANSWER).encode())
    assert (response.id, response.model) == ("msg_up", "upstream-model")
    assert response.stop == Stop(StopReason.TOOL_USE)
    assert response.usage == Usage(3, 900, 40, 10, 7, 0, 2)
    call = response.blocks[2]
    assert isinstance(call, ToolUse)
    assert call.arguments == b'{"n": 1180591620717411303424}'


@pytest.mark.spec("XLT-113", "XLT-178", "XLT-183")
def test_an_answer_is_written_under_our_id_and_the_routed_model() -> None:
    response = CODEC.decode_response(json.dumps(ANSWER).encode())
    answer = json.loads(CODEC.encode_response(response, context()))
    assert (answer["id"], answer["model"], answer["type"]) == ("msg_1", "routed-model", "message")
    assert answer["usage"] == ANSWER["usage"]
    assert (answer["stop_reason"], answer["stop_sequence"]) == ("tool_use", None)
    assert answer["content"][0] == {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    assert answer["content"][2]["input"] == {"n": 2**70}


@pytest.mark.spec("XLT-115")
@pytest.mark.parametrize(
    "body",
    [
        b'{"type":"error","error":{"type":"overloaded_error","message":"x"}}',
        b'{"error":{"message":"x"}}',
        b"{}",
        b"<html>",
        b"",
        b'{"type":"message","content":"x"}',
    ],
)
def test_an_error_body_or_no_json_is_no_answer(body: bytes) -> None:
    with pytest.raises(WireError):
        CODEC.decode_response(body)


@pytest.mark.spec("XLT-189")
def test_the_stop_says_tool_use_exactly_when_a_call_is_shown() -> None:
    """B-037 and its opposite."""
    call = ToolUse("c", "f", b"{}")
    assert encoded(Text("a"), call)["stop_reason"] == "tool_use"
    assert encoded(Text("a"), stop=StopReason.TOOL_USE)["stop_reason"] == "end_turn"
    assert encoded(call, stop=StopReason.REFUSAL)["stop_reason"] == "refusal"


@pytest.mark.spec("XLT-190")
def test_a_call_that_the_limit_cut_is_dropped() -> None:
    calls = ToolUse("a", "f", b'{"x":1}'), ToolUse("b", "g", b'{"path": "/et')
    answer = encoded(*calls, stop=StopReason.MAX_TOKENS)
    assert [block["name"] for block in content(answer)] == ["f"]
    assert answer["stop_reason"] == "max_tokens"


@pytest.mark.spec("XLT-107", "XLT-131")
def test_blank_text_is_not_shown_and_a_refusal_is_text() -> None:
    answer = encoded(Text(" \n"), Refusal("no"), stop=StopReason.REFUSAL)
    assert content(answer) == [{"type": "text", "text": "no"}]


@pytest.mark.spec("XLT-29", "XLT-182")
def test_foreign_state_is_never_shown() -> None:
    thinking = Thinking("hm", (ProviderState(WireFamily.GEMINI, "signature", "x"),))
    assert content(encoded(thinking)) == [{"type": "thinking", "thinking": "hm", "signature": ""}]


@pytest.mark.spec("XLT-187")
def test_without_reported_usage_the_input_is_an_estimate() -> None:
    usage = encoded(Text("a"))["usage"]
    assert isinstance(usage, dict)
    assert (usage["input_tokens"], usage["output_tokens"]) == (11, 0)


@pytest.mark.spec("DSP-150", "XLT-205")
def test_errors_are_read_and_written_in_the_envelope() -> None:
    body = b'{"type":"error","error":{"type":"not_found_error","message":"model: x"}}'
    assert CODEC.decode_error(404, body) == UpstreamError(404, "not_found_error", "", "model: x")
    assert CODEC.decode_error(500, b"<html>") == UpstreamError(500)
    error = ClientError(ErrorKind.CONTEXT_TOO_LARGE, "too long", request_id="req")
    assert json.loads(CODEC.encode_error(error)) == {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "too long"},
        "request_id": "req",
    }
    frame = CODEC.encode_stream_error(error)
    assert frame == b"event: error\ndata: " + CODEC.encode_error(error) + b"\n\n"


@given(st.integers(400, 599), st.binary(max_size=60))
def test_any_error_body_is_read(status: int, body: bytes) -> None:
    assert CODEC.decode_error(status, body).http_status == status
