"""The vendors' SDKs of Responses and Gemini hold a conversation through every dialect upstream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence

import openai
import pytest
import pytest_asyncio
from google import genai
from google.genai import types
from openai import AsyncOpenAI
from openai.types.responses import (
    FunctionToolParam,
    Response,
    ResponseFunctionToolCall,
    ResponseInputItemParam,
)

from tests.e2e import deployments
from tests.e2e.deployments import Deployment
from tests.e2e.settings import ROUTER_KEY

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    # Google's SDK derives its session from aiohttp's, which aiohttp warns of.
    pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning"),
]

UPSTREAMS = ("sandbox", "sandbox-chat", "sandbox-responses", "sandbox-gemini")
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
TOOL: FunctionToolParam = {
    "type": "function",
    "name": "get_weather",
    "parameters": SCHEMA,
    "strict": False,
}
DECLARED = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(
            name="get_weather",
            description="Tells the weather.",
            parameters=types.Schema(
                type=types.Type.OBJECT,
                properties={"city": types.Schema(type=types.Type.STRING)},
                required=["city"],
            ),
        )
    ]
)
ASK = 'sandbox: call get_weather {"city": "Oslo"}'
WEATHER = "Sun all day"
SIZED = f"The tool answered with {len(WEATHER)} characters."

by_upstream = pytest.mark.parametrize("upstream", UPSTREAMS)
by_streaming = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


def _model(provider: str) -> str:
    return f"by-{provider}"


def _shown(provider: str, own: str) -> str:
    """Return the model that an answer names: answers of the client's own dialect are untouched."""
    return "sandbox-large" if provider == own else _model(provider)


def _catalog() -> str:
    return "".join(
        f"""
[[models]]
id = "{_model(provider)}"
tier = "mid"
context_window = 200000
max_output_tokens = 8192
[[models.bindings]]
provider = "{provider}"
upstream_id = "sandbox-large"
input_usd_per_mtok = 0.0
output_usd_per_mtok = 0.0
"""
        for provider in UPSTREAMS
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deployment]:
    home = tmp_path_factory.mktemp("home")
    tables = '[routing]\nstrategy = "requested"\n'
    async with deployments.sandboxed(home, tables, _catalog()) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def responses(sandbox: Deployment) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(
        base_url=f"{sandbox.url}/v1", api_key=ROUTER_KEY, max_retries=0
    ) as client:
        yield client


@pytest.fixture(params=["v1beta", "v1"])
def gemini(request: pytest.FixtureRequest, sandbox: Deployment) -> Iterator[genai.Client]:
    options = types.HttpOptions(base_url=sandbox.url, api_version=request.param)
    with genai.Client(api_key=ROUTER_KEY, http_options=options) as client:
        yield client


@pytest.mark.spec("XLT-11", "XLT-224")
@by_upstream
@by_streaming
async def test_the_openai_sdk_converses_over_responses(
    responses: AsyncOpenAI, upstream: str, *, streamed: bool
) -> None:
    said: list[ResponseInputItemParam] = [{"role": "user", "content": "sandbox: say Hello"}]
    first = await _respond(responses, upstream, said, streamed=streamed)
    assert (first.output_text, first.status) == ("Hello", "completed")
    assert first.model == _shown(upstream, "sandbox-responses")
    assert first.usage is not None
    assert first.usage.input_tokens > 0
    assert first.usage.output_tokens == 2

    said += [*_kept(first), {"role": "user", "content": ASK}]
    calling = await _respond(responses, upstream, said, streamed=streamed)
    (call,) = [item for item in calling.output if isinstance(item, ResponseFunctionToolCall)]
    assert (call.name, call.arguments) == ("get_weather", '{"city":"Oslo"}')

    result: ResponseInputItemParam = {
        "type": "function_call_output",
        "call_id": call.call_id,
        "output": WEATHER,
    }
    said += [*_kept(calling), result]
    told = await _respond(responses, upstream, said, streamed=streamed)
    assert told.output_text == SIZED

    said += [*_kept(told), {"role": "user", "content": "sandbox: say Goodbye"}]
    second = await _respond(responses, upstream, said, streamed=streamed)
    assert second.output_text == "Goodbye"
    assert len({first.id, calling.id, told.id, second.id}) == 4


async def _respond(
    client: AsyncOpenAI,
    upstream: str,
    said: Sequence[ResponseInputItemParam],
    *,
    streamed: bool,
) -> Response:
    model, asked = _model(upstream), list(said)
    if not streamed:
        return await client.responses.create(
            model=model, input=asked, tools=[TOOL], max_output_tokens=256
        )
    async with client.responses.stream(
        model=model, input=asked, tools=[TOOL], max_output_tokens=256
    ) as stream:
        return await stream.get_final_response()


def _kept(answer: Response) -> list[ResponseInputItemParam]:
    """Return an answer's items as a client sends them back."""
    return [item.to_dict() for item in answer.output]  # type: ignore[misc]  # the SDK's own way


