"""What the vendor's own SDK makes of our streams and answers, and we of its requests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
import pytest

from services.domain.wire.gemini import CODEC
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    End,
    Response,
    Start,
    Stop,
    StopReason,
    Text,
    ToolUse,
    Usage,
)
from tests.unit.domain.wire.contexts import context

genai = pytest.importorskip("google.genai")

if TYPE_CHECKING:
    from collections.abc import Callable

    from google.genai import Client
    from google.genai.types import Candidate, GenerateContentResponse, Part

    from services.domain.wire.model import Event

STOP = Stop(StopReason.TOOL_USE)
USAGE = Usage(3, output=4)
EVENTS: list[Event] = [
    Start("m", "up"),
    BlockOpen(0, "text"),
    BlockDelta(0, "h"),
    BlockDelta(0, "i"),
    BlockClose(0),
    BlockOpen(1, "tool_use", "a", "f"),
    BlockDelta(1, '{"x":1}'),
    BlockClose(1),
    End(STOP, USAGE),
]


def client(answer: bytes, seen: Callable[[httpx.Request], None] = lambda _: None) -> Client:
    def serve(request: httpx.Request) -> httpx.Response:
        seen(request)
        return httpx.Response(200, content=answer)

    options = genai.types.HttpOptions(client_args={"transport": httpx.MockTransport(serve)})
    made: Client = genai.Client(api_key="not-a-key", http_options=options)
    return made


def only(answer: GenerateContentResponse) -> Candidate:
    """Return the one candidate of an answer."""
    assert answer.candidates is not None
    (found,) = answer.candidates
    return found


def parts_of(answer: GenerateContentResponse) -> list[Part]:
    content = only(answer).content
    assert content is not None
    return content.parts or []


@pytest.mark.spec("XLT-145", "XLT-224")
def test_the_sdk_reads_the_stream_and_the_whole_answer_alike() -> None:
    head = CODEC.stream_encoder(context())
    stream = head.feed(EVENTS[:3]) + head.keepalive() + head.feed(EVENTS[3:])
    with client(stream) as vendor:
        chunks = list(vendor.models.generate_content_stream(model="m", contents="hi"))
    response = Response("m", "up", (Text("hi"), ToolUse("a", "f", b'{"x":1}')), STOP, USAGE)
    with client(CODEC.encode_response(response, context())) as vendor:
        whole = vendor.models.generate_content(model="m", contents="hi")
    parts = [part for chunk in chunks for part in parts_of(chunk)]
    assert "".join(part.text for part in parts if part.text) == whole.text == "hi"
    calls = [part.function_call for part in parts if part.function_call]
    assert [(c.id, c.name, c.args) for c in calls] == [("a", "f", {"x": 1})]
    assert [(c.id, c.name, c.args) for c in whole.function_calls or ()] == [("a", "f", {"x": 1})]
    last = chunks[-1]
    assert only(last).finish_reason == only(whole).finish_reason == "STOP"
    assert last.usage_metadata == whole.usage_metadata


def test_an_error_frame_is_an_error_of_the_sdk() -> None:
    encoder = CODEC.stream_encoder(context())
    decoder = CODEC.stream_decoder()
    stream = encoder.feed(EVENTS[:3]) + encoder.feed(decoder.finish())
    with client(stream) as vendor, pytest.raises(genai.errors.APIError):
        list(vendor.models.generate_content_stream(model="m", contents="hi"))


@pytest.mark.spec("XLT-80")
def test_a_request_of_the_sdk_is_read() -> None:
    bodies: list[bytes] = []
    tool = genai.types.Tool(
        function_declarations=[
            genai.types.FunctionDeclaration(
                name="f",
                description="F.",
                parameters=genai.types.Schema(
                    type="OBJECT", properties={"x": genai.types.Schema(type="STRING")}
                ),
            )
        ]
    )
    config = genai.types.GenerateContentConfig(
        tools=[tool], system_instruction="Be kind.", max_output_tokens=9
    )
    with client(
        CODEC.encode_response(Response("", "", (Text("x"),), STOP, None), context()),
        lambda request: bodies.append(request.content),
    ) as vendor:
        vendor.models.generate_content(model="m", contents="hi", config=config)
    request = CODEC.decode_request(bodies[0])
    assert [block.text for block in request.system] == ["Be kind."]
    words = request.turns[0].blocks[0]
    assert isinstance(words, Text)
    assert words.text == "hi"
    schema = json.loads(request.tools[0].schema)
    assert schema == {"type": "object", "properties": {"x": {"type": "string"}}}
    assert request.limits.max_output_tokens == 9
