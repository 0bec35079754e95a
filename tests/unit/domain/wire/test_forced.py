"""Levels of reasoning that are forced, and the tool mode that checks calls."""

from __future__ import annotations

import json

import pytest

from services.domain.catalog import ModelFacts
from services.domain.effort import LEVELS, split_effort
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.forced import forced_level
from services.domain.wire.model import Reasoning, ToolChoice, WireError
from tests.unit.domain.wire.foreign_cases import (
    FAMILIES,
    Json,
    encoded,
    functions,
    request,
    target,
)

A, C, R, G = (
    WireFamily.ANTHROPIC,
    WireFamily.OPENAI_CHAT,
    WireFamily.OPENAI_RESPONSES,
    WireFamily.GEMINI,
)
THINKING = ModelFacts(
    reasoning="optional", reasoning_levels=("low", "medium", "high"), adaptive_thinking=True
)
BUDGETED = ModelFacts(reasoning="optional", reasoning_budget=True)
HI: dict[WireFamily, Json] = {
    A: {"model": "m", "max_tokens": 9000, "messages": [{"role": "user", "content": "hi"}]},
    C: {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    R: {"model": "m", "input": "hi"},
    G: {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
}
SAID: dict[WireFamily, Json] = {
    A: {"thinking": {"type": "disabled"}, "output_config": {"effort": "low"}, "temperature": 1},
    C: {"reasoning_effort": "low"},
    R: {"reasoning": {"effort": "low", "summary": "auto"}},
    G: {"generationConfig": {"thinkingConfig": {"thinkingLevel": "low"}}},
}


@pytest.mark.spec("XLT-164")
@pytest.mark.parametrize(
    ("word", "level"),
    [("fast", "low"), ("MIN", "low"), (" med ", "medium"), ("ultra", "xhigh"), ("max", "max")],
)
def test_words_for_levels(word: str, level: str) -> None:
    assert forced_level(word) == level


@pytest.mark.spec("XLT-164")
@pytest.mark.parametrize("word", ["", "none", "more", "7"])
def test_a_word_that_names_no_level_is_refused(word: str) -> None:
    with pytest.raises(WireError) as caught:
        forced_level(word)
    assert caught.value.path == "effort"
    assert "medium" in caught.value.message


@pytest.mark.spec("XLT-164")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gpt-5:high", ("gpt-5", "high")),
        ("vendor/m:free", ("vendor/m:free", "")),
        ("m:Ultra", ("m", "xhigh")),
        ("m", ("m", "")),
        (":high", (":high", "")),
    ],
)
def test_a_model_s_suffix_is_a_level_only_where_it_is_known(
    name: str, expected: tuple[str, str]
) -> None:
    assert split_effort(name) == expected


def wish_of(family: WireFamily, body: Json) -> object:
    """Return the effort that a body asks for, in whatever form its dialect has."""
    match family:
        case WireFamily.ANTHROPIC:
            assert body["thinking"] == {"type": "adaptive"}
            config = body["output_config"]
            return config["effort"] if isinstance(config, dict) else None
        case WireFamily.OPENAI_CHAT:
            return body["reasoning_effort"]
        case WireFamily.OPENAI_RESPONSES:
            reasoning = body["reasoning"]
            return reasoning["effort"] if isinstance(reasoning, dict) else None
        case WireFamily.GEMINI:
            config = body["generationConfig"]
            assert isinstance(config, dict)
            return config["thinkingConfig"]["thinkingLevel"]


@pytest.mark.spec("XLT-164")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("said", [{}, SAID])
def test_a_forced_level_replaces_what_the_client_says(
    family: WireFamily, said: dict[WireFamily, Json]
) -> None:
    body = json.dumps(HI[family] | said.get(family, {})).encode()
    codec = codec_for(family)
    asked = codec.decode_request(body)
    to = target(family, THINKING, effort="high")
    spliced = codec.splice_request(body, asked, to)
    assert wish_of(family, json.loads(spliced.body)) == "high"
    assert spliced.transforms
    assert wish_of(family, json.loads(codec.encode_request(asked, to).body)) == "high"


