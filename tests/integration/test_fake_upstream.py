"""The fake provider satisfies the vendors' own SDKs, and each fault is seen by them as meant."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anthropic
import openai
import orjson
import pytest
from anthropic.types import MessageParam, ToolParam
from openai.types.chat import (
    ChatCompletionFunctionToolParam,
    ChatCompletionMessage,
    ChatCompletionMessageParam,
)

from tests.fakes.upstream import Ending, FakeUpstream, Fault, ToolCall, Usage

HELLO: list[MessageParam] = [{"role": "user", "content": "hello"}]
CHAT_HELLO: list[ChatCompletionMessageParam] = [{"role": "user", "content": "hello"}]
TOOL: ToolParam = {"name": "Bash", "input_schema": {"type": "object"}}
CHAT_TOOL: ChatCompletionFunctionToolParam = {"type": "function", "function": {"name": "Bash"}}
CALL = ToolCall("Bash", {"command": "ls -la /some/where"})
WORDS = "alpha beta gamma delta "


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


@pytest.mark.parametrize("streamed", [False, True])
async def test_thinking_text_and_parallel_calls_come_in_one_answer(
    upstream: FakeUpstream,
    claude: anthropic.AsyncAnthropic,
    gpt: openai.AsyncOpenAI,
    streamed: bool,
) -> None:
    calls = (ToolCall("A", {"n": 1}), ToolCall("B", {"n": 2}))
    upstream.script(Fault(thinking="hm", text="so", calls=calls), times=None)
    message: anthropic.types.Message
    said: ChatCompletionMessage
    if streamed:
        async with claude.messages.stream(model="m", max_tokens=9, messages=HELLO) as stream:
            message = await stream.get_final_message()
        async with gpt.chat.completions.stream(model="m", messages=CHAT_HELLO) as chunks:
            completion = await chunks.get_final_completion()
        said = completion.choices[0].message
    else:
        message = await claude.messages.create(model="m", max_tokens=9, messages=HELLO)
        plain = await gpt.chat.completions.create(model="m", messages=CHAT_HELLO)
        said = plain.choices[0].message
    thinking, text, *tools = message.content
    assert thinking.type == "thinking"
    assert (thinking.thinking, bool(thinking.signature)) == ("hm", True)
    assert text.type == "text"
    assert text.text == said.content == "so"
    assert [tool.input for tool in tools if tool.type == "tool_use"] == [{"n": 1}, {"n": 2}]
    functions = [call.function for call in said.tool_calls or [] if call.type == "function"]
    assert [(function.name, function.arguments) for function in functions] == [
        ("A", '{"n":1}'),
        ("B", '{"n":2}'),
    ]


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
