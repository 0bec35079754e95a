"""The sandbox's rules: what it answers, how it counts, what it writes."""

from __future__ import annotations

import dataclasses
from types import ModuleType

import jsonschema
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.domain.catalog import build_catalog
from services.domain.vocab import WireFamily
from services.domain.wire.assemble import Assembler
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import Text, ToolUse
from services.embedded.sandbox import catalog, gemini, responses
from services.embedded.sandbox import chat as chat_dialect
from services.embedded.sandbox import messages as messages_dialect
from services.embedded.sandbox.instance import instance
from services.embedded.sandbox.prompt import CACHE_MARK, Prompt, Segment
from services.embedded.sandbox.reply import Reply
from services.embedded.sandbox.script import GREETING, Answer, Call, answer
from services.embedded.sandbox.server import MODELS
from services.embedded.sandbox.usage import InputTokens, PromptCache

READ = {"name": "Read", "input_schema": {"type": "object", "required": ["path"]}}
TITLE = {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}


def messages(text: str, **more: object) -> Prompt:
    said = {"role": "user", "content": [{"type": "text", "text": text}]}
    return messages_dialect.read({"model": "sandbox-large", "messages": [said], **more})


def chat(text: str, **more: object) -> Prompt:
    said = {"role": "user", "content": text}
    return chat_dialect.read({"model": "sandbox-small", "messages": [said], **more})


def items(said: str, **more: object) -> Prompt:
    return responses.read({"model": "sandbox-large", "input": said, **more})


def contents(text: str, **more: object) -> Prompt:
    return gemini.read({"contents": [{"parts": [{"text": text}]}], **more})


@pytest.mark.parametrize("read", [messages, chat, items, contents])
def test_the_answer_is_a_greeting_unless_ordered_otherwise(read: object) -> None:
    assert callable(read)
    assert answer(read("what is 1 + 1?")) == Answer(GREETING)
    assert answer(read("sandbox: say two")) == Answer("two")
    assert answer(read("x\n sandbox: say one\nsandbox: say two\n")) == Answer("one\ntwo")


def test_a_tool_is_called_when_it_is_offered() -> None:
    order = 'sandbox: call Read {"path": "a b"}'
    assert answer(messages(order, tools=[READ])) == Answer(calls=(Call("Read", '{"path":"a b"}'),))
    assert answer(messages(order)) == Answer("No tool of that name is offered.")
    assert answer(messages("sandbox: call Read {", tools=[READ])).calls == ()


def test_several_orders_make_one_answer() -> None:
    order = "sandbox: say looking\nsandbox: call Read {}\nsandbox: call Read {}"
    given = answer(messages(order, tools=[READ]))
    assert given.text == "looking"
    assert len(given.calls) == 2


def test_a_forced_tool_is_called_with_the_least_arguments() -> None:
    schema = {**TITLE, "properties": {"title": {"enum": ["a"]}}}
    prompt = messages(
        "hi",
        tools=[{"name": "T", "input_schema": schema}],
        tool_choice={"type": "tool", "name": "T"},
    )
    assert answer(prompt).calls == (Call("T", '{"title":"a"}'),)
    function = {"type": "function", "function": {"name": "F", "parameters": schema}}
    assert answer(chat("hi", tools=[function], tool_choice="required")).calls[0].name == "F"


def test_orders_about_the_end_and_errors() -> None:
    assert answer(messages("sandbox: stop length")).is_cut
    assert answer(messages("sandbox: error 429")).error_status == 429
    assert answer(messages("sandbox: error 200")).error_status == 0


def test_a_tool_result_is_answered_by_its_size_alone() -> None:
    turn = [
        {"role": "user", "content": "sandbox: call Read {}"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "Read"}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "canary"},
                {"type": "text", "text": "sandbox: say no"},
            ],
        },
        {"role": "system", "content": "a reminder"},
    ]
    prompt = messages_dialect.read({"model": "m", "messages": turn, "tools": [READ]})
    assert answer(prompt) == Answer("The tool answered with 6 characters.")
    chat_turn = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": []},
        {"role": "tool", "content": "1234"},
        {"role": "tool", "content": [{"type": "text", "text": "12"}]},
    ]
    assert answer(chat_dialect.read({"messages": chat_turn})).text == (
        "The tools answered with 4, 2 characters."
    )


