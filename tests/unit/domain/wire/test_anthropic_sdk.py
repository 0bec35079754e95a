"""What the vendor's own SDK makes of our streams, answers and errors."""

from __future__ import annotations

import anthropic
import httpx2
import pytest

from services.domain.wire.anthropic import CODEC
from services.domain.wire.assemble import events_of
from services.domain.wire.model import (
    ClientError,
    ErrorKind,
    Response,
    Stop,
    StopReason,
    Text,
    Thinking,
    ToolUse,
    Usage,
)
from tests.unit.domain.wire.contexts import context

BLOCKS = (
    Thinking("hm"),
    Text("Grüß Gott \U0001f600"),
    ToolUse("a", "f", b'{"x": 1.5}'),
    ToolUse("b", "g", b""),
)
ANSWER = Response("up", "m", BLOCKS, Stop(StopReason.TOOL_USE), Usage(3, cache_read=9, output=4))


def client(status: int, body: bytes, kind: str) -> anthropic.Anthropic:
    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(status, headers={"content-type": kind}, content=body)

    transport = httpx2.Client(transport=httpx2.MockTransport(answer))
    return anthropic.Anthropic(
        api_key="k", base_url="http://fake", http_client=transport, max_retries=0
    )


@pytest.mark.spec("XLT-224", "XLT-128")
def test_the_sdk_assembles_the_stream_to_the_whole_answer() -> None:
    body = CODEC.stream_encoder(context()).feed(events_of(ANSWER))
    with client(200, body, "text/event-stream").messages.stream(
        model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}]
    ) as stream:
        streamed = stream.get_final_message()
    whole = client(
        200, CODEC.encode_response(ANSWER, context()), "application/json"
    ).messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}])
    assert [block.type for block in streamed.content] == [
        "thinking",
        "text",
        "tool_use",
        "tool_use",
    ]
    dumped = streamed.model_dump(exclude_none=True), whole.model_dump(exclude_none=True)
    assert dumped[0]["content"] == dumped[1]["content"]
    assert dumped[0]["usage"] == dumped[1]["usage"]
    assert dumped[0]["stop_reason"] == dumped[1]["stop_reason"] == "tool_use"


@pytest.mark.spec("XLT-224", "XLT-204")
def test_the_sdk_reads_our_errors_before_and_inside_a_stream() -> None:
    error = ClientError(ErrorKind.OVERLOADED, "busy", request_id="req_1")
    with pytest.raises(anthropic.APIStatusError, match="busy") as caught:
        client(529, CODEC.encode_error(error), "application/json").messages.create(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}]
        )
    assert caught.value.status_code == 529
    encoder = CODEC.stream_encoder(context())
    body = encoder.feed(events_of(ANSWER)[:4]) + encoder.fail(error)
    with (
        client(200, body, "text/event-stream").messages.stream(
            model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}]
        ) as stream,
        pytest.raises(anthropic.APIStatusError, match="busy"),
    ):
        stream.get_final_message()
