"""The vendors' own SDKs hold a conversation; the bytes do not depend on the deployment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import httpx
import orjson
import pytest
from anthropic import AsyncAnthropic
from anthropic.types import Message, MessageParam, ToolParam
from openai import AsyncOpenAI
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionFunctionToolParam,
    ChatCompletionMessageFunctionToolCall,
    ChatCompletionMessageParam,
)

from services.domain.vocab import WireFamily
from tests.e2e import conversations
from tests.e2e.conversations import Ask
from tests.e2e.deployments import Deployment
from tests.e2e.settings import (
    CHAT,
    MESSAGES,
    ROUTER_KEY,
    TWIN,
    UPSTREAM_CHAT,
    UPSTREAM_MESSAGES,
)
from tests.fakes.upstream import FakeUpstream, Fault, Match, RecordedRequest

pytestmark = pytest.mark.asyncio(loop_scope="module")

MODELS = {
    MESSAGES: ("/v1/messages", "key-of-anthropic", UPSTREAM_MESSAGES),
    CHAT: ("/v1/chat/completions", "key-of-openai", UPSTREAM_CHAT),
}
"""Where a model's requests must arrive: path, key, name."""
MESSAGES_TOOL: ToolParam = {
    "name": conversations.TOOL,
    "input_schema": conversations.SCHEMA,
}
CHAT_TOOL: ChatCompletionFunctionToolParam = {
    "type": "function",
    "function": {"name": conversations.TOOL, "parameters": conversations.SCHEMA},
}
FAMILIES = {MESSAGES: WireFamily.ANTHROPIC, CHAT: WireFamily.OPENAI_CHAT}

by_model = pytest.mark.parametrize("model", MODELS)
by_streaming = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.mark.spec("XLT-8", "OPS-1")
@by_model
@by_streaming
async def test_the_anthropic_sdk_converses(
    deployment: Deployment, provider: FakeUpstream, model: str, *, streamed: bool
) -> None:
    conversations.script(provider)
    async with AsyncAnthropic(base_url=deployment.url, api_key=ROUTER_KEY, max_retries=0) as client:
        said: list[MessageParam] = [{"role": "user", "content": "Hello"}]
        first = await _create(client, model, said, streamed=streamed)
        assert [block.type for block in first.content] == ["text"]
        assert _text(first) == conversations.FIRST_WORDS
        assert first.stop_reason == "end_turn"
        assert (first.usage.input_tokens, first.usage.output_tokens) == (11, 4)

        said += [
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": "How is the weather?"},
        ]
        calling = await _create(client, model, said, streamed=streamed)
        assert calling.stop_reason == "tool_use"
        (call,) = [block for block in calling.content if block.type == "tool_use"]
        assert (call.name, call.input) == (conversations.TOOL, conversations.CITY)

        said += [
            {"role": "assistant", "content": calling.content},
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": call.id,
                        "content": conversations.WEATHER,
                    }
                ],
            },
        ]
        result = await _create(client, model, said, streamed=streamed)
        assert _text(result) == conversations.FIRST_WORDS

        said += [
            {"role": "assistant", "content": result.content},
            {"role": "user", "content": "Thank you. Hello again"},
        ]
        provider.say("Goodbye")
        second = await _create(client, model, said, streamed=streamed)
        assert (second.stop_reason, _text(second)) == ("end_turn", "Goodbye")
        assert second.id != first.id
    _assert_arrived(provider, model, 4, streamed=streamed)


@pytest.mark.spec("XLT-10", "OPS-1")
@by_model
@by_streaming
async def test_the_openai_sdk_converses(
    deployment: Deployment, provider: FakeUpstream, model: str, *, streamed: bool
) -> None:
    conversations.script(provider)
    async with AsyncOpenAI(
        base_url=f"{deployment.url}/v1", api_key=ROUTER_KEY, max_retries=0
    ) as client:
        said: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Hello"}]
        first = await _complete(client, model, said, streamed=streamed)
        assert first.choices[0].message.content == conversations.FIRST_WORDS
        assert first.choices[0].finish_reason == "stop"
        assert first.usage is not None
        assert (first.usage.prompt_tokens, first.usage.completion_tokens) == (11, 4)

        said += [
            {"role": "assistant", "content": first.choices[0].message.content},
            {"role": "user", "content": "How is the weather?"},
        ]
        calling = await _complete(client, model, said, streamed=streamed)
        assert calling.choices[0].finish_reason == "tool_calls"
        calls = calling.choices[0].message.tool_calls
        assert calls is not None
        (call,) = calls
        assert isinstance(call, ChatCompletionMessageFunctionToolCall)
        assert call.function.name == conversations.TOOL
        assert orjson.loads(call.function.arguments) == conversations.CITY

        said += [
            {
                "role": "assistant",
                "tool_calls": [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {
                            "name": call.function.name,
                            "arguments": call.function.arguments,
                        },
                    }
                ],
            },
            {"role": "tool", "tool_call_id": call.id, "content": conversations.WEATHER},
        ]
        result = await _complete(client, model, said, streamed=streamed)
        assert result.choices[0].message.content == conversations.FIRST_WORDS

        said += [
            {"role": "assistant", "content": result.choices[0].message.content},
            {"role": "user", "content": "Thank you. Hello again"},
        ]
        provider.say("Goodbye")
        second = await _complete(client, model, said, streamed=streamed)
        assert second.choices[0].finish_reason == "stop"
        assert second.choices[0].message.content == "Goodbye"
        assert second.id != first.id
    _assert_arrived(provider, model, 4, streamed=streamed)