@pytest.mark.parametrize("size", [0, 6])
def test_results_of_the_newer_dialects_are_answered_by_their_size(size: int) -> None:
    words = "x" * size
    called = {"type": "function_call", "call_id": "c", "name": "Read", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": words}
    turn = [{"role": "user", "content": "sandbox: say no"}, called, output]
    expected = Answer(f"The tool answered with {size} characters.")
    assert answer(responses.read({"input": turn})) == expected
    call = {"functionCall": {"name": "Read", "args": {}}}
    result = {"functionResponse": {"name": "Read", "response": {"result": words}}}
    talk = [
        {"role": "user", "parts": [{"text": "sandbox: say no"}]},
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [result]},
    ]
    assert answer(gemini.read({"contents": talk})) == expected


def test_the_newer_dialects_say_tools_and_schemas_in_their_ways() -> None:
    order = 'sandbox: call Read {"path": "a"}'
    function = {"type": "function", "name": "Read", "parameters": TITLE}
    calls = (Call("Read", '{"path":"a"}'),)
    assert answer(items(order, tools=[function])).calls == calls
    forced = (Call("Read", '{"title":"sandbox"}'),)
    assert answer(items("hi", tools=[function], tool_choice="required")).calls == forced
    named = {"type": "function", "name": "Read"}
    assert answer(items("hi", tools=[function], tool_choice=named)).calls == forced
    shape = {"format": {"type": "json_schema", "schema": TITLE}}
    assert answer(items("hi", text=shape)).text == '{"title":"sandbox"}'

    upper = {"type": "OBJECT", "required": ["title"], "properties": {"title": {"type": "STRING"}}}
    declared = [{"functionDeclarations": [{"name": "Read", "parameters": upper}]}]
    assert answer(contents(order, tools=declared)).calls == calls
    mode = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["Read"]}}
    assert answer(contents("hi", tools=declared, toolConfig=mode)).calls == forced
    config = {"responseMimeType": "application/json", "responseSchema": upper}
    assert answer(contents("hi", generationConfig=config)).text == '{"title":"sandbox"}'


def test_a_schema_is_answered_by_an_instance() -> None:
    shape = {"format": {"type": "json_schema", "schema": TITLE}}
    assert answer(messages("hi", output_config=shape)).text == '{"title":"sandbox"}'
    wanted = {"type": "json_schema", "json_schema": {"name": "t", "schema": TITLE}}
    assert answer(chat("hi", response_format=wanted)).text == '{"title":"sandbox"}'
    assert answer(chat("hi", response_format={"type": "json_object"})).text == "{}"


@pytest.mark.parametrize(
    "schema",
    [
        TITLE,
        {"type": "array", "minItems": 2, "items": {"type": "integer", "minimum": 3}},
        {"type": "string", "minLength": 12},
        {"type": "string", "maxLength": 2},
        {"type": "number", "maximum": -2},
        {"type": "number", "maximum": 0.5},
        {"type": "integer", "maximum": 100},
        {"type": "integer", "multipleOf": 5},
        {"type": "number", "exclusiveMaximum": 1},
        {"type": "integer", "exclusiveMinimum": 4},
        {"type": ["null", "string"]},
        {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        {"allOf": [{"type": "string"}, {"minLength": 9}]},
        {"$defs": {"n": {"const": 7}}, "type": "object", "required": ["a"],
         "properties": {"a": {"$ref": "#/$defs/n"}}},
    ],
)  # fmt: skip
def test_an_instance_fits_its_schema(schema: dict[str, object]) -> None:
    jsonschema.validate(instance(schema), schema)


def test_a_number_without_bounds_is_one_as_scales_that_begin_there_want() -> None:
    assert instance({"type": "integer"}) == 1


def test_a_schema_that_contains_itself_ends() -> None:
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}
    assert isinstance(instance(schema), dict)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "minItems": 1 << 20},
        {"type": "string", "minLength": 1 << 24},
        {"required": list("abc"), "properties": {key: {"$ref": "#"} for key in "abc"}},
        {"type": "array", "minItems": 8, "items": {"$ref": "#"}},
    ],
)
def test_what_a_schema_may_ask_for_is_bounded(schema: dict[str, object]) -> None:
    assert len(orjson.dumps(instance(schema))) < 1 << 17


