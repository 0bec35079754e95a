"""Requests of other dialects as Gemini bodies."""

from __future__ import annotations

import json

import pytest

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.gemini import CODEC
from services.domain.wire.labels import CONTINUE_TEXT
from services.domain.wire.model import (
    Block,
    Limits,
    Media,
    OutputFormat,
    ProviderState,
    Reasoning,
    Request,
    Role,
    Sampling,
    SystemBlock,
    Target,
    Text,
    Thinking,
    Tool,
    ToolChoice,
    ToolResult,
    ToolUse,
    Turn,
    UnbuildableError,
)
from tests.unit.domain.wire.gemini_cases import Json, target

SIGNED = (ProviderState(WireFamily.GEMINI, "signature", "c2ln"),)
FOREIGN = (ProviderState(WireFamily.ANTHROPIC, "signature", "eA=="),)
BUDGET = ModelFacts(reasoning="optional", reasoning_budget=True)
LEVELS = ModelFacts(reasoning="always", reasoning_levels=("low", "medium", "high"))


def user(*blocks: Block) -> Turn:
    return Turn(Role.USER, blocks, 0)


def model(*blocks: Block) -> Turn:
    return Turn(Role.ASSISTANT, blocks, 1)


def asked(*turns: Turn, **members: object) -> Request:
    said = turns or (user(Text("hi")),)
    request = Request(WireFamily.ANTHROPIC, "m", is_stream=True, turns=said)
    for name, value in members.items():
        object.__setattr__(request, name, value)
    return request


def sent(request: Request, to: Target | None = None) -> tuple[Json, list[str]]:
    encoded = CODEC.encode_request(request, to or target())
    body: Json = json.loads(encoded.body)
    return body, [transform.code for transform in encoded.transforms]


def contents(*turns: Turn) -> list[Json]:
    found = sent(asked(*turns))[0]["contents"]
    assert isinstance(found, list)
    return found


def config(to: Target | None = None, **members: object) -> object:
    return sent(asked(**members), to)[0].get("generationConfig", {})