@pytest.mark.spec("XLT-164")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_forced_level_travels_to_other_dialects_too(family: WireFamily) -> None:
    source = next(other for other in FAMILIES if other is not family)
    asked = request(source, reasoning=Reasoning("off"))
    assert wish_of(family, encoded(asked, target(family, THINKING, effort="high"))[0]) == "high"


@pytest.mark.spec("XLT-164")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_target_that_does_not_reason_is_not_asked_to(family: WireFamily) -> None:
    body = json.dumps(HI[family]).encode()
    codec = codec_for(family)
    spliced = codec.splice_request(body, codec.decode_request(body), target(family, effort="high"))
    told = json.loads(spliced.body)
    gone = {"thinking", "output_config", "reasoning_effort", "reasoning", "generationConfig"}
    assert gone.isdisjoint(told)


@pytest.mark.spec("XLT-164", "XLT-167")
def test_a_forced_budget_takes_back_what_cannot_stand_beside_it() -> None:
    members = {"temperature": 0.2, "top_k": 3, "tool_choice": {"type": "any"}}
    body = json.dumps(HI[A] | members | {"tools": [{"name": "f", "input_schema": {}}]}).encode()
    codec = codec_for(A)
    to = target(A, BUDGETED, effort="low")
    told = json.loads(codec.splice_request(body, codec.decode_request(body), to).body)
    assert told["thinking"] == {"type": "enabled", "budget_tokens": 1024}
    assert {"temperature", "top_k"}.isdisjoint(told)
    assert told["tool_choice"] == {"type": "auto"}


@pytest.mark.spec("XLT-164", "XLT-168")
def test_a_forced_budget_waits_while_unsigned_calls_are_answered() -> None:
    turns = [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}]},
    ]
    messages = [{"role": "user", "content": "hi"}, *turns]
    body = json.dumps(HI[A] | {"messages": messages}).encode()
    codec = codec_for(A)
    asked = codec.decode_request(body)
    told = codec.splice_request(body, asked, target(A, BUDGETED, effort="low"))
    assert "thinking" not in json.loads(told.body)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.spec("XLT-164", "XLT-166")
def test_any_level_can_be_forced_on_any_target(family: WireFamily, level: str) -> None:
    body = json.dumps(HI[family]).encode()
    codec = codec_for(family)
    asked = codec.decode_request(body)
    for facts in (THINKING, BUDGETED, ModelFacts(), ModelFacts(reasoning="always")):
        json.loads(codec.splice_request(body, asked, target(family, facts, effort=level)).body)


VALIDATING = ModelFacts(validated_calls=True)


@pytest.mark.spec("XLT-106")
@pytest.mark.parametrize("choice", [ToolChoice(), ToolChoice("auto")])
def test_calls_are_checked_where_the_target_can(choice: ToolChoice) -> None:
    asked = request(A, tools=functions("f"), tool_choice=choice)
    assert mode_of(encoded(asked, target(G, VALIDATING))[0]) == "VALIDATED"
    again = ModelFacts(validated_calls=True, refused_parameters=frozenset({"VALIDATED"}))
    assert mode_of(encoded(asked, target(G, again))[0]) == "AUTO"
    plain = "AUTO" if choice.mode == "auto" else None
    assert mode_of(encoded(asked, target(G))[0]) == plain


@pytest.mark.spec("XLT-106")
@pytest.mark.parametrize(("mode", "expected"), [("required", "ANY"), ("none", "NONE")])
def test_an_explicit_choice_is_not_touched(mode: str, expected: str) -> None:
    choice = ToolChoice("required") if mode == "required" else ToolChoice("none")
    asked = request(A, tools=functions("f"), tool_choice=choice)
    assert mode_of(encoded(asked, target(G, VALIDATING))[0]) == expected
    named = request(A, tools=functions("f"), tool_choice=ToolChoice("named", name="f"))
    assert mode_of(encoded(named, target(G, VALIDATING))[0]) == "ANY"
    assert mode_of(encoded(request(A), target(G, VALIDATING))[0]) is None


def mode_of(body: Json) -> object:
    """Return the mode of a Gemini body's tool choice; None: it says none."""
    config = body.get("toolConfig")
    return config["functionCallingConfig"]["mode"] if isinstance(config, dict) else None
