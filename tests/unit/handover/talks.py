"""Agents' conversations in all four dialects, and how to read a body's messages back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from services.domain.vocab import WireFamily

ANTHROPIC, CHAT = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT
RESPONSES, GEMINI = WireFamily.OPENAI_RESPONSES, WireFamily.GEMINI

Json = dict[str, object]

LISTS = {ANTHROPIC: "messages", CHAT: "messages", RESPONSES: "input", GEMINI: "contents"}


def body(family: WireFamily, messages: Sequence[Json]) -> bytes:
    """Return a body with blanks and members of its own, which a compaction must keep."""
    listed = " , ".join(json.dumps(message) for message in messages)
    head = '{ "model": "m-large", "zz": 1.50, "tools": [], '
    return (head + f'"{LISTS[family]}" : [ {listed} ] }}').encode()


def messages_of(family: WireFamily, raw: bytes) -> list[Json]:
    """Return the messages of a body."""
    listed = json.loads(raw)[LISTS[family]]
    assert isinstance(listed, list)
    return listed


def user(family: WireFamily, words: str) -> Json:
    """Return a message of a person's."""
    if family is GEMINI:
        return {"role": "user", "parts": [{"text": words}]}
    return {"role": "user", "content": words}


def assistant(family: WireFamily, words: str) -> Json:
    """Return a message of the assistant's."""
    if family is GEMINI:
        return {"role": "model", "parts": [{"text": words}]}
    return {"role": "assistant", "content": words}


def _round_messages(ids: Sequence[str], output: str) -> list[Json]:
    calls = [{"type": "tool_use", "id": i, "name": "Read", "input": {"path": i}} for i in ids]
    results = [{"type": "tool_result", "tool_use_id": i, "content": output} for i in ids]
    return [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]


def _round_chat(ids: Sequence[str], output: str) -> list[Json]:
    calls = [
        {"id": i, "type": "function", "function": {"name": "Read", "arguments": "{}"}} for i in ids
    ]
    results: list[Json] = [{"role": "tool", "tool_call_id": i, "content": output} for i in ids]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


def _round_responses(ids: Sequence[str], output: str) -> list[Json]:
    calls: list[Json] = [
        {"type": "function_call", "call_id": i, "name": "Read", "arguments": "{}"} for i in ids
    ]
    results: list[Json] = [
        {"type": "function_call_output", "call_id": i, "output": output} for i in ids
    ]
    thought: Json = {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x"}
    return [thought, *calls, *results]


def _round_gemini(ids: Sequence[str], output: str) -> list[Json]:
    calls = [{"functionCall": {"name": "Read", "args": {"path": i}}} for i in ids]
    results = [{"functionResponse": {"name": "Read", "response": {"output": output}}} for _ in ids]
    return [{"role": "model", "parts": calls}, {"role": "user", "parts": results}]


_ROUNDS: Mapping[WireFamily, Callable[[Sequence[str], str], list[Json]]] = {
    ANTHROPIC: _round_messages,
    CHAT: _round_chat,
    RESPONSES: _round_responses,
    GEMINI: _round_gemini,
}


def tool_round(family: WireFamily, ids: Sequence[str], output: str) -> list[Json]:
    """Return one message of the assistant's with calls, and what answers them."""
    return _ROUNDS[family](ids, output)


def agent_talk(family: WireFamily, rounds: int, output: str, *, batch: int = 1) -> list[Json]:
    """Return a person's wish and so many rounds of calls after it."""
    messages = [user(family, "Mend the parser")]
    for number in range(rounds):
        ids = [f"call_{number}_{place}" for place in range(batch)]
        messages += tool_round(family, ids, output)
    return messages


def plain_talk(family: WireFamily, rounds: int, words: str) -> list[Json]:
    """Return so many questions and answers, and a last question."""
    messages: list[Json] = []
    for number in range(rounds):
        messages.append(user(family, f"question {number}: {words}"))
        messages.append(assistant(family, f"answer {number}: {words}"))
    return [*messages, user(family, "go on")]


def call_ids(family: WireFamily, message: Json) -> list[str]:
    """Return the ids of the calls that a message makes."""
    if family is RESPONSES:
        return [str(message["call_id"])] if message.get("type") == "function_call" else []
    if family is CHAT:
        calls = message.get("tool_calls")
        return [str(call["id"]) for call in calls] if isinstance(calls, list) else []
    return [str(part["id"]) for part in _parts(message) if part.get("type") == "tool_use"]


def result_ids(family: WireFamily, message: Json) -> list[str]:
    """Return the ids of the calls that a message answers."""
    if family is RESPONSES:
        return [str(message["call_id"])] if message.get("type") == "function_call_output" else []
    if family is CHAT:
        return [str(message["tool_call_id"])] if "tool_call_id" in message else []
    found = (part for part in _parts(message) if part.get("type") == "tool_result")
    return [str(part["tool_use_id"]) for part in found]


def _parts(message: Json) -> list[Json]:
    content = message.get("content")
    return content if isinstance(content, list) else []
