from __future__ import annotations

import dataclasses
import json
from typing import Literal, TypedDict, Unpack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.anthropic import CODEC
from services.domain.wire.anthropic.encode import JSON_OBJECT_LINE
from services.domain.wire.anthropic.schema import clean_schema
from services.domain.wire.labels import UNANSWERED_CALL_TEXT, orphan_label
from services.domain.wire.levels import level_of_budget, nearest_level
from services.domain.wire.model import (
    Block,
    Limits,
    Media,
    OutputFormat,
    ProviderState,
    Reasoning,
    Refusal,
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
    UnbuildableError,
)
from tests.unit.domain.wire.anthropic_cases import Json, foreign, target

U, A = Role.USER, Role.ASSISTANT
HI: tuple[Role, list[Block]] = (U, [Text("hi")])
TOOL = Tool("function", "f", "Does f.", b'{"type":"object"}')
ADAPTIVE = ModelFacts(
    reasoning="optional", adaptive_thinking=True, reasoning_levels=("low", "medium", "high")
)
BUDGET = ModelFacts(reasoning="optional", reasoning_budget=True)


class Changes(TypedDict, total=False):
    """Members of a request that a case sets."""

    system: tuple[SystemBlock, ...]
    tools: tuple[Tool, ...]
    tool_choice: ToolChoice
    limits: Limits
    sampling: Sampling
    reasoning: Reasoning
    output: OutputFormat
    user: str
    extras: tuple[tuple[str, bytes], ...]


def encode(
    request: Request,
    facts: ModelFacts | None = None,
    cap: int | None = None,
    **changes: Unpack[Changes],
) -> tuple[Json, list[str]]:
    changed = dataclasses.replace(request, **changes)
    encoded = CODEC.encode_request(changed, target(facts, cap=cap))
    return json.loads(encoded.body), [transform.code for transform in encoded.transforms]


def messages(*turns: tuple[Role, list[Block]]) -> list[Json]:
    found = encode(foreign(*turns))[0]["messages"]
    assert isinstance(found, list)
    return found


def said(text: str) -> Json:
    return {"type": "text", "text": text}


def use(call_id: str, name: str = "f", **arguments: object) -> Json:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, content: object, **more: object) -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def call(call_id: str, arguments: bytes = b"{}") -> ToolUse:
    return ToolUse(call_id, "f", arguments)


def answer(call_id: str, *texts: str) -> ToolResult:
    return ToolResult(call_id, tuple(Text(text) for text in texts))


@pytest.mark.spec("XLT-52")
def test_empty_text_is_left_out() -> None:
    """B-019."""
    assert messages((U, [Text(""), Text("hi"), Text(" \n")])) == [
        {"role": "user", "content": [said("hi")]}
    ]


@pytest.mark.spec("XLT-52")
def test_an_assistant_turn_of_calls_only_has_calls_only() -> None:
    """B-020."""
    turns = messages(HI, (A, [Text(""), call("c")]), (U, [answer("c", "ok")]))
    assert turns[1:] == [
        {"role": "assistant", "content": [use("c")]},
        {"role": "user", "content": [result("c", "ok")]},
    ]


@pytest.mark.spec("XLT-73", "XLT-74", "XLT-75")
def test_results_come_first_in_call_order_and_text_moves_before_the_calls() -> None:
    """B-002 and its kin."""
    turns = messages(
        HI,
        (A, [call("c1"), call("c2")]),
        (A, [Text("checking")]),
        (U, [Text("and now stop"), answer("c2", "two")]),
        (A, [Text("wait")]),
        (U, [answer("c1", "one")]),
    )
    assert turns[1:] == [
        {"role": "assistant", "content": [said("checking"), use("c1"), use("c2")]},
        {
            "role": "user",
            "content": [result("c1", "one"), result("c2", "two"), said("and now stop")],
        },
        {"role": "assistant", "content": [said("wait")]},
    ]


@pytest.mark.spec("XLT-76")
def test_an_orphan_result_becomes_labelled_text() -> None:
    """B-004: no id is made up."""
    assert messages((U, [answer("nobody", "lost"), Text("hi")])) == [
        {"role": "user", "content": [said(orphan_label("nobody")), said("lost"), said("hi")]}
    ]


