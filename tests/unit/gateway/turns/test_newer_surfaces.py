"""Requests of Responses and Gemini clients: what kind they are, and of which conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson
import pytest

from gateway.session_key import session_keys_of
from gateway.turns import client_of
from services.domain.vocab import TurnType, WireFamily
from tests.unit.gateway.turns.bodies import CODEX, ROOT_AGENT, TITLE_SCHEMA, decoded, typed

Json = Mapping[str, object]
Made = tuple[WireFamily, bytes]

GEMINI_CLI = {"user-agent": "GeminiCLI/0.61.0/some-model (linux; x64)"}
OPENING: Sequence[Json] = (
    {"type": "message", "role": "developer", "content": "Rules of the house."},
    {"type": "message", "role": "developer", "content": "Where things are."},
)


def _context(today: str) -> Json:
    return _said(f"<environment_context>today is {today}</environment_context>")


def _said(words: str) -> Json:
    content = [{"type": "input_text", "text": words}]
    return {"type": "message", "role": "user", "content": content}


def _codex(
    *items: Json,
    today: str = "Monday",
    members: Mapping[str, object] | None = None,
    **more: object,
) -> Made:
    said = [*OPENING, _context(today), *items]
    body = {"model": "m", "input": said, **(members or {}), **more}
    return WireFamily.OPENAI_RESPONSES, orjson.dumps(body)


def _call(kind: str) -> tuple[Json, Json]:
    words: Json = {"arguments": "{}"} if kind == "function_call" else {"input": "x"}
    call = {"type": kind, "call_id": "c1", "name": "shell", **words}
    return call, {"type": f"{kind}_output", "call_id": "c1", "output": "ok"}


def _part(words: str) -> Json:
    return {"text": words}


def _content(role: str, *parts: Json) -> Json:
    return {"role": role, "parts": list(parts)}


def _gemini(*contents: Json, context: str = "folder a", **members: object) -> Made:
    opening = _part(f"<session_context>{context}</session_context>")
    first, *rest = contents
    parts = first["parts"]
    assert isinstance(parts, list)
    said = [{**first, "parts": [opening, *parts]}, *rest]
    return WireFamily.GEMINI, orjson.dumps({"contents": said, **members})


def _gemini_round() -> tuple[Json, Json]:
    call = {"functionCall": {"name": "read", "args": {}}}
    result = {"functionResponse": {"name": "read", "response": {"output": "ok"}}}
    return _content("model", call), _content("user", result)


@pytest.mark.spec("TRN-17", "TRN-18")
def test_titles_are_known_by_their_schema() -> None:
    shape = {"format": {"type": "json_schema", "name": "t", "schema": TITLE_SCHEMA}}
    assert typed(_codex(_said("x"), text=shape), CODEX) is TurnType.TITLE_GEN
    tool = {"type": "function", "name": "f", "parameters": {}}
    assert typed(_codex(_said("x"), text=shape, tools=[tool]), CODEX) is TurnType.MAIN_LOOP
    config = {"responseMimeType": "application/json", "responseJsonSchema": TITLE_SCHEMA}
    asked = _gemini(_content("user", _part("x")), generationConfig=config)
    assert typed(asked, GEMINI_CLI) is TurnType.TITLE_GEN


@pytest.mark.spec("TRN-16")
def test_probes_are_known_by_their_limit() -> None:
    assert typed(_codex(_said("x"), max_output_tokens=4), CODEX) is TurnType.PROBE
    asked = _gemini(_content("user", _part("x")), generationConfig={"maxOutputTokens": 1})
    assert typed(asked, GEMINI_CLI) is TurnType.PROBE


@pytest.mark.parametrize("kind", ["function_call", "custom_tool_call"])
def test_outputs_of_tools_are_told_from_words(kind: str) -> None:
    words = (_said("do it"), *_call(kind))
    assert typed(_codex(*words), CODEX) is TurnType.TOOL_RESULT
    assert typed(_codex(*words, _said("and then?")), CODEX) is TurnType.MAIN_LOOP
    asked = _content("user", _part("do it"))
    assert typed(_gemini(asked, *_gemini_round()), GEMINI_CLI) is TurnType.TOOL_RESULT
    assert typed(_gemini(asked), GEMINI_CLI) is TurnType.MAIN_LOOP


@pytest.mark.spec("TRN-20", "TRN-22")
def test_codex_says_compactions_and_sub_agents_in_a_header() -> None:
    told = {"x-codex-turn-metadata": '{"request_kind":"compact"}'}
    assert typed(_codex(_said("x")), {**CODEX, **told}) is TurnType.COMPACTION
    told = {
        "x-codex-turn-metadata": orjson.dumps(
            {"request_kind": "turn", "agent_name": f"{ROOT_AGENT}/scout"}
        ).decode()
    }
    assert typed(_codex(_said("x")), {**CODEX, **told}) is TurnType.SUB_AGENT_DISPATCH
    told = {
        "x-codex-turn-metadata": orjson.dumps(
            {"request_kind": "turn", "agent_name": ROOT_AGENT}
        ).decode()
    }
    assert typed(_codex(_said("x")), {**CODEX, **told}) is TurnType.MAIN_LOOP


def _key(made: Made, headers: Mapping[str, str]) -> bytes:
    return session_keys_of(decoded(made), headers, client_of(headers, made[0]), "key-1").thread


@pytest.mark.spec("TRN-33", "TRN-34", "TRN-37")
@pytest.mark.parametrize(
    ("headers", "members"),
    [
        ({"session-id": "s1", "thread-id": "s1"}, {}),
        ({}, {"prompt_cache_key": "s1"}),
        ({}, {"user": "s1"}),
        ({}, {"metadata": {"user_id": "s1"}}),
        ({}, {}),
    ],
)
def test_every_turn_of_a_codex_conversation_has_its_key(
    headers: dict[str, str], members: dict[str, object]
) -> None:
    sent = {**CODEX, **headers}
    first = _key(_codex(_said("do it"), members=members), sent)
    later = (_said("do it"), *_call("function_call"), _said("and then?"))
    assert _key(_codex(*later, today="Tuesday", members=members), sent) == first
    assert _key(_codex(_said("do something else"), members=members), sent) != first


@pytest.mark.spec("TRN-33", "TRN-36")
def test_another_session_has_another_key() -> None:
    keys = {
        _key(_codex(_said("do it"), prompt_cache_key=name), {**CODEX, **headers})
        for name in ("s1", "s2")
        for headers in ({}, {"session-id": f"h-{name}"})
    }
    assert len(keys) == 4


@pytest.mark.spec("TRN-34", "TRN-37")
def test_every_turn_of_a_gemini_conversation_has_its_key() -> None:
    asked = _content("user", _part("do it"))
    first = _key(_gemini(asked), GEMINI_CLI)
    assert _key(_gemini(asked, *_gemini_round()), GEMINI_CLI) == first
    answered = (_content("model", _part("done")), _content("user", _part("and then?")))
    assert _key(_gemini(asked, *_gemini_round(), *answered), GEMINI_CLI) == first
    assert _key(_gemini(asked, context="folder b"), GEMINI_CLI) != first
    assert _key(_gemini(_content("user", _part("do something else"))), GEMINI_CLI) != first