@pytest.mark.spec("XLT-12", "XLT-16", "XLT-78", "XLT-205")
async def test_the_openai_sdk_counts_lists_and_is_refused(responses: AsyncOpenAI) -> None:
    counted = await responses.responses.input_tokens.count(
        model=_model("sandbox-chat"), input="x" * 400
    )
    assert 100 <= counted.input_tokens < 120
    listed = [model.id async for model in responses.models.list()]
    assert {_model(provider) for provider in UPSTREAMS} <= set(listed)
    for upstream in UPSTREAMS:
        with pytest.raises(openai.UnprocessableEntityError):
            await responses.responses.create(model=_model(upstream), input="sandbox: error 422")
    with pytest.raises(openai.NotFoundError):
        await responses.responses.retrieve("resp_1")
    with pytest.raises(openai.BadRequestError) as caught:
        await responses.responses.create(
            model=_model("sandbox-chat"), input="x", previous_response_id="resp_1"
        )
    assert caught.value.param == "previous_response_id"
    kept = await responses.responses.create(
        model=_model("sandbox-responses"), input="sandbox: say x", previous_response_id="resp_1"
    )
    assert kept.output_text == "x"
    with pytest.raises(openai.AuthenticationError):
        await responses.with_options(api_key="rk_nobodys").responses.create(
            model=_model("sandbox"), input="x"
        )


@pytest.mark.spec("XLT-13", "XLT-224")
@by_upstream
@by_streaming
async def test_googles_sdk_converses(
    gemini: genai.Client, upstream: str, *, streamed: bool
) -> None:
    said: list[types.Content] = [_user("sandbox: say Hello")]
    first = await _generate(gemini, upstream, said, streamed=streamed)
    assert _words(first) == "Hello"
    usage = first[-1].usage_metadata
    assert usage is not None
    assert usage.prompt_token_count
    assert usage.candidates_token_count == 2
    assert first[-1].model_version == _shown(upstream, "sandbox-gemini")

    said += [_content(first), _user(ASK)]
    calling = await _generate(gemini, upstream, said, streamed=streamed)
    (call,) = [call for chunk in calling for call in chunk.function_calls or ()]
    assert (call.name, call.args) == ("get_weather", {"city": "Oslo"})

    response = types.FunctionResponse(id=call.id, name=call.name, response={"result": WEATHER})
    result = types.Content(role="user", parts=[types.Part(function_response=response)])
    said += [_content(calling), result]
    assert _words(await _generate(gemini, upstream, said, streamed=streamed)) == SIZED

    said += [types.Content(role="model", parts=[types.Part(text=SIZED)]), _user("sandbox: say Bye")]
    assert _words(await _generate(gemini, upstream, said, streamed=streamed)) == "Bye"


def _user(words: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=words)])


async def _generate(
    client: genai.Client, upstream: str, said: Sequence[types.Content], *, streamed: bool
) -> list[types.GenerateContentResponse]:
    config = types.GenerateContentConfig(tools=[DECLARED], max_output_tokens=256)
    asking = {"model": _model(upstream), "contents": list(said), "config": config}
    if not streamed:
        return [await client.aio.models.generate_content(**asking)]  # type: ignore[arg-type]  # by name
    stream = await client.aio.models.generate_content_stream(**asking)  # type: ignore[arg-type]  # by name
    return [chunk async for chunk in stream]


def _parts(answers: Sequence[types.GenerateContentResponse]) -> list[types.Part]:
    found: list[types.Part] = []
    for answer in answers:
        for candidate in answer.candidates or ():
            if candidate.content is not None:
                found += candidate.content.parts or []
    return found


def _words(answers: Sequence[types.GenerateContentResponse]) -> str:
    return "".join(part.text or "" for part in _parts(answers))


def _content(answers: Sequence[types.GenerateContentResponse]) -> types.Content:
    return types.Content(role="model", parts=_parts(answers))


@pytest.mark.spec("XLT-13", "XLT-224")
@by_upstream
async def test_googles_sdk_calls_functions_by_itself(sandbox: Deployment, upstream: str) -> None:
    asked: list[str] = []

    def get_weather(city: str) -> str:
        """Tell the weather."""
        asked.append(city)
        return WEATHER

    options = types.HttpOptions(base_url=sandbox.url)
    async with genai.Client(api_key=ROUTER_KEY, http_options=options).aio as client:
        config = types.GenerateContentConfig(tools=[get_weather])
        answer = await client.models.generate_content(
            model=_model(upstream), contents=ASK, config=config
        )
    assert asked == ["Oslo"]
    assert answer.text == SIZED


@pytest.mark.spec("XLT-15", "XLT-16", "XLT-21", "XLT-196", "XLT-205")
async def test_googles_sdk_counts_lists_and_is_refused(
    sandbox: Deployment, gemini: genai.Client
) -> None:
    counted = await gemini.aio.models.count_tokens(
        model=_model("sandbox-gemini"), contents="x" * 400
    )
    assert 100 <= (counted.total_tokens or 0) < 120
    listed = [model.name async for model in await gemini.aio.models.list(config={"page_size": 3})]
    assert {f"models/{_model(provider)}" for provider in UPSTREAMS} <= set(listed)
    one = await gemini.aio.models.get(model=_model("sandbox"))
    assert (one.input_token_limit, one.output_token_limit) == (200_000, 8_192)
    for upstream in UPSTREAMS:
        with pytest.raises(genai.errors.ClientError) as caught:
            await gemini.aio.models.generate_content(
                model=_model(upstream), contents="sandbox: error 422"
            )
        assert (caught.value.code, caught.value.status) == (422, "INVALID_ARGUMENT")
    with pytest.raises(genai.errors.ClientError) as missing:
        await gemini.aio.models.generate_content(model="nope", contents="x")
    assert (missing.value.code, missing.value.status) == (404, "NOT_FOUND")
    options = types.HttpOptions(base_url=sandbox.url)
    stranger = genai.Client(api_key="rk_nobodys", http_options=options)
    with stranger, pytest.raises(genai.errors.ClientError) as denied:
        stranger.models.generate_content(model=_model("sandbox"), contents="x")
    assert (denied.value.code, denied.value.status) == (401, "UNAUTHENTICATED")
