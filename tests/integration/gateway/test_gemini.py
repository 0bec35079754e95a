"""The surface of Gemini over real HTTP."""

from __future__ import annotations

import orjson
import pytest

from gateway.model import AttemptStarted, StreamFailure
from services.domain.vocab import WireFamily
from tests.integration.gateway.conftest import KEY, Stack, head, tail
from tests.integration.gateway.test_answers import A_BODY
from tests.integration.gateway.test_streams import A_END, A_START
from tests.unit.domain.wire.gemini_cases import answer, frame, text

GEMINI = WireFamily.GEMINI
STARTED = AttemptStarted(1, "acme", "claude-large")
ASKED = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
USAGE = {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10}
SPOKEN = frame(text("Hi"))
DONE = frame(text(" there"), finish="STOP", usageMetadata=USAGE)
PATH = "/v1beta/models/claude-large"

by_version = pytest.mark.parametrize("path", [PATH, "/v1/models/claude-large"])


@pytest.mark.spec("XLT-13", "XLT-14", "XLT-42")
@by_version
async def test_a_stream_of_the_same_family_passes_byte_for_byte(stack: Stack, path: str) -> None:
    stack.dispatch.steps = [STARTED, head(GEMINI), SPOKEN, DONE, tail()]
    async with stack.session.post(f"{path}:streamGenerateContent?alt=sse", json=ASKED) as got:
        assert await got.read() == SPOKEN + DONE
        assert got.headers["content-type"] == "text/event-stream"
    (order,) = stack.dispatch.orders
    request = order.action.request
    assert (request.model, request.is_stream) == ("claude-large", True)
    assert orjson.loads(order.action.body) == ASKED


@pytest.mark.spec("XLT-13", "XLT-111")
@by_version
async def test_a_whole_answer_is_asked_for_by_the_action_alone(stack: Stack, path: str) -> None:
    body = orjson.dumps(answer(text("Hi"), finish="STOP", usageMetadata=USAGE))
    stack.dispatch.steps = [STARTED, head(GEMINI, is_stream=False), body, tail()]
    asked = {**ASKED, "stream": True}
    async with stack.session.post(f"{path}:generateContent?alt=sse", json=asked) as got:
        assert await got.read() == body
        assert got.headers["content-type"] == "application/json"
    assert not stack.dispatch.orders[0].action.request.is_stream
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC, is_stream=False), A_BODY, tail()]
    async with stack.session.post(f"{path}:generateContent", json=ASKED) as got:
        told = await got.json()
    assert told["candidates"][0]["content"]["parts"] == [{"text": "Hi"}]
    assert told["modelVersion"] == "claude-large"


@pytest.mark.spec("XLT-14", "XLT-145")
@pytest.mark.parametrize("query", ["", "?alt=json"])
@pytest.mark.parametrize("family", [GEMINI, WireFamily.ANTHROPIC])
async def test_without_sse_a_stream_is_one_array(
    stack: Stack, family: WireFamily, query: str
) -> None:
    pieces = (SPOKEN, DONE) if family is GEMINI else (A_START, A_END)
    stack.dispatch.steps = [STARTED, head(family), pieces[0], 0.35, pieces[1], tail()]
    async with stack.session.post(f"{PATH}:streamGenerateContent{query}", json=ASKED) as got:
        assert got.headers["content-type"] == "application/json"
        first = await got.content.readany()
        rest = await got.read()
    assert first.startswith(b'[{"candidates"')
    answers = orjson.loads(first + rest)
    assert answers[0]["candidates"][0]["content"]["parts"][0]["text"] == "Hi"
    assert answers[-1]["candidates"][0]["finishReason"] == "STOP"
    assert answers[-1]["usageMetadata"]["promptTokenCount"] == 7


@pytest.mark.spec("XLT-145")
async def test_silence_is_filled_by_blank_lines(stack: Stack) -> None:
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC), A_START, 0.35, A_END, tail()]
    async with stack.session.post(f"{PATH}:streamGenerateContent?alt=sse", json=ASKED) as got:
        raw = await got.read()
    assert b"\n\n\n\n" in raw
    assert all(
        line.startswith(b"data: ") or not line for line in raw.replace(b"\r\n", b"\n").split(b"\n")
    )


