"""The Gemini dialect with the other dialects, in both directions, through the canonical model."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import pytest

from services.domain.catalog import ModelFacts
from services.domain.wire import anthropic, gemini, openai_chat
from services.domain.wire.assemble import Assembler
from services.domain.wire.assemble import events_of as told_by
from services.domain.wire.model import (
    Failure,
    Media,
    Response,
    Target,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from tests.unit.domain.wire.gemini_cases import Json, answer, call, context, frame, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.contract import Codec
    from services.domain.wire.model import Block, Event, Request

OTHERS: list[Codec] = [anthropic.CODEC, openai_chat.CODEC]
ALL = [*OTHERS, gemini.CODEC]
USAGE: Json = {"promptTokenCount": 1000, "cachedContentTokenCount": 900, "candidatesTokenCount": 7}
CALLS = (call("f", {"a": 1}, thoughtSignature="c2lnbmVk"), call("g"))
BODY = json.dumps(
    answer(text("hm", thought=True), text("Grüß Gott"), *CALLS, finish="STOP", usageMetadata=USAGE)
).encode()
STREAM = (
    frame(text("hm", thought=True))
    + frame(text("Grüß "))
    + frame(text("Gott"))
    + frame(*CALLS)
    + frame(finish="STOP", usageMetadata=USAGE)
)
REQUEST = json.dumps(
    {
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "contents": [
            {
                "role": "user",
                "parts": [
                    {"text": "look é"},
                    {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                ],
            },
            {
                "role": "model",
                "parts": [
                    {"text": "I look."},
                    {
                        "functionCall": {"id": "c1", "name": "f", "args": {"n": 2**70}},
                        "thoughtSignature": "c2lnbmVk",
                    },
                    {"functionCall": {"id": "c2", "name": "g", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "c1", "name": "f", "response": {"result": "one"}}},
                    {"functionResponse": {"id": "c2", "name": "g", "response": {"result": ""}}},
                    {"text": "and now?"},
                ],
            },
        ],
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "f", "description": "F.", "parameters": {"type": "object"}},
                    {"name": "g", "description": "G.", "parameters": {"type": "object"}},
                ]
            }
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
        "generationConfig": {"maxOutputTokens": 300},
    }
).encode()


def target(codec: Codec) -> Target:
    return Target(codec.family, "acme", "routed-model", "upstream", ModelFacts())


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
    return [*found, request.tool_choice.mode]


def events_of(codec: Codec, chunks: Sequence[bytes]) -> list[Event]:
    decoder = codec.stream_decoder()
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
        else:
            blocks.append(block)
    return dataclasses.replace(response, blocks=tuple(blocks))


@pytest.mark.spec("XLT-2", "XLT-220", "XLT-182")
@pytest.mark.parametrize("other", OTHERS)
def test_a_request_says_the_same_there_and_back(other: Codec) -> None:
    """B-017: no state of the vendor reaches another."""
    request = gemini.CODEC.decode_request(REQUEST)
    there = other.encode_request(request, target(other)).body
    assert b"c2lnbmVk" not in there
    assert essence(other.decode_request(there)) == essence(request)
    back = gemini.CODEC.encode_request(other.decode_request(there), target(gemini.CODEC)).body
    assert essence(gemini.CODEC.decode_request(back)) == essence(request)


@pytest.mark.spec("XLT-114", "XLT-187", "XLT-225")
@pytest.mark.parametrize("client", ALL)
def test_what_a_client_assembles_from_its_stream_is_the_whole_answer(client: Codec) -> None:
    whole = client.encode_response(gemini.CODEC.decode_response(BODY), context())
    sent = client.stream_encoder(context()).feed(events_of(gemini.CODEC, [STREAM]))
    told = bare(assembled(events_of(client, [sent])))
    assert told == bare(client.decode_response(whole))
    if client is not gemini.CODEC:
        assert b"c2lnbmVk" not in whole + sent


@pytest.mark.spec("XLT-113", "XLT-116", "XLT-225")
@pytest.mark.parametrize("client", OTHERS)
def test_no_cut_and_no_alias_is_visible_to_the_client(client: Codec) -> None:
    def sent(chunks: Sequence[bytes]) -> bytes:
        return client.stream_encoder(context()).feed(events_of(gemini.CODEC, chunks))

    whole = sent([STREAM])
    assert b"upstream-model" not in whole
    for at in range(1, len(STREAM), 7):
        assert sent([STREAM[:at], STREAM[at:]]) == whole


@pytest.mark.spec("XLT-114", "XLT-186")
@pytest.mark.parametrize("upstream", OTHERS)
def test_a_gemini_client_reads_any_upstream(upstream: Codec) -> None:
    answer_there = upstream.encode_response(gemini.CODEC.decode_response(BODY), context())
    whole = upstream.decode_response(answer_there)
    sent = gemini.CODEC.stream_encoder(context()).feed(told_by(whole))
    plain = gemini.CODEC.decode_response(gemini.CODEC.encode_response(whole, context()))
    assert bare(assembled(events_of(gemini.CODEC, [sent]))) == bare(plain)
    assert plain.stop == whole.stop
    assert plain.usage is not None
    assert whole.usage is not None
    assert (plain.usage.fresh_input, plain.usage.cache_read, plain.usage.output) == (100, 900, 7)
    assert [type(block) for block in plain.blocks] == [type(block) for block in whole.blocks]


@pytest.mark.spec("XLT-36")
@pytest.mark.parametrize("client", OTHERS)
def test_a_cut_stream_ends_in_one_error_and_no_end(client: Codec) -> None:
    events = events_of(gemini.CODEC, [STREAM[: len(STREAM) // 2]])
    assert sum(isinstance(event, Failure) for event in events) == 1
    sent = client.stream_encoder(context()).feed(events)
    assert sent.count(b'"error":{') == 1
    assert b"message_stop" not in sent
    assert b"[DONE]" not in sent
