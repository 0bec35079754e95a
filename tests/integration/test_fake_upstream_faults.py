"""Each fault of the fake provider is seen on the wire as meant, and every request recorded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import orjson
import pytest
from openai.types.chat import ChatCompletionFunctionToolParam

from tests.fakes.upstream import Ending, FakeUpstream, Fault, Match, ToolCall, Voice

CHAT_TOOL: ChatCompletionFunctionToolParam = {"type": "function", "function": {"name": "Bash"}}
CALL = ToolCall("Bash", {"command": "ls -la /some/where"})
RAW_STREAM = {"model": "fake-large", "stream": True, "messages": [{"role": "user", "content": "x"}]}


@pytest.fixture
async def http(upstream: FakeUpstream) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=upstream.base_url, timeout=5) as client:
        yield client


async def test_a_literal_body_is_sent_as_it_is(
    upstream: FakeUpstream, http: httpx.AsyncClient
) -> None:
    upstream.script(Fault(status=400, body={"odd": [1]}))
    upstream.script(Fault(status=502, body="<html>bad</html>", content_type="text/html"))
    first = await http.post("/v1/messages", json={})
    second = await http.post("/v1/messages", json={})
    assert (first.status_code, first.content) == (400, b'{"odd":[1]}')
    assert (second.text, second.headers["content-type"]) == ("<html>bad</html>", "text/html")


async def test_rules_answer_in_order_and_only_what_they_match(
    upstream: FakeUpstream, http: httpx.AsyncClient
) -> None:
    upstream.script(Fault(status=401), match=Match(key="^bad$"), times=None)
    upstream.script(Fault(status=529), match=Match(model="small"), times=1)

    async def status(model: str, key: str) -> int:
        headers = {"authorization": f"Bearer {key}"}
        body = {"model": model, "messages": []}
        return (await http.post("/v1/messages", json=body, headers=headers)).status_code

    asked = [("small", "ok"), ("small", "ok"), ("large", "bad"), ("small", "bad"), ("large", "ok")]
    assert [await status(*pair) for pair in asked] == [529, 200, 401, 401, 200]


async def test_equal_requests_get_equal_bytes_from_two_servers(http: httpx.AsyncClient) -> None:
    async with (
        FakeUpstream() as other,
        httpx.AsyncClient(base_url=other.base_url) as http_of_other,
    ):
        for path in ("/v1/messages", "/v1/chat/completions"):
            for body in (RAW_STREAM, {**RAW_STREAM, "stream": False}):
                one = await http.post(path, json=body)
                two = await http_of_other.post(path, json=body)
                assert one.content == two.content
                assert one.headers.get("request-id") == two.headers.get("request-id")


async def test_a_split_stream_holds_the_same_bytes(
    upstream: FakeUpstream, http: httpx.AsyncClient
) -> None:
    whole = await http.post("/v1/messages", json=RAW_STREAM)
    upstream.script(Fault(split=7))
    assert (await http.post("/v1/messages", json=RAW_STREAM)).content == whole.content


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        (Fault(end_after=2), b"content_block_start"),
        (Fault(error_after=1, error_type="api_error", message="late"), b'"message":"late"'),
        (Fault(error_first=True), b"overloaded_error"),
        (Fault(bad_json=True), b"data: {not json"),
        (Fault(stop="max_tokens"), b'"stop_reason":"max_tokens"'),
        (Fault(empty=True), b"message_delta"),
        (Fault(oversize=5000), b"x" * 5000),
        (Fault(body="event: a\ndata: 1\n\nevent: b\ndata: 2\n\n"), b"event: b\ndata: 2\n\n"),
        (Fault(text="said"), b'"text":"said"'),
    ],
)
async def test_stream_faults_end_in_well_formed_http(
    upstream: FakeUpstream, http: httpx.AsyncClient, fault: Fault, seen: bytes
) -> None:
    upstream.script(fault)
    answer = await http.post("/v1/messages", json=RAW_STREAM)
    assert answer.status_code == 200
    assert seen in answer.content
    await upstream.wait_until(lambda: upstream.requests[0].ending is Ending.COMPLETE)


async def test_omitted_usage_and_bad_tool_arguments_reach_the_client(
    upstream: FakeUpstream, http: httpx.AsyncClient
) -> None:
    upstream.say(None, CALL)
    upstream.script(Fault(omit_usage=True, bad_tool_args=True))
    body = {"model": "m", "messages": [], "tools": [CHAT_TOOL]}
    answer = orjson.loads((await http.post("/v1/chat/completions", json=body)).content)
    assert "usage" not in answer
    with pytest.raises(orjson.JSONDecodeError):
        orjson.loads(answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"])


async def test_a_cut_stream_delivers_what_came_before_and_no_terminator(
    upstream: FakeUpstream, http: httpx.AsyncClient
) -> None:
    upstream.script(Fault(cut_after=3))
    seen: list[bytes] = []

    async def read() -> None:
        async with http.stream("POST", "/v1/messages", json=RAW_STREAM) as answer:
            async for piece in answer.aiter_bytes():
                seen.append(piece)  # noqa: PERF401 - what came before the cut must be kept

    with pytest.raises(httpx.RemoteProtocolError):
        await read()
    assert b"".join(seen).count(b"\n\n") == 3
    assert (upstream.requests[0].ending, upstream.requests[0].events) == (Ending.CUT, 3)
    assert upstream.aborted == 0


@pytest.mark.parametrize("fault", [Fault(stall_after=2), Fault(delay=30), Fault(first_delay=30)])
async def test_a_client_that_leaves_is_noticed_and_counted(
    upstream: FakeUpstream, fault: Fault
) -> None:
    upstream.script(fault)
    async with httpx.AsyncClient(base_url=upstream.base_url, timeout=None) as leaver:  # noqa: S113 - leaving is the test
        asking = asyncio.ensure_future(leaver.post("/v1/messages", json=RAW_STREAM))
        await upstream.wait_until(lambda: upstream.open_streams == 1)
        asking.cancel()
        await asyncio.wait([asking])
    await upstream.wait_until(lambda: upstream.aborted == 1)
    assert upstream.requests[0].ending is Ending.CLIENT_ABORTED
    assert (upstream.open_streams, upstream.peak_streams) == (0, 1)


async def test_requests_are_recorded_as_they_arrived(
    upstream: FakeUpstream, http: httpx.AsyncClient
) -> None:
    raw = b'{ "model": "m",  "messages": [] }'
    await http.post("/deep/v1/messages?a=1", content=raw, headers={"X-Api-Key": "k"})
    (request,) = upstream.requests
    assert (request.path, request.query, request.body) == ("/deep/v1/messages", {"a": "1"}, raw)
    assert (request.headers["x-api-key"], request.key, request.model) == ("k", "k", "m")
    assert request.ended is not None
    assert request.ended >= request.started


async def test_unknown_paths_are_recorded_and_not_found(
    upstream: FakeUpstream, http: httpx.AsyncClient
) -> None:
    assert (await http.post("/v1/nothing", json={})).status_code == 404
    assert (await http.get("/v1/messages")).status_code == 404
    assert [request.status for request in upstream.requests] == [404, 404]


async def test_stamped_deltas_hold_the_monotonic_clock() -> None:
    async with (
        FakeUpstream(voice=Voice(chunks=2, stamp=True)) as upstream,
        httpx.AsyncClient(base_url=upstream.base_url) as http,
    ):
        answer = orjson.loads((await http.post("/v1/messages", json={})).content)
        first, second = answer["content"][0]["text"].split()
    assert int(first.strip("<>")) <= int(second.strip("<>"))


async def test_the_control_endpoint_sets_rules_and_tells_what_was_seen(
    http: httpx.AsyncClient,
) -> None:
    rule = {"fault": {"status": 503, "body": {"a": 1}}, "times": 1, "match": {"path": "messages"}}
    assert (await http.post("/_ctl/rules", json=rule)).status_code == 200
    assert (await http.post("/_ctl/rules", json={"fault": {"typo": 1}})).status_code == 400
    scenario = {"text": "words", "steps": [[{"name": "Bash", "args": {"a": 1}}]]}
    assert (await http.put("/_ctl/scenario", json=scenario)).status_code == 200
    assert (await http.post("/v1/messages", json={})).status_code == 503
    assert "words" in (await http.post("/v1/messages", json={})).text
    log = (await http.get("/_ctl/log")).json()
    assert [entry["status"] for entry in log] == [503, 200]
    stats = (await http.get("/_ctl/stats")).json()
    assert stats["status"] == {"503": 1, "200": 1}
    assert (await http.delete("/_ctl/rules")).json() == []
    assert (await http.delete("/_ctl/log")).json() == []


async def test_closing_the_provider_ends_open_streams_at_once() -> None:
    async with FakeUpstream() as upstream, httpx.AsyncClient(base_url=upstream.base_url) as http:
        upstream.script(Fault(stall_after=1))
        asking = asyncio.ensure_future(http.post("/v1/messages", json=RAW_STREAM))
        await upstream.wait_until(lambda: upstream.open_streams == 1)
        await upstream.__aexit__(None, None, None)
        with pytest.raises(httpx.TransportError):
            await asyncio.wait_for(asking, 2)
    assert upstream.open_streams == 0