@pytest.mark.spec("XLT-144", "XLT-36", "DSP-153")
@pytest.mark.parametrize("family", [GEMINI, WireFamily.ANTHROPIC])
async def test_a_broken_stream_ends_with_an_error(stack: Stack, family: WireFamily) -> None:
    chunk = SPOKEN if family is GEMINI else A_START
    broken = tail(StreamFailure(504, message="it went silent"))
    expected = {"code": 504, "message": "it went silent", "status": "DEADLINE_EXCEEDED"}
    stack.dispatch.steps = [STARTED, head(family), chunk, broken]
    async with stack.session.post(f"{PATH}:streamGenerateContent?alt=sse", json=ASKED) as got:
        last = (await got.read()).replace(b"\r\n", b"\n").split(b"\n\n")[-2]
    assert orjson.loads(last.removeprefix(b"data: ")) == {"error": expected}
    async with stack.session.post(f"{PATH}:streamGenerateContent", json=ASKED) as got:
        assert orjson.loads(await got.read())[-1] == {"error": expected}


@pytest.mark.spec("XLT-14", "XLT-36", "DSP-136", "DSP-153")
@pytest.mark.parametrize("query", ["", "?alt=sse"])
async def test_a_failure_before_output_is_a_status_and_one_object(stack: Stack, query: str) -> None:
    stack.dispatch.steps = [STARTED, head(GEMINI), tail(StreamFailure(429, message="slower"))]
    async with stack.session.post(f"{PATH}:streamGenerateContent{query}", json=ASKED) as got:
        assert got.status == 429
        assert (await got.json())["error"]["status"] == "RESOURCE_EXHAUSTED"


@pytest.mark.spec("XLT-170", "XLT-143")
@pytest.mark.parametrize("is_wanted", [True, False])
async def test_thoughts_are_shown_to_those_who_asked(stack: Stack, *, is_wanted: bool) -> None:
    thinking = (
        b'{"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"thinking",'
        b'"thinking":"hm","signature":"s"},{"type":"text","text":"Hi"}],"stop_reason":"end_turn",'
        b'"usage":{"input_tokens":7,"output_tokens":3}}'
    )
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC, is_stream=False), thinking, tail()]
    config = {"generationConfig": {"thinkingConfig": {"includeThoughts": is_wanted}}}
    async with stack.session.post(f"{PATH}:generateContent", json={**ASKED, **config}) as got:
        parts = (await got.json())["candidates"][0]["content"]["parts"]
    assert any(part.get("thought") for part in parts) is is_wanted


@pytest.mark.spec("XLT-15")
@pytest.mark.parametrize(
    "asked", [ASKED, {"generateContentRequest": {"model": "models/claude-large", **ASKED}}]
)
async def test_tokens_are_counted_without_an_answer(stack: Stack, asked: dict[str, object]) -> None:
    async with stack.session.post(f"{PATH}:countTokens", json=asked) as got:
        assert (await got.json())["totalTokens"] >= 1
    stack.dispatch.counted = 42
    async with stack.session.post(f"{PATH}:countTokens", json=asked) as got:
        assert await got.json() == {"totalTokens": 42}
    action, binding = stack.dispatch.counts[-1]
    assert orjson.loads(action.body)["contents"] == ASKED["contents"]
    assert binding is not None
    assert stack.dispatch.orders == []


@pytest.mark.spec("XLT-19", "XLT-20")
@by_version
@pytest.mark.parametrize("sent", [{"x-goog-api-key": KEY}, {"authorization": f"Bearer {KEY}"}])
async def test_a_key_is_taken_from_header_or_query(
    stack: Stack, capfd: pytest.CaptureFixture[str], path: str, sent: dict[str, str]
) -> None:
    body = orjson.dumps(answer(text("Hi"), finish="STOP", usageMetadata=USAGE))
    stack.dispatch.steps = [STARTED, head(GEMINI, is_stream=False), body, tail()]
    url = f"{path}:generateContent"
    async with stack.session.post(url, json=ASKED, headers={"authorization": "", **sent}) as got:
        assert got.status == 200
    none = {"authorization": ""}
    async with stack.session.post(f"{url}?key={KEY}", json=ASKED, headers=none) as got:
        assert got.status == 200
        assert KEY not in str(got.headers)
    order = stack.dispatch.orders[-1]
    assert KEY not in str(order)
    assert order.action.caller.presented == ()
    shown = capfd.readouterr()
    assert KEY not in shown.out + shown.err


