"""The sandbox over a socket, asked by the vendors' own SDKs."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anthropic
import httpx
import openai
import pytest

from services.embedded.sandbox.script import GREETING
from services.embedded.sandbox.server import Sandbox

NO_API_KEY = {"x-api-key": anthropic.Omit(), "authorization": anthropic.Omit()}
NO_BEARER = {"authorization": openai.Omit()}


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    running = Sandbox()
    await running.start()
    try:
        yield running
    finally:
        await running.aclose()


@pytest.fixture
async def client(sandbox: Sandbox) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False, base_url=sandbox.url) as opened:
        yield opened


@pytest.fixture
async def messages_sdk(sandbox: Sandbox) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(api_key="x", base_url=sandbox.url, max_retries=0) as opened:
        yield opened


@pytest.fixture
async def chat_sdk(sandbox: Sandbox) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        api_key="x", base_url=f"{sandbox.url}/v1", max_retries=0
    ) as opened:
        yield opened


async def test_the_messages_sdk_reads_whole_answers_streams_and_errors(
    messages_sdk: anthropic.AsyncAnthropic,
) -> None:
    sdk = messages_sdk
    whole = await sdk.messages.create(
        model="sandbox-large",
        extra_headers=NO_API_KEY,
        max_tokens=99,
        messages=[{"role": "user", "content": "hi"}],
    )
    assert whole.content[0].type == "text"
    assert whole.content[0].text == GREETING
    async with sdk.messages.stream(
        model="sandbox-large",
        extra_headers=NO_API_KEY,
        max_tokens=99,
        messages=[{"role": "user", "content": 'sandbox: call T {"a": 1}'}],
        tools=[{"name": "T", "input_schema": {"type": "object"}}],
    ) as stream:
        final = await stream.get_final_message()
    assert final.stop_reason == "tool_use"
    assert final.content[0].type == "tool_use"
    assert final.content[0].input == {"a": 1}
    with pytest.raises(anthropic.RateLimitError) as caught:
        await sdk.messages.create(
            model="sandbox-large",
            extra_headers=NO_API_KEY,
            max_tokens=9,
            messages=[{"role": "user", "content": "sandbox: error 429"}],
        )
    assert caught.value.response.headers["retry-after"] == "1"


async def test_the_chat_sdk_reads_whole_answers_and_streams(
    chat_sdk: openai.AsyncOpenAI,
) -> None:
    sdk = chat_sdk
    whole = await sdk.chat.completions.create(
        model="sandbox-small",
        extra_headers=NO_BEARER,
        messages=[{"role": "user", "content": "sandbox: say two"}],
    )
    assert whole.choices[0].message.content == "two"
    stream = await sdk.chat.completions.create(
        model="sandbox-small",
        extra_headers=NO_BEARER,
        messages=[{"role": "user", "content": "hi"}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = [chunk async for chunk in stream]
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == GREETING
    assert chunks[-1].usage is not None


@pytest.mark.parametrize("header", ["authorization", "x-api-key"])
async def test_a_request_with_a_credential_is_refused(sandbox: Sandbox, header: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        response = await client.post(
            f"{sandbox.url}/v1/messages", json={}, headers={header: "Bearer canary"}
        )
    assert response.status_code == 403
    assert "canary" not in response.text


@pytest.mark.parametrize(
    ("content", "status"), [(b"{", 400), (b"[]", 400), (b'{"model": "other"}', 404)]
)
async def test_what_it_cannot_answer_is_said(
    client: httpx.AsyncClient, content: bytes, status: int
) -> None:
    for path in ("/v1/messages", "/v1/chat/completions"):
        response = await client.post(path, content=content)
        assert response.status_code == status
        assert response.json()["error"]["message"]


async def test_models_and_tokens_are_counted(client: httpx.AsyncClient) -> None:
    listed = (await client.get("/v1/models")).json()
    assert [row["id"] for row in listed["data"]] == ["sandbox-large", "sandbox-small"]
    body = {"model": "sandbox-large", "messages": [{"role": "user", "content": "hi"}]}
    counted = (await client.post("/v1/messages/count_tokens", json=body)).json()
    assert counted["input_tokens"] > 0


async def test_the_responses_sdk_reads_whole_answers_streams_and_errors(
    chat_sdk: openai.AsyncOpenAI,
) -> None:
    sdk = chat_sdk
    whole = await sdk.responses.create(
        model="sandbox-large", extra_headers=NO_BEARER, input="sandbox: say hi"
    )
    assert (whole.output_text, whole.status) == ("hi", "completed")
    async with sdk.responses.stream(
        model="sandbox-large",
        extra_headers=NO_BEARER,
        input='sandbox: say so\nsandbox: call T {"a": 1}',
        tools=[{"type": "function", "name": "T", "parameters": {}, "strict": False}],
    ) as stream:
        final = await stream.get_final_response()
    assert final.output_text == "so"
    call = final.output[-1]
    assert call.type == "function_call"
    assert (call.name, call.arguments) == ("T", '{"a":1}')
    with pytest.raises(openai.RateLimitError):
        await sdk.responses.create(
            model="sandbox-large", extra_headers=NO_BEARER, input="sandbox: error 429"
        )


async def test_gemini_says_model_and_kind_of_answer_in_the_path(client: httpx.AsyncClient) -> None:
    asked = {"contents": [{"role": "user", "parts": [{"text": "sandbox: say hi"}]}]}
    whole = await client.post("/v1beta/models/sandbox-small:generateContent", json=asked)
    assert whole.json()["candidates"][0]["content"]["parts"] == [{"text": "hi"}]
    path = "/v1beta/models/sandbox-small:streamGenerateContent?alt=sse"
    streamed = await client.post(path, json=asked)
    assert streamed.headers["content-type"].startswith("text/event-stream")
    assert '"finishReason":"STOP"' in streamed.text
    unknown = await client.post("/v1beta/models/nope:generateContent", json=asked)
    assert (unknown.status_code, unknown.json()["error"]["status"]) == (404, "NOT_FOUND")
    refused = await client.post(path, json=asked, headers={"x-goog-api-key": "k"})
    assert refused.status_code == 403


@pytest.mark.parametrize(
    ("path", "body", "name"),
    [
        ("/v1/messages/count_tokens", {"messages": [{"role": "user"}]}, "input_tokens"),
        ("/v1/responses/input_tokens", {"input": "hi"}, "input_tokens"),
        (
            "/v1beta/models/m:countTokens",
            {"contents": [{"parts": [{"text": "hi"}]}]},
            "totalTokens",
        ),
        (
            "/v1beta/models/m:countTokens",
            {"generateContentRequest": {"contents": [{"parts": [{"text": "hi"}]}]}},
            "totalTokens",
        ),
    ],
)
async def test_tokens_are_counted_where_the_dialect_has_a_call_for_it(
    client: httpx.AsyncClient, path: str, body: dict[str, object], name: str
) -> None:
    counted = await client.post(path, json=body)
    assert counted.json()[name] > 0
    assert (await client.post(path, content=b"[]")).status_code == 400
