"""An upstream of the Responses dialect: asked at its address, read to its end, failed over."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from services.dispatch.model.enums import AttemptOutcome, WalkStep
from services.dispatch.ports import Endpoint
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import Text
from tests.integration.dispatch.harness import ANTHROPIC, CHAT, Stand, standing

RESPONSES = WireFamily.OPENAI_RESPONSES
USAGE = {"input_tokens": 10, "output_tokens": 3, "total_tokens": 13}
MESSAGE = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "hello there", "annotations": []}],
}
ANSWER = {"id": "resp_1", "object": "response", "model": "p1-model", "error": None, "usage": USAGE}


def event(kind: str, **members: object) -> bytes:
    name = f"response.{kind}"
    return f"event: {name}\ndata: {json.dumps({'type': name, **members})}\n\n".encode()


STREAM = (
    event("created", response={**ANSWER, "status": "in_progress", "output": [], "usage": None})
    + event("output_item.added", output_index=0, item={**MESSAGE, "content": []})
    + event("output_text.delta", output_index=0, content_index=0, delta="hello there")
    + event("output_item.done", output_index=0, item=MESSAGE)
    + event("completed", response={**ANSWER, "status": "completed", "output": [MESSAGE]})
)
FAILED = event("created", response={**ANSWER, "status": "in_progress", "output": []}) + event(
    "failed",
    response={
        **ANSWER,
        "status": "failed",
        "error": {"code": "server_is_overloaded", "message": "busy"},
    },
)


@dataclass(slots=True)
class Upstream:
    """A provider that answers every request with the same stream or body."""

    stream: bytes
    missing_bytes: int = 0
    """How much of a stream is promised and never comes: the connection breaks instead."""
    seen: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        told = await request.json()
        self.seen.append((request.path, told))
        if not told.get("stream"):
            return web.json_response({**ANSWER, "status": "completed", "output": [MESSAGE]})
        answer = web.StreamResponse(headers={"content-type": "text/event-stream"})
        answer.content_length = len(self.stream) + self.missing_bytes
        answer.force_close()
        await answer.prepare(request)
        await answer.write(self.stream)
        return answer


@contextlib.asynccontextmanager
async def responding(
    *others: WireFamily, stream: bytes = STREAM
) -> AsyncIterator[tuple[Stand, Upstream]]:
    """Give a stand whose first provider speaks Responses."""
    upstream = Upstream(stream)
    app = web.Application()
    app.router.add_post("/v1/responses", upstream.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        async with standing(RESPONSES, *others) as stand:
            stand.endpoints["p1"] = Endpoint(
                "p1", RESPONSES, f"http://{host}:{port}/v1", is_vendor=False, header_timeout_s=0.4
            )
            yield stand, upstream
    finally:
        await runner.cleanup()


@pytest.mark.spec("XLT-62", "XLT-127")
@pytest.mark.parametrize("client", [ANTHROPIC, CHAT])
@pytest.mark.parametrize("is_stream", [True, False])
async def test_a_translated_request_is_asked_and_read_in_its_dialect(
    client: WireFamily, is_stream: bool
) -> None:
    async with responding() as (stand, upstream):
        answer = await stand.run(stand.order(family=client, is_stream=is_stream))
    path, told = upstream.seen[0]
    assert path == "/v1/responses"
    assert (told["model"], told["store"], told["stream"]) == ("p1-model", False, True)
    assert answer.head.family is RESPONSES
    assert answer.head.body_bytes is None
    assert answer.tail.record.outcome is AttemptOutcome.SERVED
    measured = answer.tail.record.measured
    assert measured is not None
    assert (measured.usage.fresh_input, measured.usage.output) == (10, 3)
    assert answer.chunks == STREAM
    whole = codec_for(RESPONSES).decode_response(answer.chunks, is_stream=True)
    assert whole.blocks == (Text("hello there"),)


@pytest.mark.spec("XLT-148", "XLT-36")
async def test_a_failed_answer_before_any_output_hops_to_the_next_binding() -> None:
    """B-043."""
    async with responding(CHAT, stream=FAILED) as (stand, _):
        answer = await stand.run(stand.order(family=ANTHROPIC))
    assert answer.head.planned_provider == "p1"
    assert answer.tail.record.binding.provider == "p2"
    assert [row.step for row in answer.missed] == [WalkStep.HOP]


SPOKEN = STREAM[: STREAM.index(b"event: response.output_item.done")]


@pytest.mark.spec("XLT-127", "DSP-137")
@pytest.mark.parametrize("ending", [b"", FAILED[FAILED.index(b"event: response.failed") :]])
async def test_a_stream_for_a_whole_answer_that_breaks_is_never_shown(ending: bytes) -> None:
    async with responding(CHAT, stream=SPOKEN + ending) as (stand, _):
        answer = await stand.run(stand.order(family=ANTHROPIC, is_stream=False))
    assert answer.tail.record.binding.provider == "p2"
    assert [row.step for row in answer.missed][-1] is WalkStep.HOP


@pytest.mark.spec("XLT-127", "DSP-137")
async def test_a_stream_for_a_whole_answer_that_breaks_behind_its_terminal_is_whole() -> None:
    async with responding(CHAT) as (stand, upstream):
        upstream.missing_bytes = 1
        answer = await stand.run(stand.order(family=ANTHROPIC, is_stream=False))
    assert answer.tail.record.binding.provider == "p1"
    assert answer.chunks == STREAM


@pytest.mark.spec("XLT-127")
async def test_a_whole_answer_of_the_clients_own_dialect_is_asked_for_as_such() -> None:
    async with responding() as (stand, upstream):
        answer = await stand.run(stand.order(family=RESPONSES, is_stream=False))
    assert upstream.seen[0][1]["stream"] is False
    assert answer.head.body_bytes == len(answer.chunks)
