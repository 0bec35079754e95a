"""A model that cannot be forced to call a tool is asked to choose by itself, with a record."""

from __future__ import annotations

import json

import pytest

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import EncodedRequest, ToolChoice, TransformAction
from tests.unit.domain.wire.foreign_cases import PAIRS, functions, request, target

UNFORCEABLE = ModelFacts(forced_tool_use=False)
A, C, R, G = (
    WireFamily.ANTHROPIC,
    WireFamily.OPENAI_CHAT,
    WireFamily.OPENAI_RESPONSES,
    WireFamily.GEMINI,
)
SCHEMA = {"type": "object", "properties": {}}
MESSAGES = [{"role": "user", "content": "hi"}]
OWN: dict[WireFamily, dict[str, object]] = {
    A: {
        "max_tokens": 9,
        "messages": MESSAGES,
        "tools": [{"name": "f", "input_schema": SCHEMA}],
    },
    C: {
        "messages": MESSAGES,
        "tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}],
    },
    R: {
        "input": "hi",
        "tools": [{"type": "function", "name": "f", "parameters": SCHEMA}],
    },
    G: {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "tools": [{"functionDeclarations": [{"name": "f"}]}],
    },
}
NAMED_G = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}}
FORCED: list[tuple[WireFamily, object, object]] = [
    (A, {"type": "any"}, {"type": "auto"}),
    (A, {"type": "tool", "name": "f"}, {"type": "auto"}),
    (
        A,
        {"type": "any", "disable_parallel_tool_use": True},
        {"type": "auto", "disable_parallel_tool_use": True},
    ),
    (C, "required", "auto"),
    (C, {"type": "function", "function": {"name": "f"}}, "auto"),
    (R, "required", "auto"),
    (R, {"type": "function", "name": "f"}, "auto"),
    (G, {"functionCallingConfig": {"mode": "ANY"}}, {"functionCallingConfig": {"mode": "AUTO"}}),
    (G, NAMED_G, {"functionCallingConfig": {"mode": "AUTO"}}),
]


def own_body(family: WireFamily, choice: object) -> bytes:
    key = "toolConfig" if family is G else "tool_choice"
    return json.dumps({"model": "m", **OWN[family], key: choice}).encode()


def spliced(family: WireFamily, choice: object, facts: ModelFacts) -> EncodedRequest:
    codec, body = codec_for(family), own_body(family, choice)
    return codec.splice_request(body, codec.decode_request(body), target(family, facts))


def choice_of(encoded: EncodedRequest) -> object:
    body = json.loads(encoded.body)
    return body.get("toolConfig", body.get("tool_choice"))


def codes(encoded: EncodedRequest) -> list[str]:
    return [each.code for each in encoded.transforms if each.action is TransformAction.PROJECTED]


@pytest.mark.spec("XLT-86")
@pytest.mark.parametrize(("family", "forced", "free"), FORCED)
def test_a_body_of_its_own_dialect_is_loosened_for_a_model_that_refuses(
    family: WireFamily, forced: object, free: object
) -> None:
    loosened = spliced(family, forced, UNFORCEABLE)
    assert choice_of(loosened) == free
    assert "forced_choice_refused" in codes(loosened)
    kept = spliced(family, forced, ModelFacts())
    assert choice_of(kept) == forced
    assert "forced_choice_refused" not in codes(kept)


@pytest.mark.spec("XLT-86")
@pytest.mark.parametrize("family", [A, C, R])
def test_a_free_choice_keeps_its_bytes(family: WireFamily) -> None:
    free = {"type": "auto"} if family is A else "auto"
    encoded = spliced(family, free, UNFORCEABLE)
    assert choice_of(encoded) == free
    assert "forced_choice_refused" not in codes(encoded)


@pytest.mark.spec("XLT-86")
@pytest.mark.parametrize(("family", "forced", "free"), FORCED)
def test_a_rebuilt_body_of_its_own_dialect_forces_no_call_either(
    family: WireFamily, forced: object, free: object
) -> None:
    codec = codec_for(family)
    asked = codec.decode_request(own_body(family, forced))
    encoded = codec.encode_request(asked, target(family, UNFORCEABLE))
    is_single = isinstance(forced, dict) and "disable_parallel_tool_use" in forced
    assert choice_of(encoded) == (free if is_single or family is C else None)
    assert "forced_choice_refused" in codes(encoded)


@pytest.mark.spec("XLT-86")
def test_a_forced_effort_and_a_refused_choice_make_one_edit() -> None:
    facts = ModelFacts(
        forced_tool_use=False, reasoning="always", adaptive_thinking=True, reasoning_levels=("low",)
    )
    codec, body = codec_for(A), own_body(A, {"type": "any"})
    at = target(A, facts, effort="low")
    assert choice_of(codec.splice_request(body, codec.decode_request(body), at)) == {"type": "auto"}


@pytest.mark.spec("XLT-86")
@pytest.mark.parametrize(("source", "to"), PAIRS)
@pytest.mark.parametrize("choice", [ToolChoice("required"), ToolChoice("named", name="f")])
def test_a_foreign_request_is_loosened_alike(
    source: WireFamily, to: WireFamily, choice: ToolChoice
) -> None:
    asked = request(source, tools=functions("f", "g"), tool_choice=choice)
    loosened = codec_for(to).encode_request(asked, target(to, UNFORCEABLE))
    free = codec_for(to).encode_request(
        request(source, tools=functions("f", "g"), tool_choice=ToolChoice("auto")), target(to)
    )
    assert choice_of(loosened) == choice_of(free)
    assert "forced_choice_refused" in codes(loosened)
    assert choice_of(codec_for(to).encode_request(asked, target(to))) != choice_of(free)