@pytest.mark.spec("OPS-1", "OPS-3", "DSP-240", "DSP-241")
@pytest.mark.parametrize("model", [MESSAGES, CHAT, TWIN])
@pytest.mark.parametrize("dialect", conversations.DIALECTS, ids=lambda dialect: dialect.value)
@by_streaming
async def test_one_process_and_several_send_the_same_bytes(
    embedded: Deployment,
    apart: Deployment,
    provider: FakeUpstream,
    dialect: WireFamily,
    model: str,
    *,
    streamed: bool,
) -> None:
    for ask in conversations.asks(dialect, model, streamed=streamed):
        answers = []
        for deployment in (embedded, apart):
            conversations.script(provider)
            answers.append(await _capture(deployment, ask))
            (arrived,) = provider.requests
            answers[-1].arrived = arrived.body
        one, several = answers
        assert one.status == 200, one.body
        assert one == several, ask.turn


@pytest.mark.spec("DSP-31", "DSP-42", "DSP-243")
@pytest.mark.parametrize("dialect", conversations.DIALECTS, ids=lambda dialect: dialect.value)
@by_streaming
async def test_a_provider_that_fails_is_stepped_over_alike(
    embedded: Deployment,
    apart: Deployment,
    provider: FakeUpstream,
    dialect: WireFamily,
    *,
    streamed: bool,
) -> None:
    (ask, *_) = conversations.asks(dialect, TWIN, streamed=streamed)
    answers = []
    for deployment in (embedded, apart):
        conversations.script(provider)
        provider.script(Fault(status=503), times=None, match=Match(path="/v1/messages$"))
        answers.append(await _capture(deployment, ask))
        assert [request.path for request in provider.requests] == [
            "/v1/messages",
            "/v1/chat/completions",
        ]
        conversations.script(provider)  # well again, lest it is passed over from now on
        assert (await _capture(deployment, ask)).status == 200
    one, several = answers
    assert one.status == 200, one.body
    assert ("x-router-provider", "openai") in one.headers
    assert ("x-router-fallback-from", "anthropic") in one.headers
    assert one == several


@pytest.mark.spec("XLT-42", "DSP-139")
@by_model
@by_streaming
async def test_an_answer_of_the_own_dialect_is_not_touched(
    deployment: Deployment, provider: FakeUpstream, model: str, *, streamed: bool
) -> None:
    for ask in conversations.asks(FAMILIES[model], model, streamed=streamed):
        conversations.script(provider)
        answer = await _capture(deployment, ask)
        (arrived,) = provider.requests
        sent = orjson.loads(arrived.body)
        assert sent == {**orjson.loads(ask.content), "model": MODELS[model][2]}
        assert answer.body == await _sent_by(provider, arrived)


@dataclass(slots=True)
class Answer:
    """What a client got, and what the provider got for it, less what differs by itself."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes
    arrived: bytes = b""


async def _capture(deployment: Deployment, ask: Ask) -> Answer:
    async with (
        deployment.client() as client,
        client.stream("POST", ask.path, content=ask.content, headers=_JSON) as response,
    ):
        raw = b"".join([piece async for piece in response.aiter_raw()])
    provider = response.headers.get("x-router-provider")
    is_own = provider == ("anthropic" if ask.dialect is WireFamily.ANTHROPIC else "openai")
    headers = [
        (name, _ACTION_ID.sub("act_", value))
        for name, value in response.headers.multi_items()
        if name != "date"
    ]
    return Answer(response.status_code, headers, raw if is_own else _less_made(raw))


_JSON = {"content-type": "application/json"}
_ACTION_ID = re.compile(r"act_[0-9a-f]{24}")
_MADE_ID = re.compile(rb'"id":"(msg_|chatcmpl-)[0-9a-f]{24}"')
_MADE_CALL_SUFFIX = re.compile(rb'(?<=[0-9a-f]{24})_n[0-9a-f]{6}"')
_CREATED = re.compile(rb'"created":\d+')


def _less_made(raw: bytes) -> bytes:
    """Return a translated answer without the ids and times that the product makes."""
    without_ids = _MADE_ID.sub(rb'"id":"\1"', _MADE_CALL_SUFFIX.sub(b'"', raw))
    return _CREATED.sub(b'"created":0', without_ids)


async def _sent_by(provider: FakeUpstream, arrived: RecordedRequest) -> bytes:
    """Return what the provider sends to a request that it had before."""
    async with httpx.AsyncClient(trust_env=False) as client:
        response = await client.post(provider.base_url + arrived.path, content=arrived.body)
    return response.content


async def _create(
    client: AsyncAnthropic,
    model: str,
    said: list[MessageParam],
    *,
    streamed: bool,
) -> Message:
    offered = [MESSAGES_TOOL] if len(said) > 1 else []
    if not streamed:
        return await client.messages.create(
            model=model, max_tokens=256, messages=said, tools=offered
        )
    async with client.messages.stream(
        model=model, max_tokens=256, messages=said, tools=offered
    ) as stream:
        return await stream.get_final_message()


async def _complete(
    client: AsyncOpenAI,
    model: str,
    said: list[ChatCompletionMessageParam],
    *,
    streamed: bool,
) -> ChatCompletion:
    offered = [CHAT_TOOL] if len(said) > 1 else []
    if not streamed:
        return await client.chat.completions.create(model=model, messages=said, tools=offered)
    async with client.chat.completions.stream(
        model=model, messages=said, tools=offered, stream_options={"include_usage": True}
    ) as stream:
        return await stream.get_final_completion()


def _text(message: Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def _assert_arrived(provider: FakeUpstream, model: str, count: int, *, streamed: bool) -> None:
    path, key, name = MODELS[model]
    assert len(provider.requests) == count
    for request in provider.requests:
        assert (request.path, request.key, request.model) == (path, key, name)
        assert request.is_streamed is streamed
        assert ROUTER_KEY not in str(request.headers)
