"""The surface of OpenAI Responses over real HTTP."""

from __future__ import annotations

import orjson
import pytest

from gateway.model import AttemptStarted, Failed, StreamFailure
from services.domain.errors import Reason, RouterError
from services.domain.vocab import FailureClass, WireFamily
from tests.integration.gateway.conftest import Stack, head, tail
from tests.integration.gateway.test_answers import A_BODY
from tests.integration.gateway.test_streams import A_END, A_START
from tests.unit.domain.wire.openai_responses_cases import (
    CREATED,
    CUSTOM,
    event,
    frames_of,
    said,
    terminal,
)

RESPONSES = WireFamily.OPENAI_RESPONSES
STARTED = AttemptStarted(1, "acme", "claude-large")
ASKED = {"model": "claude-large", "input": "hello"}
STREAMED = {**ASKED, "stream": True}
SPOKEN = CREATED + event(
    "output_text.delta", output_index=0, content_index=0, item_id="msg_1", delta="Hi"
)
DONE = terminal(said("assistant", "Hi"))


@pytest.mark.spec("XLT-11", "XLT-42")
async def test_a_stream_of_the_same_family_passes_byte_for_byte(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, head(RESPONSES), SPOKEN, DONE, tail()]
    async with stack.session.post("/v1/responses", json=STREAMED) as got:
        assert await got.read() == SPOKEN + DONE
        assert got.headers["content-type"] == "text/event-stream"
        assert got.headers["x-request-id"].startswith("act_")
    (order,) = stack.dispatch.orders
    assert order.action.request.is_stream


@pytest.mark.spec("XLT-11", "XLT-138", "XLT-109")
async def test_answers_of_another_family_are_written_anew(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC), A_START, A_END, tail()]
    async with stack.session.post("/v1/responses", json=STREAMED) as got:
        frames = frames_of(await got.read())
    assert frames[0]["type"] == "response.created"
    assert frames[-1]["type"] == "response.completed"
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC, is_stream=False), A_BODY, tail()]
    async with stack.session.post("/v1/responses", json=ASKED) as got:
        whole = await got.json()
    assert whole["output"][0]["content"][0]["text"] == "Hi"
    assert whole["usage"]["input_tokens"] == 7


CALLED = (
    b'{"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"tool_use",'
    b'"id":"toolu_1","name":"patch","input":{"input":"a b"}}],"stop_reason":"tool_use",'
    b'"usage":{"input_tokens":7,"output_tokens":3}}'
)


@pytest.mark.spec("XLT-84")
async def test_calls_come_back_in_the_form_that_the_client_declared(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC, is_stream=False), CALLED, tail()]
    async with stack.session.post("/v1/responses", json={**ASKED, "tools": [CUSTOM]}) as got:
        (item,) = (await got.json())["output"]
    assert (item["type"], item["name"], item["input"]) == ("custom_tool_call", "patch", "a b")


@pytest.mark.spec("XLT-84", "XLT-201")
async def test_a_chat_client_is_told_of_a_call_that_has_no_form_for_it(stack: Stack) -> None:
    asked = {
        "model": "claude-large",
        "messages": [{"role": "user", "content": "go"}],
        "tools": [{"type": "custom", "custom": {"name": "patch"}}],
    }
    for called, status in ((CALLED, 200), (CALLED.replace(b'"a b"', b'["a", "b"]'), 502)):
        begun = head(WireFamily.ANTHROPIC, is_stream=False)
        stack.dispatch.steps = [STARTED, begun, called, tail()]
        async with stack.session.post("/v1/chat/completions", json=asked) as got:
            assert got.status == status
            told = await got.json()
    assert "custom tool" in told["error"]["message"]


@pytest.mark.spec("XLT-145", "DSP-170")
async def test_silence_is_filled_by_numbered_events_or_by_comments(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC), A_START, 0.35, A_END, tail()]
    async with stack.session.post("/v1/responses", json=STREAMED) as got:
        frames = frames_of(await got.read())
    kinds = [frame["type"] for frame in frames]
    assert 1 <= kinds.count("keepalive") <= 4
    assert [frame["sequence_number"] for frame in frames] == list(range(len(frames)))
    stack.dispatch.steps = [STARTED, head(RESPONSES), SPOKEN, 0.35, DONE, tail()]
    async with stack.session.post("/v1/responses", json=STREAMED) as got:
        raw = await got.read()
    assert raw.count(b": keepalive\n\n") >= 1
    assert raw.replace(b": keepalive\n\n", b"") == SPOKEN + DONE


