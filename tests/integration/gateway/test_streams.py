"""Streams over real HTTP: what passes, what is written anew, how they end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from gateway.model import AttemptFailed, AttemptStarted, Failed, StreamFailure
from services.domain.errors import Reason, RouterError
from services.domain.vocab import FailureClass, WireFamily
from tests.fakes.ports import Step
from tests.integration.gateway.conftest import Stack, head, tail

MESSAGES = {
    "model": "claude-large",
    "max_tokens": 50,
    "stream": True,
    "messages": [{"role": "user", "content": "hello"}],
}
CHAT = {
    "model": "claude-large",
    "stream": True,
    "messages": [{"role": "user", "content": "hello"}],
}

A_START = (
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message",'
    b'"role":"assistant","model":"claude-large","content":[],"stop_reason":null,'
    b'"stop_sequence":null,"usage":{"input_tokens":7,"output_tokens":1}}}\n\n'
    b'event: content_block_start\ndata: {"type":"content_block_start","index":0,'
    b'"content_block":{"type":"text","text":""}}\n\n'
    b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
    b'"delta":{"type":"text_delta","text":"Hi"}}\n\n'
)
A_END = (
    b'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n'
    b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn",'
    b'"stop_sequence":null},"usage":{"output_tokens":3}}\n\n'
    b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
)
O_CHUNK = (
    b'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"claude-large",'
    b'"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}\n\n'
)
O_FINISH = (
    b'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"claude-large",'
    b'"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
)
O_USAGE = (
    b'data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"claude-large",'
    b'"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}\n\n'
)
O_DONE = b"data: [DONE]\n\n"

STARTED = AttemptStarted(1, "acme", "claude-large")


async def eventually(is_so: Callable[[], bool], within_s: float) -> None:
    """Return once ``is_so``, which nobody announces."""
    deadline_s = asyncio.get_running_loop().time() + within_s
    while not is_so():
        assert asyncio.get_running_loop().time() < deadline_s
        await asyncio.sleep(0.01)


@pytest.mark.spec("XLT-8", "XLT-42", "DSP-240", "DSP-241", "XLT-24")
async def test_a_stream_of_the_same_family_passes_byte_for_byte(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC), A_START, A_END, tail()]
    async with stack.session.post("/v1/messages?beta=true", json=MESSAGES) as answer:
        assert answer.status == 200
        assert await answer.read() == A_START + A_END
        assert answer.headers["content-type"] == "text/event-stream"
        assert answer.headers["cache-control"] == "no-cache"
        assert answer.headers["x-accel-buffering"] == "no"
        assert answer.headers["x-router-model"] == "claude-large"
        assert answer.headers["x-router-provider"] == "acme"
        assert answer.headers["x-router-decision"] == "requested"
        assert answer.headers["x-router-context-window"] == "200000"
        assert "x-router-fallback-from" not in answer.headers
        assert "x-router-cache" not in answer.headers
    assert len(stack.dispatch.orders) == 1
    order = stack.dispatch.orders[0]
    assert order.plan.bindings[0].provider == "acme"
    assert order.grant is not None
    assert not stack.dispatch.answers[0].was_cancelled


@pytest.mark.spec("XLT-136")
@pytest.mark.parametrize("is_wanted", [True, False])
async def test_usage_that_was_not_asked_for_is_not_shown(stack: Stack, *, is_wanted: bool) -> None:
    stack.dispatch.steps = [
        STARTED,
        head(WireFamily.OPENAI_CHAT),
        O_CHUNK + O_FINISH[:20],
        O_FINISH[20:] + O_USAGE + O_DONE,
        tail(),
    ]
    body = {**CHAT, "stream_options": {"include_usage": is_wanted}}
    async with stack.session.post("/v1/chat/completions", json=body) as answer:
        shown = await answer.read()
    usage = O_USAGE if is_wanted else b""
    assert shown == O_CHUNK + O_FINISH + usage + O_DONE
    assert stack.dispatch.orders[0].plan.is_stream_usage_wanted is is_wanted


@pytest.mark.spec("XLT-128", "XLT-132")
async def test_a_chat_stream_becomes_a_messages_stream(stack: Stack) -> None:
    stack.dispatch.steps = [
        STARTED,
        head(WireFamily.OPENAI_CHAT),
        O_CHUNK,
        O_FINISH + O_USAGE + O_DONE,
        tail(),
    ]
    async with stack.session.post("/v1/messages", json=MESSAGES) as answer:
        text = (await answer.read()).decode()
        assert answer.headers["content-type"] == "text/event-stream"
    assert text.startswith("event: message_start\n")
    assert '"text":"Hi"' in text
    assert text.count("event: message_stop\n") == 1
    assert '"output_tokens":3' in text


@pytest.mark.spec("XLT-135", "XLT-136")
async def test_a_messages_stream_becomes_a_chat_stream(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC), A_START, A_END, tail()]
    async with stack.session.post("/v1/chat/completions", json=CHAT) as answer:
        text = (await answer.read()).decode()
    assert '"content":"Hi"' in text
    assert text.endswith("data: [DONE]\n\n")
    assert '"usage"' not in text


@pytest.mark.spec("DSP-150", "XLT-36", "XLT-137", "DSP-151")
@pytest.mark.parametrize(
    ("path", "body", "family", "chunk", "frame"),
    [
        ("/v1/messages", MESSAGES, WireFamily.ANTHROPIC, A_START, "event: error"),
        ("/v1/messages", MESSAGES, WireFamily.OPENAI_CHAT, O_CHUNK, "event: error"),
        ("/v1/chat/completions", CHAT, WireFamily.OPENAI_CHAT, O_CHUNK, 'data: {"error"'),
        ("/v1/chat/completions", CHAT, WireFamily.ANTHROPIC, A_START, 'data: {"error"'),
    ],
)
async def test_a_failure_after_output_is_one_error_frame(
    stack: Stack,
    path: str,
    body: dict[str, object],
    family: WireFamily,
    chunk: bytes,
    frame: str,
) -> None:
    failure = StreamFailure(502, message="gone")
    stack.dispatch.steps = [STARTED, head(family), chunk, tail(failure)]
    async with stack.session.post(path, json=body) as answer:
        assert answer.status == 200
        text = (await answer.read()).decode()
    assert text.count(frame) == 1
    assert "[DONE]" not in text
    assert "message_stop" not in text


async def test_an_error_frame_that_passed_is_not_followed_by_another(stack: Stack) -> None:
    sent = (
        b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error",'
        b'"message":"Overloaded"}}\n\n'
    )
    failure = StreamFailure(529, is_error_frame_sent=True)
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC), A_START, sent, tail(failure)]
    async with stack.session.post("/v1/messages", json=MESSAGES) as answer:
        assert await answer.read() == A_START + sent


async def test_a_clean_end_is_never_followed_by_an_error(stack: Stack) -> None:
    late = RouterError(Reason.ROUTING_UNAVAILABLE, "died")
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC), A_START, A_END, late]
    async with stack.session.post("/v1/messages", json=MESSAGES) as answer:
        assert await answer.read() == A_START + A_END


@pytest.mark.spec("DSP-5")
async def test_a_dispatch_that_dies_after_output_ends_the_stream_with_an_error(
    stack: Stack,
) -> None:
    died = RouterError(Reason.ROUTING_UNAVAILABLE, "died", retry_after_s=1.0)
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC), A_START, died]
    async with stack.session.post("/v1/messages", json=MESSAGES) as answer:
        text = (await answer.read()).decode()
    assert text.startswith(A_START.decode())
    assert text.count("event: error") == 1


@pytest.mark.spec("DSP-5")
async def test_a_dispatch_that_dies_before_output_is_503(stack: Stack) -> None:
    died = RouterError(Reason.ROUTING_UNAVAILABLE, "died", retry_after_s=1.0)
    scripts: list[Sequence[Step]] = [[died], [STARTED, head(WireFamily.ANTHROPIC), died], []]
    for steps in scripts:
        stack.dispatch.steps = steps
        async with stack.session.post("/v1/messages", json=MESSAGES) as answer:
            assert answer.status == 503
            assert answer.headers["retry-after"] == "1"
            assert (await answer.json())["error"]["type"] == "overloaded_error"


@pytest.mark.spec("DSP-42", "DSP-243")
async def test_a_hop_is_named_in_the_headers(stack: Stack) -> None:
    stack.dispatch.steps = [
        STARTED,
        AttemptFailed("acme", FailureClass.TRANSPORT),
        AttemptStarted(2, "globex", "claude-large"),
        head(WireFamily.ANTHROPIC, plan_index=1),
        A_START,
        A_END,
        tail(),
    ]
    async with stack.session.post("/v1/messages", json=MESSAGES) as answer:
        assert answer.headers["x-router-fallback-from"] == "acme"
        assert answer.headers["x-router-fallback-attempt"] == "1"
        assert await answer.read() == A_START + A_END


@pytest.mark.spec("DSP-170", "DSP-172", "DSP-173", "DSP-175", "XLT-145")
@pytest.mark.parametrize(
    ("path", "body", "family", "chunk", "frame"),
    [
        ("/v1/messages", MESSAGES, WireFamily.ANTHROPIC, A_START, b"event: ping"),
        ("/v1/chat/completions", CHAT, WireFamily.OPENAI_CHAT, O_CHUNK, b": keepalive"),
    ],
)
async def test_silence_is_filled_after_the_first_byte_and_only_between_frames(
    stack: Stack,
    path: str,
    body: dict[str, object],
    family: WireFamily,
    chunk: bytes,
    frame: bytes,
) -> None:
    stack.dispatch.steps = [STARTED, head(family), 0.3, chunk, 0.35, tail()]
    async with stack.session.post(path, json=body) as answer:
        text = await answer.read()
    assert text.startswith(chunk)
    assert 1 <= text.count(frame) <= 4

    stack.dispatch.steps = [STARTED, head(family), chunk[:-1], 0.35, chunk[-1:], tail()]
    async with stack.session.post(path, json=body) as answer:
        assert frame not in await answer.read()


@pytest.mark.spec("DSP-190", "XLT-147")
async def test_a_client_that_leaves_cancels_the_walk_within_a_second(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC), A_START, 30.0, tail()]
    answer = await stack.session.post("/v1/messages", json=MESSAGES)
    await answer.content.readany()
    answer.close()
    await eventually(lambda: stack.dispatch.answers[0].was_cancelled, 1.0)
    assert len(stack.dispatch.orders) == 1


async def test_a_client_that_leaves_before_output_cancels_the_walk_too(stack: Stack) -> None:
    stack.dispatch.steps = [30.0]
    request = asyncio.ensure_future(stack.session.post("/v1/messages", json=MESSAGES))
    await eventually(lambda: bool(stack.dispatch.answers), 1.0)
    request.cancel()
    await eventually(lambda: stack.dispatch.answers[0].was_cancelled, 1.0)


async def test_a_client_that_takes_nothing_is_dropped_after_the_write_timeout(
    stack: Stack,
) -> None:
    flood = [A_START.replace(b"Hi", b"x" * 60_000)] * 400
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC), *flood, tail()]
    answer = await stack.session.post("/v1/messages", json=MESSAGES)
    await eventually(lambda: stack.dispatch.answers[0].was_cancelled, 4.0)
    answer.close()


@pytest.mark.spec("OPS-112")
async def test_a_drain_cuts_what_still_runs_with_an_error_frame(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC), A_START, 30.0, tail()]
    answer = await stack.session.post("/v1/messages", json=MESSAGES)
    await answer.content.readany()
    await stack.gateway.drain(0.0, 0.05)
    text = (await answer.read()).decode()
    assert text.count("event: error") == 1
    assert stack.gateway.readiness() == {"gateway": False}


async def test_a_drain_waits_for_answers_that_end_in_time(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC), A_START, 0.2, A_END, tail()]
    answer = await stack.session.post("/v1/messages", json=MESSAGES)
    await answer.content.readany()
    await stack.gateway.drain(0.0, 5.0)
    assert (await answer.read()).endswith(A_END)


async def test_nothing_serves_in_a_translated_stream_keeps_its_status(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, Failed(FailureClass.HEADER_TIMEOUT, attempt_count=1)]
    async with stack.session.post("/v1/chat/completions", json=CHAT) as answer:
        assert answer.status == 504
        assert (await answer.json())["error"]["code"] == "timeout"