@pytest.mark.spec("XLT-177")
def test_the_body_names_neither_model_nor_stream() -> None:
    body, codes = sent(asked())
    assert body == {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    assert codes == []
    assert CODEC.encode_request(asked(), target()) == CODEC.encode_request(asked(), target())


@pytest.mark.spec("XLT-45", "XLT-46")
def test_all_instructions_are_one_member_and_the_billing_line_goes() -> None:
    system = (
        SystemBlock("x-anthropic-billing-header: a\nBe kind."),
        SystemBlock(" "),
        SystemBlock("Late.", after_turn=1),
        SystemBlock("Second."),
    )
    body, codes = sent(asked(system=system))
    parts = [{"text": "Be kind."}, {"text": "Second."}, {"text": "Late."}]
    assert body["systemInstruction"] == {"parts": parts}
    assert codes == ["billing_header", "system_hoisted"]


@pytest.mark.spec("XLT-69", "XLT-71", "XLT-72", "XLT-75")
def test_parallel_calls_are_one_content_and_their_results_the_next() -> None:
    """B-061."""
    calls = [ToolUse(f"c{at}", f"f{at}", b'{"n": 1e400}' if at == 0 else b"") for at in range(4)]
    results = [
        user(ToolResult("c1", (Text("no"),), is_error=True)),
        user(ToolResult("c0", (Text('{"a": 1.0}'),))),
        user(ToolResult("c2", (Text("x"), Media("image", "image/png", "aGk=")))),
        user(ToolResult("c3", ()), Text("and now?")),
    ]
    first, second, third = contents(user(Text("go")), model(Text("I go."), *calls), *results)
    assert first == {"role": "user", "parts": [{"text": "go"}]}
    assert second["role"] == "model"
    told = second["parts"]
    assert isinstance(told, list)
    assert [part.get("functionCall", {}).get("id") for part in told] == [
        None, "c0", "c1", "c2", "c3",
    ]  # fmt: skip
    assert third["role"] == "user"
    parts = third["parts"]
    assert isinstance(parts, list)
    answers = [part["functionResponse"] for part in parts[:4]]
    assert answers == [
        {"id": "c0", "name": "f0", "response": {"a": 1.0}},
        {"id": "c1", "name": "f1", "response": {"error": "no"}},
        {"id": "c2", "name": "f2", "response": {"result": "x"}},
        {"id": "c3", "name": "f3", "response": {"result": ""}},
    ]
    assert parts[4:] == [
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
        {"text": "and now?"},
    ]


@pytest.mark.spec("XLT-68")
def test_arguments_are_objects_and_keep_their_digits() -> None:
    use = ToolUse("a", "f", b'{"n": 123456789012345678901234567890, "x": 1.0}')
    odd = ToolUse("b", "f", b"[1]")
    raw = CODEC.encode_request(asked(user(Text("x")), model(use, odd)), target()).body
    assert b'"args":{"n": 123456789012345678901234567890, "x": 1.0}' in raw
    assert b'"args":{"value":[1]}' in raw


@pytest.mark.spec("XLT-76", "XLT-77")
def test_orphans_become_text_and_open_calls_are_answered() -> None:
    body, codes = sent(asked(user(ToolResult("x", (Text("late"),))), model(ToolUse("a", "f", b""))))
    assert codes == ["orphan_result", "unanswered_call"]
    said = body["contents"]
    assert isinstance(said, list)
    assert [content["role"] for content in said] == ["user", "model", "user"]
    assert said[0]["parts"][1] == {"text": "late"}
    assert said[2]["parts"][0]["functionResponse"]["name"] == "f"
    assert "error" in said[2]["parts"][0]["functionResponse"]["response"]


@pytest.mark.spec("XLT-48", "XLT-49", "XLT-52")
def test_turns_alternate_and_a_user_begins_and_ends() -> None:
    turns = (model(Text("a")), model(Text("b "), Text(" ")))
    body, codes = sent(asked(*turns))
    assert body["contents"] == [
        {"role": "user", "parts": [{"text": CONTINUE_TEXT}]},
        {"role": "model", "parts": [{"text": "a"}, {"text": "b"}]},
        {"role": "user", "parts": [{"text": CONTINUE_TEXT}]},
    ]
    assert codes == ["first_turn", "prefill"]
    with pytest.raises(UnbuildableError):
        sent(asked(user(Text(" "))))


@pytest.mark.spec("XLT-29", "XLT-61", "XLT-63")
def test_only_own_state_is_sent_and_the_first_call_carries_it() -> None:
    turns = (
        user(Text("x")),
        model(
            Thinking("theirs", FOREIGN),
            Thinking("ours", SIGNED),
            ToolUse("a", "f", b""),
            ToolUse("b", "f", b"", state=SIGNED),
        ),
    )
    body, codes = sent(asked(*turns))
    said = body["contents"]
    assert isinstance(said, list)
    thought, first, second = said[1]["parts"]
    assert thought == {"text": "ours", "thought": True, "thoughtSignature": "c2ln"}
    assert first["thoughtSignature"] == second["thoughtSignature"] == "c2ln"
    assert codes[:1] == ["unanswered_call"]
    assert "thinking" in codes
    assert b"eA==" not in CODEC.encode_request(asked(*turns), target()).body


@pytest.mark.spec("XLT-53", "XLT-54", "XLT-56", "XLT-59")
def test_media_travel_inline_or_not_at_all() -> None:
    found = contents(
        user(
            Media("image", data="iVBORw0KGgoAAA"),
            Media("document", data="JVBE", filename="a.pdf"),
            Media("document", text="words", title="T"),
            Media("audio", "audio/mp3", "aGk="),
        )
    )
    assert found[0]["parts"] == [
        {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgoAAA"}},
        {"inlineData": {"mimeType": "application/pdf", "data": "JVBE"}},
        {"text": "T\nwords"},
        {"inlineData": {"mimeType": "audio/mp3", "data": "aGk="}},
    ]
    for media in (Media("image", url="https://x"), Media("document", file_id="f")):
        with pytest.raises(UnbuildableError):
            contents(user(media))


@pytest.mark.spec("XLT-80", "XLT-82", "XLT-155")
def test_tools_are_declared() -> None:
    tool = Tool("function", "f", "F.", b'{"type":"object","$schema":"x"}', strict=True)
    body, codes = sent(asked(tools=(tool, tool, Tool("function", "g"))))
    assert body["tools"] == [
        {
            "functionDeclarations": [
                {"name": "f", "description": "F.", "parameters": {"type": "object"}},
                {"name": "g", "parameters": {}},
            ]
        }
    ]
    assert codes == ["tool_schema"]
    with pytest.raises(UnbuildableError):
        sent(asked(tools=(tool, Tool("function", "f"))))


@pytest.mark.spec("XLT-86", "XLT-89")
@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (ToolChoice(), None),
        (ToolChoice("auto"), {"mode": "AUTO"}),
        (ToolChoice("required"), {"mode": "ANY"}),
        (ToolChoice("none"), {"mode": "NONE"}),
        (ToolChoice("named", name="f"), {"mode": "ANY", "allowedFunctionNames": ["f"]}),
        (ToolChoice("named", name="gone"), None),
        (
            ToolChoice("allowed", names=("f", "gone"), is_call_required=True),
            {"mode": "ANY", "allowedFunctionNames": ["f"]},
        ),
        (ToolChoice("unrecognised", parallel=False), None),
    ],
)
def test_the_choice_of_tools(choice: ToolChoice, expected: Json | None) -> None:
    body, codes = sent(asked(tools=(Tool("function", "f"),), tool_choice=choice))
    told = body.get("toolConfig")
    assert told == (None if expected is None else {"functionCallingConfig": expected})
    assert ("parallel_tool_calls" in codes) is (choice.parallel is False)


