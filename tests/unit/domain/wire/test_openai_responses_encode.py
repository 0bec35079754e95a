"""Canonical requests become Responses bodies, and their own ones stay what they were."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import (
    Limits,
    Media,
    OutputFormat,
    ProviderState,
    Reasoning,
    Request,
    Role,
    Sampling,
    SystemBlock,
    Text,
    Thinking,
    Tool,
    ToolChoice,
    ToolResult,
    ToolUse,
    Turn,
    UnbuildableError,
)
from services.domain.wire.openai_responses import CODEC
from services.domain.wire.openai_responses.schema import is_strict_form
from tests.unit.domain.wire.openai_responses_cases import (
    CUSTOM,
    NAMESPACE,
    Json,
    body,
    call,
    codes,
    result,
    said,
    sent,
    target,
    thought,
)

A, R = WireFamily.ANTHROPIC, WireFamily.OPENAI_RESPONSES
REASONING = ModelFacts(reasoning="optional", reasoning_levels=("low", "medium", "high"))


def foreign(*turns: Turn, **members: object) -> Request:
    known = Request(A, "m", is_stream=False, turns=turns)
    return dataclasses.replace(known, **members)  # type: ignore[arg-type]  # any member by name


def user(*blocks: Text | Media | ToolResult) -> Turn:
    return Turn(Role.USER, blocks, 0)


def assistant(*blocks: Text | Thinking | ToolUse) -> Turn:
    return Turn(Role.ASSISTANT, blocks, 1)


def encoded(request: Request, **members: object) -> Json:
    return sent(CODEC.encode_request(request, target(**members)))  # type: ignore[arg-type]  # as above


def kinds(told: Json) -> list[object]:
    items = told["input"]
    assert isinstance(items, list)
    return [item["role"] if item["type"] == "message" else item["type"] for item in items]


@pytest.mark.spec("XLT-73", "XLT-74")
def test_results_follow_their_calls_and_text_comes_after() -> None:
    """B-001."""
    told = encoded(
        foreign(
            user(Text("go")),
            assistant(ToolUse("c1", "f", b"{}"), ToolUse("c2", "g", b"")),
            user(Text("stop"), ToolResult("c2", ()), ToolResult("c1", (Text("one"),))),
        )
    )
    assert kinds(told) == [
        "user",
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
        "user",
    ]
    items = told["input"]
    assert isinstance(items, list)
    assert [item["call_id"] for item in items[1:5]] == ["c1", "c2", "c1", "c2"]
    assert items[2]["arguments"] == "{}"
    assert (items[3]["output"], items[4]["output"]) == ("one", "")


@pytest.mark.spec("XLT-73", "XLT-74")
def test_text_between_a_call_and_its_output_makes_no_turn_of_its_own_elsewhere() -> None:
    """B-002."""
    own = body(input=[said("user", "go"), call("c1"), said("assistant", "checking"), result("c1")])
    request = CODEC.decode_request(own)
    messages = codec_for(A)
    there = dataclasses.replace(target(), family=A)
    told = json.loads(messages.encode_request(request, there).body)["messages"]
    assert [message["role"] for message in told] == ["user", "assistant", "user"]
    assert [block["type"] for block in told[1]["content"]] == ["text", "tool_use"]


@pytest.mark.spec("XLT-76")
def test_an_orphan_output_becomes_labelled_text_elsewhere() -> None:
    """B-004."""
    own = body(input=[said("user", "go"), result("", "late"), said("user", "on")])
    there = dataclasses.replace(target(), family=A)
    told = codec_for(A).encode_request(CODEC.decode_request(own), there).body
    assert b"tool_use_id" not in told
    assert b"late" in told


@pytest.mark.spec("XLT-50", "XLT-56", "XLT-53", "XLT-58", "XLT-69")
def test_documents_and_images_travel_also_inside_results() -> None:
    """B-079."""
    pdf = Media("document", media_type="application/pdf", data="aGk=")
    image = Media("image", media_type="image/png", data="aGk=", detail="low")
    remote = Media("document", url="https://example.test/a.pdf")
    told = encoded(
        foreign(
            user(pdf, Text("read"), remote),
            assistant(ToolUse("c1", "f", b"{}")),
            user(ToolResult("c1", (image, Text("seen")), is_error=True)),
        )
    )
    items = told["input"]
    assert isinstance(items, list)
    assert items[0]["content"] == [
        {
            "type": "input_file",
            "filename": "document.pdf",
            "file_data": "data:application/pdf;base64,aGk=",
        },
        {"type": "input_text", "text": "read"},
        {"type": "input_file", "file_url": "https://example.test/a.pdf"},
    ]
    assert items[2]["output"] == [
        {"type": "input_text", "text": "[tool call failed]"},
        {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "low"},
        {"type": "input_text", "text": "seen"},
    ]


@pytest.mark.spec("XLT-45", "XLT-46", "XLT-52")
def test_leading_system_text_is_instructions_and_later_one_a_developer_item() -> None:
    system = (
        SystemBlock("x-anthropic-billing-header: v=1.a\nBe kind."),
        SystemBlock(" "),
        SystemBlock("Later.", "in_array", after_turn=1),
    )
    encoded_request = CODEC.encode_request(
        foreign(user(Text("a")), user(Text("b"), Text(" ")), system=system), target()
    )
    told = sent(encoded_request)
    assert told["instructions"] == "Be kind."
    assert kinds(told) == ["user", "developer", "user"]
    assert codes(encoded_request) == ["billing_header"]


@pytest.mark.spec("XLT-29", "XLT-51", "XLT-62", "XLT-64", "XLT-182")
def test_only_this_familys_reasoning_goes_back_and_before_what_it_produced() -> None:
    own = Thinking("plan", (ProviderState(R, "encrypted", "enc", item_id="rs_9"),))
    other = Thinking("plan", (ProviderState(A, "signature", "sig"),))
    turns = (user(Text("a")), assistant(own, other, Text("b")), user(Text("c")))
    encoded_request = CODEC.encode_request(foreign(*turns), target(REASONING))
    told = sent(encoded_request)
    assert kinds(told) == ["user", "reasoning", "assistant", "user"]
    items = told["input"]
    assert isinstance(items, list)
    assert items[1] == {
        "type": "reasoning",
        "id": "rs_9",
        "summary": [],
        "encrypted_content": "enc",
    }
    assert b"sig" not in encoded_request.body
    assert codes(encoded_request) == ["thinking"]
    assert (told["store"], told["include"]) == (False, ["reasoning.encrypted_content"])
    assert told["stream"] is True
    switched = encoded(foreign(*turns), facts=REASONING, is_model_switched=True)
    assert kinds(switched) == ["user", "assistant", "user"]


@pytest.mark.spec("XLT-80", "XLT-86", "XLT-89", "XLT-152")
def test_tools_are_flat_and_say_whether_they_are_strict() -> None:
    """B-068 and B-070: a schema that strict mode refuses is not sent as strict."""
    strict = b'{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],'
    strict += b'"additionalProperties":false}'
    loose = b'{"$schema":"x","type":"object","properties":{"value":{"description":"d"}}}'
    tools = (
        Tool("function", "f", "F.", strict, strict=True),
        Tool("function", "g", schema=loose, strict=True),
        Tool("function", "h", schema=b"{}"),
    )
    choice = ToolChoice("named", name="f", parallel=False)
    request = foreign(user(Text("a")), tools=tools, tool_choice=choice)
    told = encoded(request)
    assert told["tools"] == [
        {
            "type": "function",
            "name": "f",
            "description": "F.",
            "parameters": json.loads(strict),
            "strict": True,
        },
        {"type": "function", "name": "g", "parameters": json.loads(loose), "strict": False},
        {"type": "function", "name": "h", "parameters": {"type": "object"}, "strict": False},
    ]
    assert told["tool_choice"] == {"type": "function", "name": "f"}
    assert told["parallel_tool_calls"] is False
    assert codes(CODEC.encode_request(request, target())) == ["strict"]


@pytest.mark.parametrize(
    ("schema", "is_strict"),
    [
        ({"type": "object", "properties": {}, "additionalProperties": False}, True),
        (
            {
                "type": "object",
                "properties": {"a": {}},
                "required": ["a"],
                "additionalProperties": False,
            },
            False,
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "array"}},
                "required": ["a"],
                "additionalProperties": False,
            },
            False,
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "additionalProperties": False,
            },
            False,
        ),
        (
            {
                "type": "object",
                "properties": {"oneOf": {"type": "string"}},
                "required": ["oneOf"],
                "additionalProperties": False,
            },
            True,
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/x"}},
                "required": ["a"],
                "additionalProperties": False,
            },
            False,
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"$ref": "#/$defs/x"}},
                "required": ["a"],
                "additionalProperties": False,
                "$defs": {"x": {"type": "string"}},
            },
            True,
        ),
        ({"type": "object", "allOf": []}, False),
        ({"anyOf": []}, False),
        ([], False),
    ],
)
@pytest.mark.spec("XLT-152")
def test_the_strict_form_is_recognised(schema: object, is_strict: bool) -> None:
    assert is_strict_form(json.dumps(schema).encode()) is is_strict


@pytest.mark.spec("XLT-91", "XLT-92", "XLT-93", "XLT-94", "XLT-97", "XLT-98", "XLT-101", "XLT-102")
def test_parameters_are_named_as_here_and_the_rest_is_recorded() -> None:
    schema = OutputFormat("json_schema", "n", b'{"type":"object"}', strict=True, verbosity="low")
    request = foreign(
        user(Text("a")),
        limits=Limits(10, stop=("x",)),
        sampling=Sampling(temperature=0.5, top_k=3, seed=4, logit_bias=b"{}"),
        output=schema,
        user="u",
    )
    encoded_request = CODEC.encode_request(request, target(is_vendor=True, affinity_key="k"))
    told = sent(encoded_request)
    assert (told["max_output_tokens"], told["temperature"]) == (16, 0.5)
    assert told["text"] == {
        "format": {
            "type": "json_schema",
            "name": "n",
            "schema": {"type": "object"},
            "strict": True,
        },
        "verbosity": "low",
    }
    assert told["prompt_cache_key"] == "k"
    assert "user" not in told
    assert set(codes(encoded_request)) == {"reasoning_floor", "unknown_parameter", "user"}
    capped = encoded(foreign(user(Text("a")), limits=Limits(99)), max_output_tokens=50)
    assert capped["max_output_tokens"] == 50
    json_object = encoded(foreign(user(Text("a")), output=OutputFormat("json_object")))
    assert json_object["text"] == {"format": {"type": "json_object"}}
    always = ModelFacts(reasoning="always")
    floor = encoded(foreign(user(Text("a")), limits=Limits(64)), facts=always)
    assert floor["max_output_tokens"] == 16_384


@pytest.mark.spec("XLT-165", "XLT-166", "XLT-169", "XLT-95")
@pytest.mark.parametrize(
    ("wish", "effort"),
    [
        (Reasoning("level", "xhigh"), "high"),
        (Reasoning("budget", budget_tokens=2000), "low"),
        (Reasoning("budget", budget_tokens=9000), "medium"),
    ],
)
def test_reasoning_is_asked_for_by_level(wish: Reasoning, effort: str) -> None:
    request = foreign(user(Text("a")), reasoning=wish, sampling=Sampling(temperature=0.2))
    told = encoded(request, facts=REASONING, is_vendor=True)
    assert told["reasoning"] == {"effort": effort, "summary": "auto"}
    assert "temperature" not in told
    assert "reasoning" not in encoded(request)


@pytest.mark.spec("XLT-49", "XLT-77")
def test_a_final_assistant_turn_is_continued_and_an_open_call_answered() -> None:
    request = foreign(user(Text("a")), assistant(Text("b")))
    assert kinds(encoded(request)) == ["user", "assistant", "user"]
    told = encoded(foreign(user(Text("a")), assistant(ToolUse("c", "f", b"{}"))))
    assert kinds(told) == ["user", "function_call", "function_call_output"]


@pytest.mark.spec("XLT-139", "XLT-180")
def test_long_call_ids_are_cut_alike_on_both_sides() -> None:
    """B-091."""
    long = "call_" + "x" * 900
    told = encoded(foreign(assistant(ToolUse(long, "f", b"{}")), user(ToolResult(long, ()))))
    items = told["input"]
    assert isinstance(items, list)
    assert items[0]["call_id"] == items[1]["call_id"]
    assert len(items[0]["call_id"]) <= 64


@pytest.mark.spec("XLT-99")
def test_several_answers_cannot_be_asked_for() -> None:
    with pytest.raises(UnbuildableError) as caught:
        encoded(foreign(user(Text("a")), limits=Limits(n=2)))
    assert caught.value.path == "n"


WORDS = st.text(max_size=12)
MESSAGES = st.builds(
    lambda role, texts, extra: {**said(role, *texts), **extra},
    st.sampled_from(["user", "assistant", "developer", "system"]),
    st.lists(WORDS, max_size=3),
    st.sampled_from([{}, {"id": "msg_1"}, {"status": "completed", "phase": "x"}]),
)
PLAIN = st.builds(lambda words: {"role": "user", "content": words}, WORDS)
OTHERS = st.sampled_from(
    [
        call("c1", "f", '{"n": 1.0, "big": 123456789012345678901234567890}', id="fc_1"),
        call("c2", "find", "not json", namespace="crm"),
        {"type": "custom_tool_call", "call_id": "c3", "name": "patch", "input": "x", "id": "ctc_1"},
        {"type": "custom_tool_call_output", "call_id": "c3", "output": "y"},
        result("c1"),
        result("c2", [{"type": "input_image", "image_url": "data:image/png;base64,aGk="}]),
        thought("enc", "a", "b"),
        thought(),
        {"type": "item_reference", "id": "msg_7"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "n": 1.0},
        {"type": "mcp_approval_response", "approve": True},
    ]
)
MEMBERS = st.fixed_dictionaries(
    {},
    optional={
        "instructions": st.none() | WORDS,
        "stream": st.just(True),
        "store": st.booleans(),
        "tools": st.lists(
            st.sampled_from(
                [CUSTOM, NAMESPACE, {"type": "web_search"}, {"type": "function", "name": "f"}]
            ),
            min_size=1,
            max_size=4,
            unique_by=json.dumps,
        ),
        "tool_choice": st.sampled_from(["auto", {"type": "file_search"}]),
        "parallel_tool_calls": st.booleans(),
        "text": st.just({"format": {"type": "text"}, "verbosity": "low"}),
        "reasoning": st.just({"effort": "high", "summary": "auto"}),
        "max_output_tokens": st.integers(1, 9999),
        "temperature": st.sampled_from([0.5, 1]),
        "include": st.just(["reasoning.encrypted_content"]),
        "previous_response_id": st.just("resp_0"),
        "metadata": st.just({"a": "b"}),
        "user": st.just("u"),
    },
)


@given(st.lists(MESSAGES | PLAIN | OTHERS, min_size=1, max_size=6) | WORDS, MEMBERS)
@pytest.mark.spec("XLT-30", "XLT-40", "XLT-177", "XLT-225")
def test_a_request_of_this_dialect_encodes_to_itself(items: object, members: Json) -> None:
    told = {"model": "m", "input": items, **members}
    request = CODEC.decode_request(json.dumps(told).encode())
    encoded_request = CODEC.encode_request(request, target(ModelFacts(reasoning="optional")))
    assert sent(encoded_request) == {**told, "model": "upstream-model"}
    assert not encoded_request.transforms
    again = CODEC.encode_request(request, target(ModelFacts(reasoning="optional")))
    assert again.body == encoded_request.body


@pytest.mark.spec("XLT-40")
def test_an_edited_message_is_written_anew_and_its_neighbours_are_not() -> None:
    own = body(input=[said("user", "a"), {**said("assistant", "b"), "id": "msg_1"}, call("c")])
    request = CODEC.decode_request(own)
    first = dataclasses.replace(request.turns[0], blocks=(Text("changed"),))
    edited = dataclasses.replace(request, turns=(first, *request.turns[1:]))
    told = encoded(edited)
    assert told["input"] == [
        said("user", "changed"),
        {**said("assistant", "b"), "id": "msg_1"},
        call("c"),
    ]
