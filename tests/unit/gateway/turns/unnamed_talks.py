"""Conversations of clients that name no session, in the shape that they send them."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from services.domain.vocab import TurnType, WireFamily
from tests.unit.gateway.turns.bodies import CHAT_TOOL, assistant
from tests.unit.gateway.turns.talks import Json, Sent, Talk

OFFERED: Json = {"tools": [{"functionDeclarations": [{"name": "read"}]}]}


def gemini_cli(place: str, opening: str = "fix the parser") -> Talk:
    """Return a talk of Gemini CLI 0.61.0, which names no session; ``place`` is where it works."""
    headers = {"user-agent": "GeminiCLI-tui/0.61.0/gemini-3.1-pro-preview (linux; x64; terminal)"}

    def request(
        turn_type: TurnType,
        contents: Sequence[Json],
        members: Json = OFFERED,
        *,
        is_main: bool = True,
    ) -> Sent:
        body = {"contents": contents, **members}
        return Sent(turn_type, WireFamily.GEMINI, orjson.dumps(body), headers, is_main)

    context = {"text": f"<session_context>\nfolder {place}\n</session_context>"}
    first: list[Json] = [
        {"role": "user", "parts": [context]},
        {"role": "user", "parts": [{"text": opening}]},
    ]
    call = {"functionCall": {"name": "read", "args": {}}}
    result = {"functionResponse": {"name": "read", "response": {"output": "ok"}}}
    loop: list[Json] = [
        *first,
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [result]},
    ]
    done = {"role": "model", "parts": [{"text": "done"}]}
    schema = {
        "type": "object",
        "properties": {
            "complexity_reasoning": {"type": "string"},
            "complexity_score": {"type": "integer"},
        },
    }
    asked = {"responseMimeType": "application/json", "responseJsonSchema": schema}
    return Talk(
        "gemini-cli",
        (
            request(TurnType.CLASSIFIER, first, {"generationConfig": asked}, is_main=False),
            request(TurnType.MAIN_LOOP, first),
            request(TurnType.TOOL_RESULT, loop),
            request(
                TurnType.MAIN_LOOP,
                [*loop, done, {"role": "user", "parts": [{"text": "and test it"}]}],
            ),
        ),
        is_session_named=False,
    )


def sdk_chat(place: str, opening: str = "fix the parser") -> Talk:
    """Return a talk of an SDK that names no session; ``place`` opens its first message."""
    headers = {"user-agent": "OpenAI/Python 2.14.0"}
    first: Json = {"role": "user", "content": f"{place}: {opening}"}
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    loop: list[Json] = [
        first,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    ]

    def request(turn_type: TurnType, messages: Sequence[Json]) -> Sent:
        body = {"model": "m", "messages": messages, "tools": [CHAT_TOOL]}
        return Sent(turn_type, WireFamily.OPENAI_CHAT, orjson.dumps(body), headers)

    return Talk(
        "",
        (
            request(TurnType.MAIN_LOOP, [first]),
            request(TurnType.TOOL_RESULT, loop),
            request(
                TurnType.MAIN_LOOP,
                [
                    *loop,
                    {"role": "assistant", "content": "done"},
                    {"role": "user", "content": "go"},
                ],
            ),
        ),
        is_session_named=False,
    )


def aider(place: str, opening: str = "fix the parser") -> Talk:
    """Return a talk of aider 0.86.2, which is an SDK to whoever reads its headers.

    Examples of its own go before the conversation, the repository's map before what was said and
    the files after it; what the model is to keep to follows the newest message alone.
    """
    headers = {"user-agent": "OpenAI/Python 2.20.0", "x-stainless-lang": "python"}
    rules = "\n\nTo suggest changes to a file you MUST return all of it."
    ok = assistant("Ok.")

    def said(words: str) -> Json:
        return {"role": "user", "content": words}

    def request(before: Sequence[Json], newest: str, *files: str) -> Sent:
        listed = " ".join(files)
        messages = [
            {"role": "system", "content": "You change code as asked."},
            said("Make the sample more casual"),
            assistant("Ok, I will."),
            said("I switched to a new code base. Leave the files above alone."),
            ok,
            said(f"Here are summaries of some files present in my git repository: {listed}"),
            ok,
            *before,
            said(f"I have *added these files to the chat* so go ahead: {listed}"),
            ok,
            said(newest + rules),
        ]
        body = {"model": "m", "messages": messages, "temperature": 0, "stream": True}
        return Sent(TurnType.MAIN_LOOP, WireFamily.OPENAI_CHAT, orjson.dumps(body), headers)

    first = f"{place}: {opening}"
    once = [said(first), assistant("done")]
    twice = [*once, said("and test it"), assistant("done too")]
    return Talk(
        "",
        (
            request([], first, "a.py"),
            request(once, "and test it", "a.py", "b.py"),
            request(twice, "and the docs", "b.py"),
        ),
        is_session_named=False,
    )