@pytest.mark.spec("XLT-77")
def test_an_unanswered_call_gets_a_failure() -> None:
    turns = messages(HI, (A, [call("c")]))
    assert turns[2]["content"] == [result("c", UNANSWERED_CALL_TEXT, is_error=True)]


@pytest.mark.spec("XLT-74")
def test_an_id_that_is_used_in_every_turn_pairs_turn_by_turn() -> None:
    turns = messages(
        HI,
        (A, [call("c")]),
        (U, [answer("c", "one")]),
        (A, [call("c")]),
        (U, [answer("c", "two")]),
    )
    assert [turns[2]["content"], turns[4]["content"]] == [
        [result("c", "one")],
        [result("c", "two")],
    ]


@pytest.mark.spec("XLT-69", "XLT-70", "XLT-71")
def test_a_result_keeps_its_images_its_failure_and_its_place_when_empty() -> None:
    image = Media("image", "image/png", "aGk=")
    blocks = (Text("see"), image)
    turns = messages(
        HI,
        (A, [call("a"), call("b")]),
        (U, [ToolResult("a", blocks, is_error=True), ToolResult("b", ())]),
    )
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    content = [said("see"), {"type": "image", "source": source}]
    assert turns[2]["content"] == [result("a", content, is_error=True), result("b", "")]


@pytest.mark.spec("XLT-48", "XLT-49")
def test_roles_alternate_and_begin_with_the_user() -> None:
    turns = messages((A, [Text("a")]), (A, [Text("b")]), (U, [Text("c")]), (U, [Text("d")]))
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert turns[1]["content"] == [said("a"), said("b")]
    assert messages()[0]["role"] == "user"


@pytest.mark.spec("XLT-49")
def test_a_prefill_loses_blanks_at_its_end() -> None:
    assert messages(HI, (A, [Text("so \n")]))[1]["content"] == [said("so")]


@pytest.mark.spec("XLT-68")
@pytest.mark.parametrize(
    ("arguments", "value"),
    [(b"", {}), (b"null", {}), (b"[1]", {"value": [1]}), (b"{oops", {}), (b'{"n":1}', {"n": 1})],
)
def test_arguments_are_objects(arguments: bytes, value: object) -> None:
    turns = messages(HI, (A, [call("c", arguments)]))
    assert turns[1]["content"] == [{"type": "tool_use", "id": "c", "name": "f", "input": value}]


@pytest.mark.spec("XLT-33", "XLT-68")
def test_numbers_in_arguments_keep_their_digits() -> None:
    request = foreign(HI, (A, [call("c", b'{"n": 12345678901234567890123, "x": 1.0}')]))
    body = CODEC.encode_request(request, target()).body
    assert b'{"n": 12345678901234567890123, "x": 1.0}' in body


@pytest.mark.spec("XLT-53", "XLT-54", "XLT-55", "XLT-56", "XLT-57", "XLT-58")
@pytest.mark.parametrize(
    ("media", "source"),
    [
        (
            Media("image", data="iVBORw0"),
            {"type": "base64", "media_type": "image/png", "data": "iVBORw0"},
        ),
        (
            Media("image", data="abcd"),
            {"type": "base64", "media_type": "image/jpeg", "data": "abcd"},
        ),
        (
            Media("image", url="https://x/y.png", detail="low"),
            {"type": "url", "url": "https://x/y.png"},
        ),
        (
            Media("document", "application/pdf", "JVBE"),
            {"type": "base64", "media_type": "application/pdf", "data": "JVBE"},
        ),
        (Media("document", url="https://x/y.pdf"), {"type": "url", "url": "https://x/y.pdf"}),
        (
            Media("document", "text/plain", "aGk="),
            {"type": "text", "media_type": "text/plain", "data": "hi"},
        ),
        (Media("document", text="hi"), {"type": "text", "media_type": "text/plain", "data": "hi"}),
    ],
)
def test_media_find_their_form(media: Media, source: Json) -> None:
    assert messages((U, [media]))[0]["content"] == [{"type": media.kind, "source": source}]


@pytest.mark.spec("XLT-59", "XLT-60")
@pytest.mark.parametrize(
    "media", [Media("audio", "audio/wav", "aGk="), Media("image", file_id="file_1")]
)
def test_what_has_no_form_is_unbuildable_and_named(media: Media) -> None:
    with pytest.raises(UnbuildableError) as caught:
        messages((U, [media]))
    assert caught.value.path == "messages[0]"


