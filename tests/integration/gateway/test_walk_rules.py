"""What the gateway keeps to around a walk: its time, its frames, and whose headers pass."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from gateway.model import AttemptFailed, StreamFailure
from services.domain.vocab import FailureClass, WireFamily
from tests.integration.gateway.conftest import Stack, head, tail
from tests.integration.gateway.test_streams import A_END, A_START, MESSAGES, STARTED

KEEPALIVE_SECONDS = 0.1
PING = b'event: ping\ndata: {"type": "ping"}\n\n'
FAMILY = WireFamily.ANTHROPIC


@pytest.mark.spec("DSP-4")
async def test_a_walk_has_what_is_left_of_the_actions_time_and_is_asked_for_once(
    stack: Stack,
) -> None:
    hop = AttemptFailed("acme", FailureClass.TRANSPORT)
    stack.dispatch.steps = [STARTED, hop, 0.2, STARTED, head(FAMILY), A_START, A_END, tail()]
    async with stack.session.post("/v1/messages", json=MESSAGES) as answer:
        assert answer.status == 200
    (order,) = stack.dispatch.orders
    assert 590 < order.budget_s < 600


@pytest.mark.spec("DSP-171", "DSP-174")
async def test_no_frame_is_cut_by_another_or_comes_after_the_last(stack: Stack) -> None:
    async def ended_after(seconds: float) -> bytes:
        stack.dispatch.steps = [STARTED, head(FAMILY), A_START, seconds, A_END, tail()]
        async with stack.session.post("/v1/messages", json=MESSAGES) as answer:
            return await answer.read()

    for step in range(12):
        text = await ended_after(KEEPALIVE_SECONDS * (0.9 + step / 20))
        assert text.startswith(A_START)
        assert text.endswith(A_END)
        assert text[len(A_START) : -len(A_END)].replace(PING, b"") == b""


@pytest.mark.spec("DSP-174")
async def test_what_a_client_writes_off_ends_no_other_stream(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, head(FAMILY), A_START, 0.5, A_END, tail()]

    async def left() -> None:
        async with stack.session.post("/v1/messages", json=MESSAGES) as answer:
            await answer.content.readany()

    async def kept() -> bytes:
        async with stack.session.post("/v1/messages", json=MESSAGES) as answer:
            return await answer.read()

    _, text = await asyncio.gather(left(), kept())
    assert text.endswith(A_END)


@pytest.mark.spec("DSP-245")
async def test_headers_of_the_upstreams_own_connection_are_not_passed_on(stack: Stack) -> None:
    own = {
        "connection": "x-private, Keep-Alive",
        "x-private": "1",
        "keep-alive": "timeout=5",
        "te": "trailers",
        "trailer": "x-sum",
        "transfer-encoding": "chunked",
        "upgrade": "h2c",
        "proxy-authenticate": "Basic",
        "set-cookie": "a=b",
    }
    begun = head(FAMILY)
    passed = ("openai-processing-ms", "12")
    begun = replace(begun, headers=(*begun.headers, *own.items(), passed))
    stack.dispatch.steps = [STARTED, begun, A_START, A_END, tail()]
    async with stack.session.post("/v1/messages", json=MESSAGES) as answer:
        assert answer.headers["openai-processing-ms"] == "12"
        kept = {name.lower() for name in answer.headers} & own.keys()
        assert kept <= {"transfer-encoding"}  # the server's own, for this stream
        assert answer.headers["x-router-provider"] == "acme"


@pytest.mark.spec("DSP-152", "DSP-153")
@pytest.mark.parametrize("is_sent", [True, False])
async def test_an_error_that_the_upstream_sent_itself_stays_the_only_one(
    stack: Stack, is_sent: bool
) -> None:
    spoken = (
        b'event: response.created\ndata: {"type":"response.created","sequence_number":0,'
        b'"response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}}\n\n'
    )
    own = b'event: error\ndata: {"type":"error","code":"server_error","message":"gone"}\n\n'
    failure = StreamFailure(502, message="gone", is_error_frame_sent=is_sent)
    sent = (own,) if is_sent else ()
    stack.dispatch.steps = [STARTED, head(WireFamily.OPENAI_RESPONSES), spoken, *sent]
    stack.dispatch.steps = [*stack.dispatch.steps, tail(failure)]
    body = {"model": "claude-large", "input": "hello", "stream": True}
    async with stack.session.post("/v1/responses", json=body) as answer:
        text = await answer.read()
    assert text.count(b"event: response.failed") == (not is_sent)
    assert text.count(b"event: error") == is_sent
