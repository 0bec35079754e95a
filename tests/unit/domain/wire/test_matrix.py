"""Every client dialect with every upstream dialect, through the canonical model."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import pytest

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.assemble import Assembler
from services.domain.wire.assemble import events_of as told_by
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import (
    End,
    Failure,
    Media,
    Response,
    Target,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from tests.unit.domain.wire import anthropic_cases, openai_chat_cases
from tests.unit.domain.wire.anthropic_cases import Json, context, frame, start, text_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.model import Block, Event, Request

A, O = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT  # noqa: E741 - the names of the matrix
FAMILIES = (A, O)
CROSS = [(A, O), (O, A)]
ALL = [(client, upstream) for client in FAMILIES for upstream in FAMILIES]

REQUESTS: dict[WireFamily, Json] = {
    A: {
        "model": "m",
        "max_tokens": 300,
        "system": "Be kind.",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look é"},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
                    },
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "c1", "name": "f", "input": {"n": 2**70}},
                    {"type": "tool_use", "id": "c2", "name": "g", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": []},
                    {"type": "text", "text": "and now?"},
                ],
            },
        ],
        "tools": [
            {"name": "f", "description": "F.", "input_schema": {"type": "object"}},
            {"name": "g", "description": "G.", "input_schema": {"type": "object"}},
        ],
        "tool_choice": {"type": "any"},
    },
    O: {
        "model": "m",
        "max_tokens": 300,
        "messages": [
            {"role": "system", "content": "Be kind."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look é"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                ],
            },
            {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "f", "arguments": json.dumps({"n": 2**70})},
                    },
                    {"id": "c2", "type": "function", "function": {"name": "g", "arguments": ""}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "one"},
            {"role": "tool", "tool_call_id": "c2", "content": ""},
            {"role": "user", "content": "and now?"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {"name": name, "description": text, "parameters": {"type": "object"}},
            }
            for name, text in (("f", "F."), ("g", "G."))
        ],
        "tool_choice": "required",
    },
}


def target(family: WireFamily) -> Target:
    return Target(family, "acme", "routed-model", "upstream", ModelFacts())


def essence(request: Request) -> list[object]:
    """Return what must survive any translation, in no dialect."""
    found: list[object] = [block.text for block in request.system]
    for turn in request.turns:
        for block in turn.blocks:
            match block:
                case Text(text=words):
                    found.append((turn.role.value, words))
                case Media(data=data):
                    found.append((turn.role.value, data))
                case ToolUse(call_id=call_id, name=name, arguments=arguments):
                    found.append((call_id, name, json.loads(arguments or b"{}")))
                case ToolResult(call_id=call_id, blocks=blocks):
                    texts = [b.text for b in blocks if isinstance(b, Text) and b.text]
                    found.append((call_id, texts))
                case _:
                    found.append(block)
    found.extend((t.name, t.description, json.loads(t.schema)) for t in request.tools)
    return [*found, request.tool_choice.mode, request.limits.max_output_tokens]


@pytest.mark.spec("XLT-2")
@pytest.mark.parametrize(("client", "upstream"), ALL)
def test_a_request_arrives_in_the_upstreams_words(client: WireFamily, upstream: WireFamily) -> None:
    request = codec_for(client).decode_request(json.dumps(REQUESTS[client]).encode())
    encoded = codec_for(upstream).encode_request(request, target(upstream))
    assert json.loads(encoded.body)["model"] == "upstream"
    arrived = codec_for(upstream).decode_request(encoded.body)
    assert essence(arrived) == essence(request)
    again = codec_for(upstream).encode_request(request, target(upstream))
    assert again.body == encoded.body


CHAT_BODY: Json = {
    "id": "chatcmpl-up",
    "object": "chat.completion",
    "model": "upstream-model",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "reasoning_content": "hm",
                "content": "Grüß Gott",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "f", "arguments": '{"a":1}'},
                    },
                    {"id": "c2", "type": "function", "function": {"name": "g", "arguments": ""}},
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {
        "prompt_tokens": 1000,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 900},
    },
}
CHAT_STREAM = (
    openai_chat_cases.frame({"role": "assistant", "content": ""})
    + openai_chat_cases.frame({"reasoning_content": "hm"})
    + openai_chat_cases.frame({"content": "Grüß "})
    + openai_chat_cases.frame({"content": "Gott"})
    + openai_chat_cases.call(0, "c1", name="f", arguments="")
    + openai_chat_cases.call(1, "c2", name="g", arguments="")
    + openai_chat_cases.call(0, None, arguments='{"a":')
    + openai_chat_cases.call(0, None, arguments="1}")
    + openai_chat_cases.frame({}, "tool_calls")
    + b"data: "
    + json.dumps({"id": "chatcmpl-up", "choices": [], "usage": CHAT_BODY["usage"]}).encode()
    + b"\n\n"
    + openai_chat_cases.DONE
)
MESSAGES_BODY: Json = {
    "id": "msg_up",
    "type": "message",
    "role": "assistant",
    "model": "upstream-model",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": ""},
        {"type": "text", "text": "Grüß Gott"},
        {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}},
        {"type": "tool_use", "id": "c2", "name": "g", "input": {}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 100, "cache_read_input_tokens": 900, "output_tokens": 7},
}
MESSAGES_STREAM = (
    start(input_tokens=100, cache_read_input_tokens=900)
    + anthropic_cases.opened(0, type="thinking", thinking="", signature="")
    + anthropic_cases.delta(0, type="thinking_delta", thinking="hm")
    + anthropic_cases.closed(0)
    + text_block(1, "Grüß ", "Gott")
    + anthropic_cases.tool_block(2, "c1", "f", '{"a":', "1}")
    + anthropic_cases.tool_block(3, "c2", "g")
    + anthropic_cases.ending("tool_use", output_tokens=7)
)
ANSWERS = {A: (MESSAGES_BODY, MESSAGES_STREAM), O: (CHAT_BODY, CHAT_STREAM)}


def events_of(family: WireFamily, chunks: Sequence[bytes]) -> list[Event]:
    decoder = codec_for(family).stream_decoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events + decoder.finish()


def assembled(events: Sequence[Event]) -> Response:
    assembler = Assembler()
    assembler.feed(events)
    assert assembler.response is not None
    return assembler.response


def bare(response: Response) -> Response:
    """Return an answer whose blocks have lost their source and the blanks of their arguments."""
    blocks: list[Block] = []
    for block in response.blocks:
        if isinstance(block, ToolUse):
            arguments = json.dumps(json.loads(block.arguments or b"{}")).encode()
            blocks.append(dataclasses.replace(block, arguments=arguments, raw=b""))
        elif isinstance(block, Text | Thinking):
            blocks.append(dataclasses.replace(block, raw=b""))
    return dataclasses.replace(response, blocks=tuple(blocks))


@pytest.mark.spec("XLT-114", "XLT-187", "XLT-225")
@pytest.mark.parametrize("upstream", FAMILIES)
def test_a_stream_and_a_whole_answer_say_the_same(upstream: WireFamily) -> None:
    body, stream = ANSWERS[upstream]
    whole = codec_for(upstream).decode_response(json.dumps(body).encode())
    assert bare(assembled(events_of(upstream, [stream]))) == bare(whole)


@pytest.mark.spec("XLT-114", "XLT-187", "XLT-225")
@pytest.mark.parametrize(("client", "upstream"), ALL)
def test_what_a_client_assembles_from_its_stream_is_the_whole_answer(
    client: WireFamily, upstream: WireFamily
) -> None:
    """B-022 and B-028: with the same usage in both."""
    body, stream = ANSWERS[upstream]
    whole = codec_for(upstream).decode_response(json.dumps(body).encode())
    answer = codec_for(client).encode_response(whole, context())
    encoder = codec_for(client).stream_encoder(context())
    sent = encoder.feed(events_of(upstream, [stream]))
    told = assembled(events_of(client, [sent]))
    assert bare(told) == bare(codec_for(client).decode_response(answer))


@pytest.mark.spec("XLT-116", "XLT-225")
@pytest.mark.parametrize(("client", "upstream"), CROSS)
def test_no_cut_of_the_upstream_is_visible_to_the_client(
    client: WireFamily, upstream: WireFamily
) -> None:
    """B-088 and B-089."""
    stream = ANSWERS[upstream][1]

    def sent(chunks: Sequence[bytes]) -> bytes:
        encoder = codec_for(client).stream_encoder(context())
        decoder = codec_for(upstream).stream_decoder()
        parts = [encoder.feed(decoder.feed(chunk)) for chunk in chunks]
        return b"".join([*parts, encoder.feed(decoder.finish())])

    whole = sent([stream])
    for at in range(1, len(stream), 3):
        assert sent([stream[:at], stream[at:]]) == whole


@pytest.mark.spec("XLT-113")
@pytest.mark.parametrize(("client", "upstream"), CROSS)
def test_the_upstreams_model_name_never_reaches_the_client(
    client: WireFamily, upstream: WireFamily
) -> None:
    body, stream = ANSWERS[upstream]
    whole = codec_for(upstream).decode_response(json.dumps(body).encode())
    assert b"upstream-model" not in codec_for(client).encode_response(whole, context())
    encoder = codec_for(client).stream_encoder(context())
    sent = encoder.feed(events_of(upstream, [stream]))
    assert b"upstream-model" not in sent
    assert b'"routed-model"' in sent


@pytest.mark.spec("XLT-36")
@pytest.mark.parametrize(("client", "upstream"), CROSS)
def test_a_cut_stream_ends_in_one_error_and_no_end(
    client: WireFamily, upstream: WireFamily
) -> None:
    """B-041, B-044: an answer that breaks off never looks complete."""
    stream = ANSWERS[upstream][1]
    events = events_of(upstream, [stream[: len(stream) // 2]])
    assert sum(isinstance(event, Failure) for event in events) == 1
    encoder = codec_for(client).stream_encoder(context())
    sent = encoder.feed(events)
    assert sent.count(b'"error":{') == 1
    assert b"message_stop" not in sent
    assert b"[DONE]" not in sent


@pytest.mark.spec("XLT-137", "XLT-148")
def test_overload_inside_a_messages_stream_stays_overload_for_a_chat_client() -> None:
    """B-047."""
    error = frame("error", error={"type": "overloaded_error", "message": "busy"})
    encoder = codec_for(O).stream_encoder(context())
    sent = encoder.feed(events_of(A, [start() + text_block(0, "x") + error]))
    assert sent.count(b'"code":"overloaded"') == 1
    assert b"[DONE]" not in sent


@pytest.mark.spec("XLT-183", "XLT-187")
def test_cached_tokens_of_a_chat_upstream_are_no_fresh_input() -> None:
    """B-023."""
    usage = {"prompt_tokens": 500, "completion_tokens": 7}
    usage_member = {**usage, "prompt_tokens_details": {"cached_tokens": 400}}
    body = json.dumps({**CHAT_BODY, "usage": usage_member}).encode()
    answer = json.loads(codec_for(A).encode_response(codec_for(O).decode_response(body), context()))
    assert answer["usage"]["input_tokens"] == 100
    assert answer["usage"]["cache_read_input_tokens"] == 400
    assert answer["usage"]["output_tokens"] == 7


@pytest.mark.spec("XLT-42")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_tap_and_the_decoder_read_the_same_usage_and_stop(family: WireFamily) -> None:
    observer = codec_for(family).observer()
    observer.feed(ANSWERS[family][1])
    observer.finish()
    last = events_of(family, [ANSWERS[family][1]])[-1]
    assert isinstance(last, End)
    assert observer.seen.has_terminal
    assert (observer.seen.usage, observer.seen.stop) == (last.usage, last.stop)
    assert observer.seen.tool_calls == 2


@pytest.mark.spec("XLT-114")
@pytest.mark.parametrize(("client", "upstream"), ALL)
def test_a_whole_answer_can_be_told_as_a_stream(client: WireFamily, upstream: WireFamily) -> None:
    """B-040: the start holds neither the stop nor the final usage."""
    whole = codec_for(upstream).decode_response(json.dumps(ANSWERS[upstream][0]).encode())
    events = told_by(whole)
    assert bare(assembled(events)) == bare(whole)
    encoder = codec_for(client).stream_encoder(context())
    first = encoder.feed(events[:1])
    assert b'"stop_reason":null' in first or b'"finish_reason":null' in first
    answer = codec_for(client).encode_response(whole, context())
    told = assembled(events_of(client, [first + encoder.feed(events[1:])]))
    assert bare(told) == bare(codec_for(client).decode_response(answer))