@settings(max_examples=25)
@given(st.recursive(st.text() | st.integers(-9, 9), lambda s: st.dictionaries(st.text(), s)))
def test_any_json_gets_some_answer(value: object) -> None:
    body = {"model": value, "messages": value, "tools": [value], "output_config": value}
    assert answer(messages_dialect.read(body)).token_count >= 1
    assert answer(chat_dialect.read({**body, "response_format": value})).token_count >= 1
    asked = {"model": value, "input": value, "tools": [value], "text": value, "tool_choice": value}
    assert answer(responses.read(asked)).token_count >= 1
    asked = {"contents": value, "tools": [value], "generationConfig": value, "toolConfig": value}
    assert answer(gemini.read(asked)).token_count >= 1
    instance(value)


def test_the_output_limit_cuts_the_answer() -> None:
    given = answer(messages("hi", max_tokens=1))
    assert given == Answer(GREETING[:4], is_cut=True)
    assert given.token_count == 1


def segments(*texts: str, marked: int = -1) -> list[Segment]:
    return [Segment(text.encode(), number == marked) for number, text in enumerate(texts)]


def test_the_cache_writes_up_to_the_breakpoint_and_reads_what_it_knows() -> None:
    cache = PromptCache()
    asked = segments("system..", "question", marked=0)
    assert cache.count("m", asked, is_automatic=False) == InputTokens(2, 0, 2)
    assert cache.count("m", asked, is_automatic=False) == InputTokens(2, 2, 0)
    longer = segments("system..", "question", "answer", "more", marked=3)
    assert cache.count("m", longer, is_automatic=False) == InputTokens(0, 2, 5)
    assert cache.count("other", asked, is_automatic=False).cache_read == 0


def test_without_breakpoints_nothing_is_cached_unless_it_is_automatic() -> None:
    cache = PromptCache()
    asked = segments("system..", "question")
    assert cache.count("m", asked, is_automatic=False) == InputTokens(4, 0, 0)
    assert cache.count("m", asked, is_automatic=True) == InputTokens(4, 0, 0)
    assert cache.count("m", asked, is_automatic=True) == InputTokens(0, 4, 0)


def test_a_moved_breakpoint_leaves_the_prefix_as_it_is() -> None:
    block = {"type": "text", "text": "a"}
    marked = {**block, CACHE_MARK: {"type": "ephemeral"}}
    first, second = (
        messages_dialect.read({"messages": [{"role": "user", "content": [b]}]}).segments[0]
        for b in (block, marked)
    )
    assert first.content == second.content
    assert (first.is_breakpoint, second.is_breakpoint) == (False, True)


def test_a_text_counts_the_same_alone_and_as_the_only_block() -> None:
    alone: dict[str, object] = {"role": "user", "content": "a"}
    block = {"type": "text", "text": "a", CACHE_MARK: {"type": "ephemeral"}}
    as_block = messages_dialect.read({"messages": [{**alone, "content": [block]}]}).segments[0]
    assert as_block.is_breakpoint
    assert as_block.content == messages_dialect.read({"messages": [alone]}).segments[0].content