@pytest.mark.spec("XLT-61", "XLT-64", "XLT-65")
def test_reasoning_of_others_is_dropped_and_a_refusal_is_text() -> None:
    """B-059: hidden reasoning never becomes visible text."""
    other = Thinking("plan", (ProviderState(WireFamily.GEMINI, "signature", "x"),))
    turns = messages(HI, (A, [Thinking("hm"), other, Refusal("no")]), (U, [Text("why")]))
    assert turns[1]["content"] == [said("no")]


@pytest.mark.spec("XLT-44", "XLT-45")
def test_instructions_from_anywhere_are_in_the_system_section_in_order() -> None:
    """B-082."""
    system = (
        SystemBlock("later", "developer", 1),
        SystemBlock("first", "developer"),
        SystemBlock(" ", "system"),
    )
    body, _ = encode(foreign(HI), system=system)
    assert body["system"] == [said("first"), said("later")]
    assert "system" not in encode(foreign(HI), system=(SystemBlock(""),))[0]


@pytest.mark.spec("XLT-80", "XLT-86", "XLT-87", "XLT-89")
@pytest.mark.parametrize(
    ("choice", "encoded"),
    [
        (ToolChoice(), None),
        (ToolChoice("auto"), {"type": "auto"}),
        (ToolChoice("required"), {"type": "any"}),
        (ToolChoice("none"), {"type": "none"}),
        (ToolChoice("named", "f"), {"type": "tool", "name": "f"}),
        (ToolChoice("unrecognised"), None),
        (ToolChoice(parallel=False), {"type": "auto", "disable_parallel_tool_use": True}),
        (
            ToolChoice("named", "f", parallel=False),
            {"type": "tool", "disable_parallel_tool_use": True, "name": "f"},
        ),
        (ToolChoice("allowed", names=("f",), is_call_required=True), {"type": "any"}),
        (ToolChoice("allowed", names=("f",)), {"type": "auto"}),
    ],
)
def test_the_tool_choice(choice: ToolChoice, encoded: Json | None) -> None:
    """B-071 among them: a choice of none keeps the tools."""
    body, _ = encode(foreign(HI), tools=(TOOL,), tool_choice=choice)
    assert body.get("tool_choice") == encoded
    assert body["tools"] == [
        {"name": "f", "description": "Does f.", "input_schema": {"type": "object"}}
    ]


@pytest.mark.spec("XLT-80")
def test_no_tools_mean_no_key() -> None:
    body, _ = encode(foreign(HI), tool_choice=ToolChoice("auto"))
    assert "tools" not in body
    assert "tool_choice" not in body


@pytest.mark.spec("XLT-88")
def test_tools_that_only_the_history_knows_are_declared_and_not_callable() -> None:
    """B-073."""
    body, _ = encode(foreign(HI, (A, [call("c")]), (U, [answer("c", "ok")])))
    assert body["tools"] == [
        {"name": "f", "input_schema": {"type": "object", "additionalProperties": True}}
    ]
    assert body["tool_choice"] == {"type": "none"}


@pytest.mark.spec("XLT-82")
def test_of_two_declarations_of_a_tool_the_last_wins() -> None:
    other = Tool("function", "f", "Newer.", b'{"type":"object"}')
    body, codes = encode(foreign(HI), tools=(TOOL, other))
    assert body["tools"] == [
        {"name": "f", "description": "Newer.", "input_schema": {"type": "object"}}
    ]
    assert "duplicate_tool_dropped" in codes


@pytest.mark.spec("XLT-149", "XLT-150")
def test_schemas_are_cleaned_by_position() -> None:
    schema = {
        "allOf": [{"properties": {"a": {"type": "string", "pattern": "^x"}}, "required": ["a"]}],
        "anyOf": [{"properties": {"pattern": {"type": "string"}}, "required": ["pattern"]}],
    }
    cleaned, codes = clean_schema(json.dumps(schema).encode())
    assert json.loads(cleaned) == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "pattern": {"type": "string"}},
        "required": ["a"],
    }
    assert codes == ("schema_root_folded", "schema_pattern_dropped")
    untouched = b'{"type": "object", "properties": {"pattern": {}}}'
    assert clean_schema(untouched) == (untouched, ())
    assert json.loads(clean_schema(b"[]")[0]) == {"type": "object", "properties": {}}