@pytest.mark.spec("XLT-141", "XLT-36", "DSP-152")
@pytest.mark.parametrize("family", [RESPONSES, WireFamily.ANTHROPIC])
async def test_a_broken_stream_ends_as_a_failed_answer(stack: Stack, family: WireFamily) -> None:
    chunk = SPOKEN if family is RESPONSES else A_START
    broken = tail(StreamFailure(504, message="it went silent"))
    stack.dispatch.steps = [STARTED, head(family), chunk, broken]
    async with stack.session.post("/v1/responses", json=STREAMED) as got:
        assert got.status == 200
        frames = [
            orjson.loads(part.partition(b"data: ")[2])
            for part in (await got.read()).split(b"\n\n")
            if part
        ]
    last = frames[-1]
    assert last["type"] == "response.failed"
    assert last["response"]["id"] == frames[0]["response"]["id"]
    assert last["response"]["error"]["message"] == "it went silent"


@pytest.mark.spec("XLT-12")
async def test_tokens_are_counted_without_an_answer(stack: Stack) -> None:
    async with stack.session.post("/v1/responses/input_tokens", json=ASKED) as got:
        counted = await got.json()
    assert counted["object"] == "response.input_tokens"
    assert counted["input_tokens"] >= 1
    stack.dispatch.counted = 42
    async with stack.session.post("/v1/responses/input_tokens", json=ASKED) as got:
        assert (await got.json())["input_tokens"] == 42
    assert stack.dispatch.orders == []


@pytest.mark.spec("XLT-12", "XLT-196")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/responses/resp_1"),
        ("DELETE", "/v1/responses/resp_1"),
        ("POST", "/v1/responses/compact"),
        ("POST", "/v1/responses/resp_1/cancel"),
        ("GET", "/v1/responses/resp_1/input_items"),
    ],
)
async def test_what_nobody_stores_is_not_found(stack: Stack, method: str, path: str) -> None:
    async with stack.session.request(method, path) as got:
        assert got.status == 404
        assert (await got.json())["error"]["code"] == "model_not_found"
    async with stack.session.request(method, path, headers={"authorization": ""}) as got:
        assert got.status == 401


@pytest.mark.spec("XLT-21", "XLT-192", "XLT-206")
async def test_refusals_have_the_dialects_envelope(stack: Stack) -> None:
    async with stack.session.post("/v1/responses", json={"model": "claude-large"}) as got:
        assert got.status == 400
        error = (await got.json())["error"]
    assert (error["type"], error["param"]) == ("invalid_request_error", "input")
    none = {"authorization": ""}
    async with stack.session.post("/v1/responses", json=ASKED, headers=none) as got:
        assert got.status == 401
        assert (await got.json())["error"]["code"] == "invalid_api_key"
    async with stack.session.get("/v1/responses") as got:
        assert got.status == 405
        assert got.headers["allow"] == "POST"


@pytest.mark.spec("XLT-78")
async def test_an_answer_to_fetch_later_is_refused_and_one_to_watch_is_not(stack: Stack) -> None:
    asked = {**ASKED, "background": True}
    async with stack.session.post("/v1/responses", json=asked) as got:
        assert got.status == 400
        assert (await got.json())["error"]["param"] == "background"
    stack.dispatch.steps = [STARTED, head(RESPONSES), SPOKEN, DONE, tail()]
    async with stack.session.post("/v1/responses", json={**asked, "stream": True}) as got:
        assert await got.read() == SPOKEN + DONE


@pytest.mark.spec("XLT-148", "XLT-204", "XLT-205")
@pytest.mark.parametrize(
    "body",
    [
        event("failed", response={"error": {"code": "slow_down", "message": "busy"}}),
        b'data: {"type":"error","code":"slow_down","message":"busy"}\n\n',
    ],
)
async def test_an_event_that_failed_an_attempt_is_told_as_an_error_body(
    stack: Stack, body: bytes
) -> None:
    data = body.partition(b"data: ")[2].strip()
    failed = Failed(FailureClass.UPSTREAM_STATUS, 503, data, wire_family=RESPONSES)
    stack.dispatch.steps = [STARTED, failed]
    async with stack.session.post("/v1/responses", json=STREAMED) as got:
        assert got.status == 503
        assert (await got.json())["error"]["message"] == "busy"


async def test_an_error_body_of_the_same_family_keeps_its_bytes(stack: Stack) -> None:
    body = b'{ "error": {"message":"no","type":"invalid_request_error","code":null}, "x":1}'
    failed = Failed(FailureClass.REJECTED, 400, body, wire_family=RESPONSES)
    stack.dispatch.steps = [STARTED, failed]
    async with stack.session.post("/v1/responses", json=ASKED) as got:
        assert (got.status, await got.read()) == (400, body)


@pytest.mark.spec("XLT-202")
async def test_a_service_that_is_away_is_503_and_soon_again(stack: Stack) -> None:
    stack.dispatch.steps = [RouterError(Reason.ROUTING_UNAVAILABLE, "away", retry_after_s=1.0)]
    async with stack.session.post("/v1/responses", json=ASKED) as got:
        assert (got.status, got.headers["retry-after"]) == (503, "1")
