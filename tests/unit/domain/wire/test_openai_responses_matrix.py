"""Responses clients with every upstream dialect, and Responses upstreams with every client's."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import pytest

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire import anthropic, openai_chat, openai_responses
from services.domain.wire.assemble import events_of
from services.domain.wire.model import Failure, Target, Thinking
from tests.unit.domain.wire.openai_responses_cases import (
    Json,
    answer,
    call,
    context,
    result,
    said,
    thought,
)
from tests.unit.domain.wire.test_matrix import ANSWERS, REQUESTS, assembled, bare, essence
from tests.unit.domain.wire.test_openai_responses_stream import (
    STREAM,
    USAGE,
    called,
    reasoned,
)

if TYPE_CHECKING:
    from services.domain.wire.contract import Codec
    from services.domain.wire.model import Event, Response

A, O = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT  # noqa: E741 - the names of the matrix
R = WireFamily.OPENAI_RESPONSES
CODECS: dict[WireFamily, Codec] = {
    A: anthropic.CODEC,
    O: openai_chat.CODEC,
    R: openai_responses.CODEC,
}
IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,aGk="}
REQUEST: Json = {
    "model": "m",
    "max_output_tokens": 300,
    "instructions": "Be kind.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "look é"}, IMAGE]},
        said("assistant", "I look."),
        call("c1", "f", json.dumps({"n": 2**70})),
        call("c2", "g", ""),
        result("c1", "one"),
        result("c2", ""),
        said("user", "and now?"),
    ],
    "tools": [
        {"type": "function", "name": name, "description": text, "parameters": {"type": "object"}}
        for name, text in (("f", "F."), ("g", "G."))
    ],
    "tool_choice": "required",
}
ALL_REQUESTS: dict[WireFamily, Json] = {A: REQUESTS[A], O: REQUESTS[O], R: REQUEST}
OUTPUT = [
    {**thought("", "hm"), "id": ""},
    said("assistant", "Grüß Gott"),
    call("c1", "f", '{"a":1}'),
    call("c2", "g", ""),
]
ALL_ANSWERS: dict[WireFamily, tuple[Json, bytes]] = {
    A: ANSWERS[A],
    O: ANSWERS[O],
    R: (answer("completed", *OUTPUT, usage=USAGE), b""),
}
PAIRS = [(client, upstream) for client in CODECS for upstream in CODECS if R in (client, upstream)]
CROSS = [(client, upstream) for client, upstream in PAIRS if client is not upstream]


def target(family: WireFamily) -> Target:
    return Target(family, "acme", "routed-model", "upstream", ModelFacts())


def stream_of(family: WireFamily) -> bytes:
    return STREAM if family is R else ALL_ANSWERS[family][1]


def read(family: WireFamily, *chunks: bytes) -> list[Event]:
    decoder = CODECS[family].stream_decoder()
    return [*(event for chunk in chunks for event in decoder.feed(chunk)), *decoder.finish()]


@pytest.mark.spec("XLT-2", "XLT-30")
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
def test_a_request_arrives_in_the_upstreams_words(client: WireFamily, upstream: WireFamily) -> None:
    request = CODECS[client].decode_request(json.dumps(ALL_REQUESTS[client]).encode())
    encoded = CODECS[upstream].encode_request(request, target(upstream))
    arrived = CODECS[upstream].decode_request(encoded.body)
    assert essence(arrived) == essence(request)
    assert CODECS[upstream].encode_request(request, target(upstream)).body == encoded.body


@pytest.mark.spec("XLT-114", "XLT-187", "XLT-225")
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
def test_what_a_client_assembles_from_its_stream_is_the_whole_answer(
    client: WireFamily, upstream: WireFamily
) -> None:
    """B-022, B-025 and B-110: with the same usage in both."""
    stream = stream_of(upstream)
    streamed = assembled(read(upstream, stream))
    body = CODECS[client].encode_response(streamed, context())
    sent = CODECS[client].stream_encoder(context()).feed(read(upstream, stream))
    found = CODECS[client].decode_response(body)
    assert bare(same(assembled(read(client, sent)))) == bare(same(found))


def same(response: Response) -> Response:
    """Return an answer without the ids that each writing makes anew."""
    blocks = tuple(
        dataclasses.replace(
            block, state=tuple(dataclasses.replace(s, item_id="") for s in block.state)
        )
        if isinstance(block, Thinking)
        else block
        for block in response.blocks
    )
    return dataclasses.replace(response, id="", blocks=blocks)


@pytest.mark.spec("XLT-113", "XLT-116")
@pytest.mark.parametrize(("client", "upstream"), CROSS)
def test_no_cut_and_no_upstream_name_is_visible_to_the_client(
    client: WireFamily, upstream: WireFamily
) -> None:
    stream = stream_of(upstream)

    def sent(*chunks: bytes) -> bytes:
        encoder = CODECS[client].stream_encoder(context())
        decoder = CODECS[upstream].stream_decoder()
        parts = [encoder.feed(decoder.feed(chunk)) for chunk in chunks]
        return b"".join([*parts, encoder.feed(decoder.finish())])

    whole = sent(stream)
    assert b"upstream-model" not in whole
    assert b'"routed-model"' in whole
    for at in range(1, len(stream), 11):
        assert sent(stream[:at], stream[at:]) == whole


@pytest.mark.spec("XLT-36", "XLT-141")
@pytest.mark.parametrize(("client", "upstream"), CROSS)
def test_a_cut_stream_ends_in_one_error_and_no_end(
    client: WireFamily, upstream: WireFamily
) -> None:
    """B-041, B-044 and B-107."""
    stream = stream_of(upstream)
    events = read(upstream, stream[: len(stream) // 2])
    assert sum(isinstance(event, Failure) for event in events) == 1
    sent = CODECS[client].stream_encoder(context()).feed(events)
    assert sent.count(b'"error":{') == 1
    for end in (b"message_stop", b"[DONE]", b"response.completed"):
        assert end not in sent


@pytest.mark.spec("XLT-114")
@pytest.mark.parametrize(("client", "upstream"), PAIRS)
def test_a_whole_answer_can_be_told_as_a_stream(client: WireFamily, upstream: WireFamily) -> None:
    """B-040."""
    told_whole = json.dumps(ALL_ANSWERS[upstream][0]).encode()
    whole = CODECS[upstream].decode_response(told_whole)
    sent = CODECS[client].stream_encoder(context()).feed(events_of(whole))
    body = CODECS[client].encode_response(whole, context())
    found = CODECS[client].decode_response(body)
    assert bare(same(assembled(read(client, sent)))) == bare(same(found))


@pytest.mark.spec("XLT-107", "XLT-110", "XLT-124")
def test_parallel_calls_of_a_responses_stream_have_their_own_places_for_a_chat_client() -> None:
    """B-011."""
    stream = reasoned(0, "x") + called(1, "a", "f", "{}") + called(2, "b", "g", "{}")
    created = STREAM[: STREAM.index(b"\n\n") + 2]
    end = STREAM[STREAM.rindex(b"event: response.completed") :]
    events = read(R, created, stream, end)
    sent = openai_chat.CODEC.stream_encoder(context()).feed(events)
    assert b'"index":0,"id":"a"' in sent
    assert b'"index":1,"id":"b"' in sent