@pytest.mark.spec("XLT-91", "XLT-92", "XLT-94", "XLT-95", "XLT-96", "XLT-98")
def test_parameters_are_kept_clamped_or_dropped_with_a_record() -> None:
    body, codes = encode(
        foreign(HI),
        cap=4096,
        limits=Limits(9000, ("END", " ")),
        sampling=Sampling(temperature=1.7, top_p=0.5, top_k=4, seed=1, presence_penalty=0.0),
        user="someone",
        extras=(("logit_thing", b"1"),),
    )
    assert (body["max_tokens"], body["stop_sequences"]) == (4096, ["END"])
    assert (body["temperature"], body["top_k"], "top_p" in body) == (1.0, 4, False)
    assert {"seed", "presence_penalty", "user", "metadata", "logit_thing"}.isdisjoint(body)
    assert codes == [
        "user",
        "max_tokens_clamped",
        "blank_stop_dropped",
        "temperature_clamped",
        "top_p_dropped",
        "parameter_unsupported",
        "parameter_unsupported",
        "extra_dropped",
    ]
    assert encode(foreign(HI))[0]["max_tokens"] == 8192


@pytest.mark.spec("XLT-99")
def test_more_than_one_answer_is_unbuildable() -> None:
    with pytest.raises(UnbuildableError) as caught:
        encode(foreign(HI), limits=Limits(n=2))
    assert caught.value.path == "n"
    encode(foreign(HI), limits=Limits(n=1))


@pytest.mark.spec("XLT-101", "XLT-102", "XLT-103")
def test_output_forms() -> None:
    """B-097 and B-098."""
    schema = OutputFormat("json_schema", "weather", b'{"type":"object"}', strict=True)
    body, _ = encode(foreign(HI), output=schema)
    assert body["output_config"] == {
        "format": {"type": "json_schema", "schema": {"type": "object"}}
    }
    body, codes = encode(foreign(HI), ModelFacts(structured_output=False), output=schema)
    assert "output_config" not in body
    assert codes == ["json_schema_as_instruction"]
    body, _ = encode(foreign(HI), output=OutputFormat("json_object", verbosity="low"))
    assert body["system"] == [said(JSON_OBJECT_LINE), said("Keep the answer short.")]


@pytest.mark.spec("XLT-165", "XLT-166")
def test_levels_and_budgets_stand_for_each_other() -> None:
    assert [level_of_budget(n) for n in (0, 4096, 4097, 16384, 16385)] == [
        "medium",
        "low",
        "medium",
        "medium",
        "high",
    ]
    assert nearest_level("xhigh", ("low", "high", "max")) == "max"
    assert nearest_level("medium", ("low", "high")) == "low"
    assert nearest_level("max", ("low", "high")) == "high"
    assert nearest_level("odd", ()) == "odd"


@pytest.mark.spec("XLT-167", "XLT-171", "XLT-172")
def test_the_wish_for_reasoning_is_put_in_the_targets_words() -> None:
    low, high = Reasoning("level", "low"), Reasoning("level", "high")
    body, _ = encode(foreign(HI), ADAPTIVE, reasoning=high)
    assert (body["thinking"], body["output_config"]) == ({"type": "adaptive"}, {"effort": "high"})
    body, _ = encode(foreign(HI), BUDGET, reasoning=low, limits=Limits(2000))
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 1024}
    assert encode(foreign(HI), BUDGET, reasoning=Reasoning("off"))[0]["thinking"] == {
        "type": "disabled"
    }
    assert "thinking" not in encode(foreign(HI), BUDGET, reasoning=Reasoning("auto"))[0]
    body, codes = encode(foreign(HI), reasoning=high)
    assert ("thinking" in body, codes) == (False, ["reasoning_unsupported"])


@pytest.mark.spec("XLT-167")
def test_a_budget_stays_below_the_output_limit() -> None:
    wish = Reasoning("budget", budget_tokens=20000)
    body, _ = encode(foreign(HI), BUDGET, 8000, reasoning=wish, limits=Limits(500))
    assert (body["max_tokens"], body["thinking"]) == (
        8000,
        {"type": "enabled", "budget_tokens": 7999},
    )
    body, codes = encode(foreign(HI), BUDGET, 600, reasoning=wish, limits=Limits(500))
    assert ("thinking" in body, codes) == (False, ["budget_does_not_fit"])