@pytest.mark.spec("XLT-19")
async def test_a_key_in_the_query_counts_for_no_other_dialect(stack: Stack) -> None:
    none = {"authorization": ""}
    chat = {"model": "claude-large", "messages": [{"role": "user", "content": "hello"}]}
    for path, body in (
        ("/v1/chat/completions", chat),
        ("/v1/messages", {**chat, "max_tokens": 9}),
        ("/v1/responses", {"model": "claude-large", "input": "hello"}),
    ):
        async with stack.session.post(f"{path}?key={KEY}", json=body, headers=none) as got:
            assert got.status == 401
    async with stack.session.get(f"/v1/models?key={KEY}", headers=none) as got:
        assert got.status == 401
    async with stack.session.get(f"/v1beta/models?key={KEY}", headers=none) as got:
        assert got.status == 200


@pytest.mark.spec("XLT-13", "XLT-21", "XLT-193", "XLT-196")
async def test_refusals_have_the_dialects_envelope(stack: Stack) -> None:
    for path in (
        "/v1beta/models/:generateContent",
        "/v1beta/models/claude-large:embedContent",
        "/v1/models/claude-large",
        "/v1beta/nothing",
    ):
        async with stack.session.post(path, json=ASKED) as got:
            assert got.status == 404, path
            assert (await got.json())["error"]["status"] == "NOT_FOUND"
    async with stack.session.post("/v1beta/models/nope:generateContent", json=ASKED) as got:
        assert got.status == 404
        assert "nope" in (await got.json())["error"]["message"]
    none = {"authorization": ""}
    async with stack.session.post(f"{PATH}:generateContent", json=ASKED, headers=none) as got:
        assert got.status == 401
        assert (await got.json())["error"]["status"] == "UNAUTHENTICATED"
    async with stack.session.post(f"{PATH}:generateContent", json={}) as got:
        assert got.status == 400
        error = (await got.json())["error"]
    assert (error["status"], error["code"]) == ("INVALID_ARGUMENT", 400)
    assert "contents" in error["message"]
    async with stack.session.post("/v1beta/models", json={}) as got:
        assert got.status == 405
        assert (await got.json())["error"]["code"] == 405


@pytest.mark.spec("XLT-16")
async def test_models_are_listed_page_by_page(stack: Stack) -> None:
    async with stack.session.get("/v1beta/models") as got:
        every = [model["name"] for model in (await got.json())["models"]]
    assert every == ["models/claude-large", "models/tiny", "models/orphan"]
    goog = {"authorization": "", "x-goog-api-key": KEY}
    async with stack.session.get("/v1/models?pageSize=2", headers=goog) as got:
        first = await got.json()
    assert [model["name"] for model in first["models"]] == every[:2]
    token = first["nextPageToken"]
    async with stack.session.get(f"/v1beta/models?pageSize=2&pageToken={token}") as got:
        last = await got.json()
    assert [model["name"] for model in last["models"]] == every[2:]
    assert "nextPageToken" not in last
    shown = first["models"][0]
    assert (shown["displayName"], shown["inputTokenLimit"]) == ("claude-large", 200_000)
    assert "generateContent" in shown["supportedGenerationMethods"]
    async with stack.session.get("/v1beta/models?pageToken=x") as got:
        assert (got.status, (await got.json())["error"]["status"]) == (400, "INVALID_ARGUMENT")


@pytest.mark.spec("XLT-16")
async def test_one_model_has_the_dialects_shape(stack: Stack) -> None:
    for path in ("/v1beta/models/claude-large", "/v1beta/models/claude-large-20260101"):
        async with stack.session.get(path) as got:
            assert (await got.json())["name"] == "models/claude-large"
    async with stack.session.get("/v1beta/models/nope") as got:
        assert got.status == 404
        assert (await got.json())["error"]["status"] == "NOT_FOUND"
    async with stack.session.get("/v1beta/models/nope", headers={"authorization": ""}) as got:
        assert got.status == 401
