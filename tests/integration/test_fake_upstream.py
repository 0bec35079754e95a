"""The fake provider satisfies the vendors' own SDKs, and each fault is seen by them as meant."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import anthropic
import httpx
import openai
import orjson
import pytest
from anthropic.types import MessageParam, ToolParam
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam

from tests.fakes.upstream import Ending, FakeUpstream, Fault, Match, ToolCall, Usage, Voice

HELLO: list[MessageParam] = [{"role": "user", "content": "hello"}]
CHAT_HELLO: list[ChatCompletionMessageParam] = [{"role": "user", "content": "hello"}]
TOOL: ToolParam = {"name": "Bash", "input_schema": {"type": "object"}}
CHAT_TOOL: ChatCompletionFunctionToolParam = {"type": "function", "function": {"name": "Bash"}}
CALL = ToolCall("Bash", {"command": "ls -la /some/where"})
WORDS = "alpha beta gamma delta "
RAW_STREAM = {"model": "fake-large", "stream": True, "messages": [{"role": "user", "content": "x"}]}


@pytest.fixture
async def upstream() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream() as running:
        yield running


@pytest.fixture
async def claude(upstream: FakeUpstream) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(
        api_key="key-a", base_url=upstream.base_url, max_retries=0
    ) as client:
        yield client


@pytest.fixture
async def gpt(upstream: FakeUpstream) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        api_key="key-o", base_url=upstream.base_url + "/v1", max_retries=0
    ) as client:
        yield client


@pytest.fixture
async def http(upstream: FakeUpstream) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=upstream.base_url, timeout=5) as client:
        yield client


async def test_messages_answers_text_and_usage_with_cache_tokens(
    upstream: FakeUpstream, claude: anthropic.AsyncAnthropic
) -> None:
    upstream.script(Fault(usage=Usage(input=3, output=7, cached=100, written=20)))
    answer = await claude.messages.create(model="m", max_tokens=9, messages=HELLO)
    assert answer.content[0].type == "text"
    assert answer.content[0].text == WORDS
    assert answer.stop_reason == "end_turn"
    assert answer.usage.cache_read_input_tokens == 100
    assert answer.usage.cache_creation_input_tokens == 20
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (3, 7)


async def test_messages_streams_to_the_final_message(claude: anthropic.AsyncAnthropic) -> None:
    async with claude.messages.stream(model="m", max_tokens=9, messages=HELLO) as stream:
        text = "".join([piece async for piece in stream.text_stream])
        final = await stream.get_final_message()
    assert text == WORDS
    assert final.stop_reason == "end_turn"
    assert final.usage.output_tokens == 4


@pytest.mark.parametrize("streamed", [False, True])
async def test_messages_calls_the_scripted_tool_then_answers(
    upstream: FakeUpstream, claude: anthropic.AsyncAnthropic, streamed: bool
) -> None:
    upstream.say("done", CALL)

    async def ask(messages: list[MessageParam]) -> anthropic.types.Message:
        if not streamed:
            return await claude.messages.create(
                model="m", max_tokens=9, messages=messages, tools=[TOOL]
            )
        async with claude.messages.stream(
            model="m", max_tokens=9, messages=messages, tools=[TOOL]
        ) as stream:
            return await stream.get_final_message()

    first = await ask(HELLO)
    assert first.stop_reason == "tool_use"
    block = first.content[0]
    assert block.type == "tool_use"
    assert (block.name, block.input) == ("Bash", CALL.args)
    result: MessageParam = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": block.id, "content": "ok"}],
    }
    call: MessageParam = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}],
    }
    second = await ask([*HELLO, call, result])
    assert second.stop_reason == "end_turn"
    assert second.content[0].type == "text"
    assert second.content[0].text == "done"


async def test_count_tokens_and_models_answer_both_sdks(
    claude: anthropic.AsyncAnthropic, gpt: openai.AsyncOpenAI
) -> None:
    count = await claude.messages.count_tokens(model="m", messages=HELLO)
    assert count.input_tokens > 0
    assert [model.id async for model in claude.models.list()] == ["fake-large", "fake-small"]
    assert [model.id async for model in gpt.models.list()] == ["fake-large", "fake-small"]


async def test_chat_answers_text_and_counts_cached_tokens_inside_the_prompt(
    upstream: FakeUpstream, gpt: openai.AsyncOpenAI
) -> None:
    upstream.script(Fault(usage=Usage(input=3, output=7, cached=100)))
    answer = await gpt.chat.completions.create(model="m", messages=CHAT_HELLO)
    assert answer.choices[0].message.content == WORDS
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.prompt_tokens == 103
    assert answer.usage.prompt_tokens_details is not None
    assert answer.usage.prompt_tokens_details.cached_tokens == 100


@pytest.mark.parametrize("include_usage", [False, True])
async def test_chat_streams_usage_only_when_asked(
    gpt: openai.AsyncOpenAI, include_usage: bool
) -> None:
    stream = await gpt.chat.completions.create(
        model="m",
        messages=CHAT_HELLO,
        stream=True,
        stream_options={"include_usage": include_usage},
    )
    chunks = [chunk async for chunk in stream]
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    assert text == WORDS
    assert [bool(chunk.usage) for chunk in chunks].count(True) == include_usage


@pytest.mark.parametrize("streamed", [False, True])
async def test_chat_calls_the_scripted_tool_then_answers(
    upstream: FakeUpstream, gpt: openai.AsyncOpenAI, streamed: bool
) -> None:
    upstream.say("done", [ToolCall("Absent"), CALL])

    async def ask(messages: list[ChatCompletionMessageParam]) -> tuple[str, str, str]:
        if not streamed:
            answer = await gpt.chat.completions.create(
                model="m", messages=messages, tools=[CHAT_TOOL]
            )
            choice = answer.choices[0]
            called = "".join(
                c.function.arguments
                for c in choice.message.tool_calls or []
                if c.type == "function"
            )
            return choice.finish_reason, called, choice.message.content or ""
        stream = await gpt.chat.completions.create(
            model="m", messages=messages, tools=[CHAT_TOOL], stream=True
        )
        finish, called, said = "", "", ""
        async for chunk in stream:
            delta = chunk.choices[0].delta
            finish = chunk.choices[0].finish_reason or finish
            said += delta.content or ""
            for call in delta.tool_calls or []:
                called += (call.function.arguments or "") if call.function else ""
        return finish, called, said

    finish, called, said = await ask(CHAT_HELLO)
    assert (finish, said) == ("tool_calls", "")
    assert orjson.loads(called) == CALL.args
    turn: list[ChatCompletionMessageParam] = [
        *CHAT_HELLO,
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "Bash", "arguments": called}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
    ]
    assert await ask(turn) == ("stop", "", "done")


async def test_an_error_has_the_shape_headers_and_wait_of_its_family(
    upstream: FakeUpstream, claude: anthropic.AsyncAnthropic, gpt: openai.AsyncOpenAI
) -> None:
    upstream.script(Fault(status=429, retry_after=2, headers={"x-extra": "1"}), times=2)
    with pytest.raises(anthropic.RateLimitError) as claude_error:
        await claude.messages.create(model="m", max_tokens=9, messages=HELLO)
    assert claude_error.value.response.headers["retry-after"] == "2"
    assert claude_error.value.response.headers["x-extra"] == "1"
    assert claude_error.value.request_id
    assert "rate_limit_error" in str(claude_error.value.body)
    with pytest.raises(openai.RateLimitError) as gpt_error:
        await gpt.chat.completions.create(model="m", messages=CHAT_HELLO)
    assert gpt_error.value.code == "rate_limit_exceeded"


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


async def test_a_cut_body_and_a_dropped_connection_are_transport_errors(
    upstream: FakeUpstream, gpt: openai.AsyncOpenAI
) -> None:
    upstream.script(Fault(drop=True))
    upstream.script(Fault(cut_after=1))
    for _ in range(2):
        with pytest.raises(openai.APIConnectionError):
            await gpt.chat.completions.create(model="m", messages=CHAT_HELLO)
    assert [request.ending for request in upstream.requests] == [Ending.CUT, Ending.CUT]
    assert upstream.requests[0].status is None


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
