"""Answers of the Gemini dialect: whole ones, streams, and what an observer sees of them."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.vocab import WireFamily
from services.domain.wire.assemble import Assembler
from services.domain.wire.gemini import CODEC
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    ClientError,
    End,
    ErrorKind,
    Failure,
    Observation,
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
from tests.unit.domain.wire.contexts import context
from tests.unit.domain.wire.gemini_cases import (
    Json,
    answer,
    call,
    decoded,
    frame,
    frames_of,
    text,
    told,
)

if TYPE_CHECKING:
    from services.domain.wire.model import Event

USAGE: Json = {
    "promptTokenCount": 1000,
    "cachedContentTokenCount": 900,
    "toolUsePromptTokenCount": 10,
    "candidatesTokenCount": 7,
    "thoughtsTokenCount": 5,
    "totalTokenCount": 1022,
}
SIGNED = (ProviderState(WireFamily.GEMINI, "signature", "c2ln"),)


def whole(value: Json) -> Response:
    return CODEC.decode_response(json.dumps(value).encode())


def assembled(stream: bytes) -> Response:
    assembler = Assembler()
    assembler.feed(decoded(stream))
    assert assembler.response is not None
    return assembler.response


def failure(stream: bytes) -> Failure:
    last = decoded(stream)[-1]
    assert isinstance(last, Failure)
    return last


def observed(*parts: bytes) -> Observation:
    observer = CODEC.observer()
    for part in parts:
        observer.feed(part)
    observer.finish()
    return observer.seen


@pytest.mark.spec("XLT-111", "XLT-186")
def test_thoughts_text_and_calls_become_blocks() -> None:
    response = whole(
        answer(
            text("hm", thought=True),
            text("Grüß "),
            text("Gott"),
            call("f", {"n": 2**70}, thoughtSignature="c2ln"),
            call("g"),
            finish="STOP",
            usageMetadata=USAGE,
        )
    )
    first, second, third, fourth = response.blocks
    assert first == Thinking("hm")
    assert second == Text("Grüß Gott")
    assert isinstance(third, ToolUse)
    assert (third.name, third.state) == ("f", SIGNED)
    assert json.loads(third.arguments) == {"n": 2**70}
    assert isinstance(fourth, ToolUse)
    assert fourth.arguments == b"{}"
    assert third.call_id != fourth.call_id
    assert response.stop == Stop(StopReason.TOOL_USE)
    assert response.usage == Usage(110, 900, output=12, reasoning=5)


@pytest.mark.spec("XLT-63")
def test_the_signature_of_text_is_kept_as_a_thought_without_words() -> None:
    response = whole(
        answer(text("hi"), text("", thoughtSignature="c2ln"), finish="STOP"),
    )
    assert response.blocks == (Text("hi"), Thinking("", SIGNED))
    sent = json.loads(CODEC.encode_response(response, context()))
    assert sent["candidates"][0]["content"]["parts"][1] == text("", thoughtSignature="c2ln")


@pytest.mark.spec("XLT-188", "XLT-189")
@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("STOP", StopReason.END_TURN),
        ("NEW_ONE", StopReason.END_TURN),
        ("MAX_TOKENS", StopReason.MAX_TOKENS),
        ("SAFETY", StopReason.REFUSAL),
        ("BLOCKLIST", StopReason.REFUSAL),
        ("PROHIBITED_CONTENT", StopReason.REFUSAL),
        ("SPII", StopReason.REFUSAL),
        ("IMAGE_SAFETY", StopReason.REFUSAL),
        ("MALFORMED_FUNCTION_CALL", StopReason.MALFORMED),
    ],
)
def test_a_finish_is_what_it_is(finish: str, reason: StopReason) -> None:
    """B-094: blocked answers are no plain ends."""
    assert whole(answer(text("x"), finish=finish)).stop.reason is reason


@pytest.mark.spec("XLT-188")
def test_a_malformed_answer_without_output_is_a_failure() -> None:
    """B-095."""
    with pytest.raises(WireError, match="MALFORMED_FUNCTION_CALL"):
        whole(answer(finish="MALFORMED_FUNCTION_CALL"))
    assert failure(frame(finish="MALFORMED_FUNCTION_CALL")).error.http_status == 502
    seen = observed(frame(finish="MALFORMED_FUNCTION_CALL"))
    assert seen.error is not None
    assert seen.is_error_first
    assert not seen.refusal_seen


@pytest.mark.spec("XLT-111")
def test_a_blocked_prompt_is_a_refusal() -> None:
    blocked: Json = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": USAGE}
    assert whole(blocked).stop == Stop(StopReason.REFUSAL)
    assert assembled(told(blocked)) == whole(blocked)
    seen = observed(told(blocked))
    assert (seen.refusal_seen, seen.has_terminal, seen.has_output) == (True, True, True)


@pytest.mark.spec("XLT-115")
@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"nope", b'{"error":{"code":500}}', b'{"candidates":[]}', b"{}"],
)
def test_what_is_no_answer_is_refused(body: bytes) -> None:
    with pytest.raises(WireError):
        CODEC.decode_response(body)


@pytest.mark.spec("XLT-34", "XLT-36")
def test_a_stream_without_finish_ends_in_a_failure() -> None:
    assert failure(frame(text("x"))).error.vendor_code == "stream_incomplete"
    assert failure(b"").error.vendor_code == "stream_empty"
    broken = b"data: {nope\n\n" * 3
    assert failure(frame(text("x")) + broken).error.vendor_code == "stream_unreadable"
    error = told({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow"}})
    assert failure(frame(text("x")) + error).error.http_status == 429
    assert isinstance(decoded(frame(text("x"), finish="STOP") + error)[-1], End)


STREAM = (
    frame(text("h", thought=True), usageMetadata={"promptTokenCount": 1000})
    + frame(text("m", thought=True, thoughtSignature="c2ln"))
    + frame(text("Grü"))
    + frame(text("ß 𝒳"))
    + frame(call("f", {"a": 1, "b": "é"}, thoughtSignature="c2ln"), call("g"))
    + frame(text(""), finish="STOP", usageMetadata=USAGE)
)
WHOLE = answer(
    text("hm", thought=True, thoughtSignature="c2ln"),
    text("Grüß 𝒳"),
    call("f", {"a": 1, "b": "é"}, thoughtSignature="c2ln"),
    call("g"),
    finish="STOP",
    usageMetadata=USAGE,
)


def bare(response: Response) -> Response:
    blocks = tuple(
        ToolUse(b.call_id, b.name, json.dumps(json.loads(b.arguments)).encode(), state=b.state)
        if isinstance(b, ToolUse)
        else b
        for b in response.blocks
    )
    return Response(response.id, response.model, blocks, response.stop, response.usage)


@pytest.mark.spec("XLT-114", "XLT-121", "XLT-187")
def test_a_stream_and_a_whole_answer_say_the_same() -> None:
    assert bare(assembled(STREAM)) == bare(whole(WHOLE))


@pytest.mark.spec("XLT-116", "XLT-225")
@given(st.lists(st.integers(0, len(STREAM)), max_size=6))
def test_no_cut_is_visible(cuts: list[int]) -> None:
    at = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:stop] for start, stop in itertools.pairwise(at)]
    decoder = CODEC.stream_decoder()
    events = [event for piece in pieces for event in decoder.feed(piece)]
    assert [*events, *decoder.finish()] == decoded(STREAM)
    assert observed(*pieces) == observed(STREAM)


@pytest.mark.spec("XLT-119")
def test_a_surrogate_pair_in_two_frames_is_joined() -> None:
    stream = frame(text("a")) + b'data: {"candidates":[{"content":{"parts":[{"text":"\\ud835"}]}}]}'
    stream += b'\n\ndata: {"candidates":[{"content":{"parts":[{"text":"\\udcb3"}]}}]}\n\n'
    assert assembled(stream + frame(finish="STOP")).blocks == (Text("a𝒳"),)


@pytest.mark.spec("XLT-42")
def test_the_tap_reads_what_the_decoder_reads() -> None:
    seen, last = observed(STREAM), decoded(STREAM)[-1]
    assert isinstance(last, End)
    assert (seen.usage, seen.stop) == (last.usage, last.stop)
    assert (seen.has_terminal, seen.tool_calls, seen.error) == (True, 2, None)
    assert not observed(frame(text("x"))).has_terminal
    assert not observed(frame(usageMetadata=USAGE)).has_output


def test_a_second_candidate_needs_its_own_finish() -> None:
    second: Json = {"index": 1, "content": {"parts": [text("b")]}}
    open_stream = frame(text("a"), finish="STOP") + told({"candidates": [second]})
    assert not observed(open_stream).has_terminal
    closed: Json = {"candidates": [{**second, "finishReason": "MAX_TOKENS"}]}
    seen = observed(open_stream, told(closed))
    assert seen.has_terminal
    assert seen.stop == Stop(StopReason.END_TURN)
    assert assembled(open_stream).blocks == (Text("a"),)


@given(
    st.binary(max_size=200),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "candidates",
                        "content",
                        "parts",
                        "text",
                        "functionCall",
                        "error",
                        "usageMetadata",
                        "finishReason",
                        "promptFeedback",
                        "index",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ),
)
def test_no_bytes_raise(data: bytes, value: object) -> None:
    stream = b"data: " + data + b"\n\n" + b"data: " + json.dumps(value).encode() + b"\n\n"
    observed(stream)
    assert isinstance(decoded(stream)[-1], Failure | End)


@pytest.mark.spec("XLT-143")
def test_each_frame_is_an_answer_and_the_last_has_finish_and_usage() -> None:
    events = decoded(STREAM)
    frames = frames_of(CODEC.stream_encoder(context()).feed(events))
    assert {(f["modelVersion"], f["responseId"]) for f in frames} == {("routed-model", "1")}
    assert [f for f in frames if "usageMetadata" in f] == frames[-1:]
    assert frames[-1]["usageMetadata"] == {
        "promptTokenCount": 1010,
        "cachedContentTokenCount": 900,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 5,
        "totalTokenCount": 1022,
    }
    told_again = CODEC.stream_encoder(context()).feed(events)
    again = assembled(told_again)
    assert bare(again).blocks == bare(whole(WHOLE)).blocks


@pytest.mark.spec("XLT-143")
def test_thoughts_are_shown_only_to_who_asked() -> None:
    events = decoded(STREAM)
    sent = CODEC.stream_encoder(context(is_reasoning_wanted=False)).feed(events)
    assert b'"thought":true' not in sent
    answer_sent = CODEC.encode_response(whole(WHOLE), context(is_reasoning_wanted=False))
    assert b'"thought":true' not in answer_sent
    assert bare(assembled(sent)).blocks == bare(CODEC.decode_response(answer_sent)).blocks


@pytest.mark.spec("XLT-190")
def test_a_call_that_the_limit_cut_is_not_shown() -> None:
    cut = Stop(StopReason.MAX_TOKENS)
    blocks = (ToolUse("a", "f", b"{}"), ToolUse("b", "g", b'{"x":'))
    sent = json.loads(CODEC.encode_response(Response("", "", blocks, cut, None), context()))
    assert len(sent["candidates"][0]["content"]["parts"]) == 1
    events: list[Event] = [
        Start("", ""),
        BlockOpen(0, "tool_use", "a", "f"),
        BlockClose(0),
        BlockOpen(1, "tool_use", "b", "g"),
        BlockDelta(1, '{"x":'),
        BlockClose(1),
        End(cut, None),
    ]
    assert CODEC.stream_encoder(context()).feed(events).count(b"functionCall") == 1
    plain: list[Event] = [*events[:-1], End(Stop(StopReason.TOOL_USE), None)]
    assert CODEC.stream_encoder(context()).feed(plain).count(b"functionCall") == 2


def test_a_refusal_is_text_with_a_policy_stop() -> None:
    response = Response("", "", (Refusal("no"),), Stop(StopReason.REFUSAL), None)
    sent = CODEC.encode_response(response, context())
    assert CODEC.decode_response(sent).blocks == (Text("no"),)
    assert b'"finishReason":"SAFETY"' in sent


@pytest.mark.spec("XLT-144", "XLT-36")
def test_a_failure_is_one_frame_and_nothing_comes_after() -> None:
    encoder = CODEC.stream_encoder(context())
    sent = encoder.feed(decoded(frame(text("x"))))
    error = frames_of(sent)[-1]["error"]
    assert isinstance(error, dict)
    assert (error["code"], error["status"]) == (502, "UNAVAILABLE")
    assert encoder.fail(ClientError(ErrorKind.INTERNAL, "late")) == b""
    assert encoder.feed([End(Stop(StopReason.END_TURN), None)]) == b""


@pytest.mark.spec("XLT-192", "XLT-193", "XLT-198", "XLT-204")
@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (ClientError(ErrorKind.INVALID_REQUEST, "m"), 400, "INVALID_ARGUMENT"),
        (
            ClientError(ErrorKind.INVALID_REQUEST, "m", code="NO_ELIGIBLE_PROVIDER"),
            400,
            "FAILED_PRECONDITION",
        ),
        (ClientError(ErrorKind.AUTHENTICATION, "m"), 401, "UNAUTHENTICATED"),
        (ClientError(ErrorKind.RATE_LIMIT, "m"), 429, "RESOURCE_EXHAUSTED"),
        (ClientError(ErrorKind.OVERLOADED, "m"), 503, "UNAVAILABLE"),
        (ClientError(ErrorKind.CONTEXT_TOO_LARGE, "m"), 413, "INVALID_ARGUMENT"),
    ],
)
def test_the_envelope(error: ClientError, code: int, status: str) -> None:
    told_error = json.loads(CODEC.encode_error(error))["error"]
    assert told_error == {"code": code, "message": "m", "status": status, "details": []}


def test_an_upstream_error_is_read_in_every_form() -> None:
    body = {
        "error": {
            "code": 400,
            "message": "API key AIzaSyA1234567890abc is bad",
            "status": "INVALID_ARGUMENT",
            "details": [
                {"reason": "API_KEY_INVALID"},
                {"fieldViolations": [{"field": "contents[0]"}]},
            ],
        }
    }
    for raw in (json.dumps(body), json.dumps([body])):
        error = CODEC.decode_error(400, raw.encode())
        assert (error.http_status, error.vendor_type) == (400, "INVALID_ARGUMENT")
        assert (error.vendor_code, error.param) == ("API_KEY_INVALID", "contents[0]")
        assert "AIza" not in error.message
    assert CODEC.decode_error(503, b"<html>").http_status == 503
    assert CODEC.decode_error(500, b'{"error":"x"}').message == "x"
