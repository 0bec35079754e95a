"""The fake provider speaks Responses well enough for the vendor's own SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator

import openai
import orjson
import pytest
from openai.types.responses import (
    FunctionToolParam,
    Response,
    ResponseFunctionToolCall,
    ResponseInputItemParam,
    ResponseReasoningItem,
)

from tests.fakes.upstream import FakeUpstream, Fault, Match, ToolCall, Usage

WORDS = "alpha beta gamma delta "
TOOL: FunctionToolParam = {
    "type": "function",
    "name": "Bash",
    "parameters": {"type": "object"},
    "strict": False,
}
CALL = ToolCall("Bash", {"command": "ls -la /some/where"})
CALLS = (ToolCall("A", {"n": 1}), ToolCall("B", {}))

either_way = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.fixture
async def gpt(upstream: FakeUpstream) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        api_key="key-o", base_url=upstream.base_url + "/v1", max_retries=0
    ) as client:
        yield client


async def ask(
    gpt: openai.AsyncOpenAI, asked: str | list[ResponseInputItemParam], *, streamed: bool
) -> Response:
    if not streamed:
        return await gpt.responses.create(model="m", input=asked, tools=[TOOL])
    async with gpt.responses.stream(model="m", input=asked, tools=[TOOL]) as stream:
        return await stream.get_final_response()


@either_way
async def test_it_answers_text_and_tells_cached_and_reasoning_tokens_apart(
    upstream: FakeUpstream, gpt: openai.AsyncOpenAI, *, streamed: bool
) -> None:
    upstream.script(Fault(usage=Usage(input=3, output=7, cached=100, written=20, reasoning=2)))
    answer = await ask(gpt, "hello", streamed=streamed)
    assert (answer.output_text, answer.status, answer.model) == (WORDS, "completed", "m")
    assert answer.usage is not None
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (123, 7)
    assert answer.usage.input_tokens_details.cached_tokens == 100
    assert answer.usage.output_tokens_details.reasoning_tokens == 2


@either_way
async def test_it_calls_the_scripted_tool_then_answers(
    upstream: FakeUpstream, gpt: openai.AsyncOpenAI, *, streamed: bool
) -> None:
    upstream.say("done", CALL)
    asked: list[ResponseInputItemParam] = [{"role": "user", "content": "hello"}]
    (call,) = (await ask(gpt, asked, streamed=streamed)).output
    assert isinstance(call, ResponseFunctionToolCall)
    assert (call.name, orjson.loads(call.arguments)) == ("Bash", CALL.args)
    asked += [
        {
            "type": "function_call",
            "call_id": call.call_id,
            "name": call.name,
            "arguments": call.arguments,
        },
        {"type": "function_call_output", "call_id": call.call_id, "output": "ok"},
    ]
    assert (await ask(gpt, asked, streamed=streamed)).output_text == "done"


@either_way
async def test_thinking_text_and_parallel_calls_are_items_of_one_answer(
    upstream: FakeUpstream, gpt: openai.AsyncOpenAI, *, streamed: bool
) -> None:
    upstream.script(Fault(thinking="hm", text="so", calls=CALLS))
    answer = await ask(gpt, "hello", streamed=streamed)
    thought, _, *calls = answer.output
    assert isinstance(thought, ResponseReasoningItem)
    assert (thought.summary[0].text, bool(thought.encrypted_content)) == ("hm", True)
    assert answer.output_text == "so"
    told = [(c.name, c.arguments) for c in calls if isinstance(c, ResponseFunctionToolCall)]
    assert told == [("A", '{"n":1}'), ("B", "{}")]


@either_way
@pytest.mark.parametrize("stop", ["max_output_tokens", "content_filter"])
async def test_a_cut_is_an_incomplete_answer(
    upstream: FakeUpstream, gpt: openai.AsyncOpenAI, stop: str, *, streamed: bool
) -> None:
    upstream.script(Fault(stop=stop))
    if streamed:
        events = await gpt.responses.create(model="m", input="hello", stream=True)
        last = [event async for event in events][-1]
        assert last.type == "response.incomplete"
        answer = last.response
    else:
        answer = await ask(gpt, "hello", streamed=False)
    assert answer.status == "incomplete"
    assert answer.incomplete_details is not None
    assert answer.incomplete_details.reason == stop


async def test_an_error_has_the_shape_of_its_family_before_and_in_a_stream(
    upstream: FakeUpstream, gpt: openai.AsyncOpenAI
) -> None:
    upstream.script(Fault(status=429, retry_after=2))
    with pytest.raises(openai.RateLimitError) as refused:
        await gpt.responses.create(model="m", input="hello")
    assert (refused.value.code, refused.value.request_id is None) == ("rate_limit_exceeded", False)
    for fault in (Fault(error_first=True), Fault(error_after=4, error_type="slow_down")):
        upstream.script(fault)
        events = await gpt.responses.create(model="m", input="hello", stream=True)
        *before, last = [event async for event in events]
        assert last.type == "error"
        assert last.code == (fault.error_type or "server_error")
        assert len(before) == (fault.error_after or 0)


async def test_it_counts_tokens_and_is_matched_by_model_and_role(
    upstream: FakeUpstream, gpt: openai.AsyncOpenAI
) -> None:
    counted = await gpt.responses.input_tokens.count(model="m", input="hello")
    assert counted.input_tokens > 0
    upstream.script(Fault(text="mine"), match=Match(model="^large$", last_role="user"))
    said: list[ResponseInputItemParam] = [{"role": "user", "content": "hello"}]
    answer = await gpt.responses.create(model="large", input=said)
    assert answer.output_text == "mine"