@pytest.mark.spec("XLT-91", "XLT-94", "XLT-95", "XLT-98", "XLT-99", "XLT-101", "XLT-102")
def test_parameters() -> None:
    assert config(limits=Limits(9, ("a", "b", "c", "d", "e", "f"), 2)) == {
        "maxOutputTokens": 9,
        "stopSequences": ["a", "b", "c", "d", "e"],
        "candidateCount": 2,
    }
    assert config(sampling=Sampling(3.0, 0.5, 4, 5, 0.1, 0.2, b"{}", True, 6)) == {
        "temperature": 2.0,
        "topP": 0.5,
        "topK": 4,
        "seed": 5,
        "frequencyPenalty": 0.1,
        "presencePenalty": 0.2,
        "responseLogprobs": True,
        "logprobs": 6,
    }
    assert config(output=OutputFormat("json_object")) == {"responseMimeType": "application/json"}
    assert config(output=OutputFormat("json_schema", schema=b'{"type":"object"}')) == {
        "responseMimeType": "application/json",
        "responseJsonSchema": {"type": "object"},
    }
    refusing = target(ModelFacts(refused_parameters=frozenset(["temperature"])))
    assert config(refusing, sampling=Sampling(temperature=1)) == {}


@pytest.mark.spec("XLT-92", "XLT-93")
def test_the_output_limit_has_a_floor_and_a_cap() -> None:
    small = Limits(max_output_tokens=64)
    found = config(target(LEVELS), limits=small)
    assert found == {"maxOutputTokens": 16_384}
    assert config(target(LEVELS, max_output_tokens=8000), limits=small) == {"maxOutputTokens": 8000}
    assert config(target(), limits=small) == {"maxOutputTokens": 64}


@pytest.mark.spec("XLT-165", "XLT-166", "XLT-170", "XLT-171", "XLT-172")
@pytest.mark.parametrize(
    ("facts", "wish", "expected"),
    [
        (BUDGET, Reasoning("level", "high"), {"includeThoughts": True, "thinkingBudget": 24576}),
        (
            BUDGET,
            Reasoning("budget", budget_tokens=2000),
            {"includeThoughts": True, "thinkingBudget": 2000},
        ),
        (BUDGET, Reasoning("off"), {"thinkingBudget": 0}),
        (BUDGET, Reasoning("auto"), {"includeThoughts": True}),
        (LEVELS, Reasoning("level", "xhigh"), {"includeThoughts": True, "thinkingLevel": "high"}),
        (
            LEVELS,
            Reasoning("budget", budget_tokens=2000),
            {"includeThoughts": True, "thinkingLevel": "low"},
        ),
        (LEVELS, Reasoning("off"), None),
        (ModelFacts(), Reasoning("level", "high"), None),
        (BUDGET, Reasoning(), None),
    ],
)
def test_the_wish_for_reasoning(facts: ModelFacts, wish: Reasoning, expected: Json | None) -> None:
    found = config(target(facts), reasoning=wish)
    assert found == ({} if expected is None else {"thinkingConfig": expected})


@pytest.mark.spec("XLT-103", "XLT-104")
def test_what_has_no_member_is_recorded() -> None:
    body, codes = sent(asked(user="u", extras=(("x", b"1"),), output=OutputFormat(verbosity="low")))
    assert codes == ["user", "verbosity_as_instruction", "unknown_field"]
    assert body["systemInstruction"] == {"parts": [{"text": "Keep the answer short."}]}
