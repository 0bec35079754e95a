"""The fake provider speaks Gemini well enough for the vendor's own SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

import httpx
import orjson
import pytest
from google import genai
from google.genai import errors, types

from tests.fakes.upstream import FakeUpstream, Fault, Match, ToolCall, Usage

WORDS = "alpha beta gamma delta "
CALL = ToolCall("Bash", {"command": "ls -la /some/where"})
CALLS = (ToolCall("A", {"n": 1}), ToolCall("B", {}))
USER = {"role": "user", "parts": [{"text": "hello"}]}

either_way = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


class Told(NamedTuple):
    """What the SDK read of one answer, streamed or whole."""

    parts: Sequence[types.Part]
    finish: str
    usage: types.GenerateContentResponseUsageMetadata | None

    @property
    def text(self) -> str:
        return "".join(part.text or "" for part in self.parts if not part.thought)

    @property
    def calls(self) -> list[tuple[str | None, object]]:
        called = [part.function_call for part in self.parts if part.function_call]
        return [(call.name, call.args) for call in called]


@pytest.fixture
async def gemini(upstream: FakeUpstream) -> AsyncIterator[genai.client.AsyncClient]:
    async with httpx.AsyncClient() as transport:
        options = types.HttpOptions(base_url=upstream.base_url, httpx_async_client=transport)
        async with genai.Client(api_key="key-g", http_options=options).aio as client:
            yield client


async def ask(
    gemini: genai.client.AsyncClient,
    contents: str | list[types.ContentUnionDict] = "hello",
    *,
    streamed: bool,
) -> Told:
    tools: types.ToolListUnion = [
        types.Tool(function_declarations=[types.FunctionDeclaration(name="Bash")])
    ]
    config = types.GenerateContentConfig(
        tools=tools,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    if streamed:
        stream = await gemini.models.generate_content_stream(
            model="m", contents=contents, config=config
        )
        answers = [chunk async for chunk in stream]
    else:
        answers = [
            await gemini.models.generate_content(model="m", contents=contents, config=config)
        ]
    candidates = [answer.candidates[0] for answer in answers if answer.candidates]
    contents_told = [candidate.content for candidate in candidates if candidate.content]
    parts = [part for content in contents_told for part in content.parts or ()]
    return Told(parts, str(candidates[-1].finish_reason), answers[-1].usage_metadata)


@either_way
async def test_it_answers_text_and_tells_cached_and_reasoning_tokens_apart(
    upstream: FakeUpstream, gemini: genai.client.AsyncClient, *, streamed: bool
) -> None:
    upstream.script(Fault(usage=Usage(input=3, output=7, cached=100, written=20, reasoning=2)))
    told = await ask(gemini, streamed=streamed)
    assert (told.text, told.finish) == (WORDS, "FinishReason.STOP")
    assert told.usage is not None
    assert (told.usage.prompt_token_count, told.usage.cached_content_token_count) == (123, 100)
    assert (told.usage.candidates_token_count, told.usage.thoughts_token_count) == (5, 2)
    assert told.usage.total_token_count == 130
    (request,) = upstream.requests
    assert (request.model, request.key, request.is_streamed) == ("m", "key-g", streamed)


@either_way
async def test_it_calls_the_scripted_tool_then_answers(
    upstream: FakeUpstream, gemini: genai.client.AsyncClient, *, streamed: bool
) -> None:
    upstream.say("done", CALL)
    contents: list[types.ContentUnionDict] = [
        types.Content(role="user", parts=[types.Part(text="hello")])
    ]
    told = await ask(gemini, contents, streamed=streamed)
    assert told.calls == [("Bash", CALL.args)]
    answered = types.FunctionResponse(name="Bash", response={"result": "ok"})
    contents += [
        types.Content(role="model", parts=list(told.parts)),
        types.Content(role="user", parts=[types.Part(function_response=answered)]),
    ]
    assert (await ask(gemini, contents, streamed=streamed)).text == "done"


@either_way
async def test_thinking_text_and_parallel_calls_are_parts_of_one_answer(
    upstream: FakeUpstream, gemini: genai.client.AsyncClient, *, streamed: bool
) -> None:
    upstream.script(Fault(thinking="hm", text="so", calls=CALLS))
    told = await ask(gemini, streamed=streamed)
    assert (told.parts[0].text, told.parts[0].thought) == ("hm", True)
    assert told.text == "so"
    assert told.calls == [("A", {"n": 1}), ("B", {})]
    signed = [bool(part.thought_signature) for part in told.parts if part.function_call]
    assert signed == [True, False]


@either_way
async def test_arguments_that_break_off_are_a_malformed_call(
    upstream: FakeUpstream, gemini: genai.client.AsyncClient, *, streamed: bool
) -> None:
    upstream.script(Fault(calls=CALLS, bad_tool_args=True))
    told = await ask(gemini, streamed=streamed)
    assert (told.calls, told.finish) == ([], "FinishReason.MALFORMED_FUNCTION_CALL")


@either_way
async def test_an_error_has_the_shape_of_its_family(
    upstream: FakeUpstream, gemini: genai.client.AsyncClient, *, streamed: bool
) -> None:
    upstream.script(Fault(status=429, message="slow down", retry_after=2))
    with pytest.raises(errors.ClientError) as refused:
        await ask(gemini, streamed=streamed)
    assert (refused.value.code, refused.value.status) == (429, "RESOURCE_EXHAUSTED")
    assert refused.value.message == "slow down"


@pytest.mark.parametrize("fault", [Fault(error_first=True), Fault(error_after=2)])
async def test_an_error_in_a_stream_is_one_of_the_sdk(
    upstream: FakeUpstream, gemini: genai.client.AsyncClient, fault: Fault
) -> None:
    upstream.script(fault)
    with pytest.raises(errors.APIError) as failed:
        await ask(gemini, streamed=True)
    assert failed.value.status == "UNAVAILABLE"


async def test_it_counts_lists_models_and_is_matched_by_the_model_of_the_address(
    upstream: FakeUpstream, gemini: genai.client.AsyncClient
) -> None:
    counted = await gemini.models.count_tokens(model="m", contents="hello")
    assert (counted.total_tokens or 0) > 0
    listed = [model.name async for model in await gemini.models.list()]
    assert listed == ["models/fake-large", "models/fake-small"]
    upstream.script(Fault(text="mine"), match=Match(model="^m$", last_role="user"))
    assert (await ask(gemini, streamed=False)).text == "mine"


async def test_frames_end_as_the_vendors_and_other_streams_are_refused(
    upstream: FakeUpstream,
) -> None:
    path = "/v1beta/models/team/m:9:streamGenerateContent"
    async with httpx.AsyncClient(base_url=upstream.base_url) as http:
        sent = await http.post(path, params={"alt": "sse"}, json={"contents": [USER]})
        assert sent.content.endswith(b"\r\n\r\n")
        assert sent.content.count(b"data: ") == upstream.requests[0].events == 5
        assert upstream.requests[0].model == "team/m:9"
        upstream.script(Fault(body=sent.text))
        again = await http.post(path, params={"alt": "sse"}, json={"contents": [USER]})
        assert (again.content, upstream.requests[1].events) == (sent.content, 5)
        plain = await http.post(path, json={"contents": [USER]})
        assert plain.status_code == 400
        assert orjson.loads(plain.content)["error"]["status"] == "INVALID_ARGUMENT"