@pytest.mark.spec("XLT-167")
def test_reasoning_excludes_temperature_and_a_forced_choice() -> None:
    body, codes = encode(
        foreign(HI),
        ADAPTIVE,
        reasoning=Reasoning("level", "low"),
        tools=(TOOL,),
        tool_choice=ToolChoice("required"),
        sampling=Sampling(temperature=0.5, top_k=3, top_p=0.99),
    )
    assert body["tool_choice"] == {"type": "auto"}
    assert body["top_p"] == 0.99
    assert {"temperature", "top_k"}.isdisjoint(body)
    assert "forced_choice_with_thinking" in codes


@pytest.mark.spec("XLT-168")
def test_a_budget_is_off_inside_a_tool_loop_without_signed_reasoning() -> None:
    loop = foreign(HI, (A, [call("c")]), (U, [answer("c", "ok")]))
    body, codes = encode(loop, BUDGET, reasoning=Reasoning("budget", budget_tokens=2000))
    assert "thinking" not in body
    assert "reasoning_off_in_tool_loop" in codes


@pytest.mark.spec("XLT-168")
@pytest.mark.parametrize("kind", ["signature", "redacted"])
def test_a_budget_stays_inside_a_tool_loop_with_its_signed_reasoning(
    kind: Literal["signature", "redacted"],
) -> None:
    thought = Thinking("plan", (ProviderState(WireFamily.ANTHROPIC, kind, "x"),))
    loop = foreign(HI, (A, [thought, call("c")]), (U, [answer("c", "ok")]))
    reasoning = Reasoning("budget", budget_tokens=2000)
    body, codes = encode(loop, BUDGET, reasoning=reasoning)
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert "reasoning_off_in_tool_loop" not in codes
    late = foreign(HI, (A, [Text("a"), thought, call("c")]), (U, [answer("c", "ok")]))
    assert "thinking" not in encode(late, BUDGET, reasoning=reasoning)[0]


blocks = st.one_of(
    st.builds(Text, st.text(max_size=3)),
    st.builds(Thinking, st.text(max_size=3)),
    st.builds(ToolUse, st.sampled_from("abc"), st.just("f"), st.binary(max_size=5)),
    st.builds(
        ToolResult,
        st.sampled_from("abcd"),
        st.lists(st.builds(Text, st.text(max_size=3)), max_size=2).map(tuple),
    ),
)


@pytest.mark.spec("XLT-73", "XLT-177", "XLT-225")
@given(st.lists(st.tuples(st.sampled_from([U, A]), st.lists(blocks, max_size=4)), max_size=7))
def test_every_history_is_legal(turns: list[tuple[Role, list[Block]]]) -> None:
    """Roles alternate, each call has exactly one result in the next turn, no text is empty."""
    ordered = [
        (role, [b for b in row if isinstance(b, ToolUse) is False or role is A])
        for role, row in turns
    ]
    request = foreign(*ordered)
    body = CODEC.encode_request(request, target()).body
    assert CODEC.encode_request(request, target()).body == body
    history = json.loads(body)["messages"]
    roles = [turn["role"] for turn in history]
    assert roles == [("user", "assistant")[i % 2] for i in range(len(roles))]
    for turn, following in zip(history, [*history[1:], {"content": []}], strict=True):
        calls = [b["id"] for b in turn["content"] if b["type"] == "tool_use"]
        results = [b["tool_use_id"] for b in following["content"] if b["type"] == "tool_result"]
        if turn["role"] == "assistant":
            assert results == calls
            assert [b["type"] for b in following["content"][: len(calls)]] == [
                "tool_result" for _ in calls
            ]
        assert turn["content"]
        assert all(b["text"].strip() for b in turn["content"] if b["type"] == "text")


def test_what_the_catalog_says_is_refused_is_left_out_and_recorded() -> None:
    refused = frozenset(["temperature", "output_config.effort", "max_tokens", "top_k"])
    facts = dataclasses.replace(ADAPTIVE, refused_parameters=refused)
    wish = Reasoning("level", "low")
    body, codes = encode(foreign(HI), facts, reasoning=wish)
    assert ("output_config" in body, body["max_tokens"]) == (False, 8192)
    assert codes == ["parameter_refused"]