@given(st.lists(st.text(min_size=1), min_size=1), st.booleans())
def test_every_token_is_counted_once(texts: list[str], is_automatic: bool) -> None:
    cache = PromptCache()
    asked = segments(*texts, marked=len(texts) // 2)
    first = cache.count("m", asked, is_automatic=is_automatic)
    again = cache.count("m", asked, is_automatic=is_automatic)
    assert first.total == again.total
    assert again.cache_write == 0


def reply(given: Answer) -> Reply:
    return Reply("0" * 16, "sandbox-large", given, InputTokens(1, 2, 3))


@pytest.mark.parametrize(
    "given",
    [
        Answer(GREETING),
        Answer("é" * 40, is_cut=True),
        Answer("t", calls=(Call("R", '{"a":1}'), Call("S", "{}"))),
    ],
)
def test_a_stream_adds_up_to_the_whole_answer(given: Answer) -> None:
    whole = orjson.loads(orjson.dumps(messages_dialect.whole(reply(given))))
    events = [orjson.loads(e.split(b"data: ")[1]) for e in messages_dialect.events(reply(given))]
    deltas = [e["delta"] for e in events if e["type"] == "content_block_delta"]
    assert "".join(d.get("text", "") for d in deltas) == given.text
    assert "".join(d.get("partial_json", "") for d in deltas) == "".join(
        call.arguments for call in given.calls
    )
    assert events[-2]["usage"] == whole["usage"]
    assert events[-2]["delta"]["stop_reason"] == whole["stop_reason"]

    chunks = [e.removeprefix(b"data: ") for e in chat_dialect.events(reply(given))]
    assert chunks.pop() == b"[DONE]\n\n"
    parsed = [orjson.loads(chunk) for chunk in chunks]
    assert parsed[-1]["usage"] == chat_dialect.whole(reply(given))["usage"]
    assert parsed[-1]["usage"]["prompt_tokens_details"] == {"cached_tokens": 2}
    said = [choice["delta"].get("content", "") for c in parsed for choice in c["choices"]]
    assert "".join(said) == given.text


@pytest.mark.parametrize(
    ("family", "dialect"), [(WireFamily.OPENAI_RESPONSES, responses), (WireFamily.GEMINI, gemini)]
)
@pytest.mark.parametrize(
    "given",
    [
        Answer(GREETING),
        Answer("é" * 40, is_cut=True),
        Answer("t", (Call("R", '{"a":1}'), Call("S", "{}"))),
    ],
)
def test_streams_of_the_newer_dialects_add_up_to_the_whole_answer(
    family: WireFamily, dialect: ModuleType, given: Answer
) -> None:
    codec, assembler = codec_for(family), Assembler()
    decoder = codec.stream_decoder()
    assembler.feed(decoder.feed(b"".join(dialect.events(reply(given)))) + decoder.finish())
    whole = codec.decode_response(orjson.dumps(dialect.whole(reply(given))))
    assert assembler.response == whole
    assert "".join(block.text for block in whole.blocks if isinstance(block, Text)) == given.text
    called = [block for block in whole.blocks if isinstance(block, ToolUse)]
    assert tuple(Call(block.name, block.arguments.decode()) for block in called) == given.calls
    assert whole.usage is not None
    assert (whole.usage.fresh_input, whole.usage.cache_read) == (4, 2)


def test_a_chat_stream_reports_usage_only_when_asked() -> None:
    quiet = dataclasses.replace(reply(Answer("t")), is_usage_wanted=False)
    assert not any(b"usage" in event for event in chat_dialect.events(quiet))


def test_the_models_are_free_and_bound_in_every_dialect() -> None:
    models = build_catalog([catalog.document()]).models
    orders = [[b.provider for b in models[name].bindings] for name in MODELS]
    providers = catalog.providers("http://h")
    assert set(orders[0]) == set(orders[1]) == set(providers)
    assert [order[0] for order in orders] == ["sandbox", "sandbox-chat"]
    assert {provider.family for provider in providers.values()} == set(WireFamily)
    assert providers["sandbox-chat"].base_url == "http://h/v1"
