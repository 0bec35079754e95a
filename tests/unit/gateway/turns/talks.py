"""Whole conversations in the shape that each client sends them: headers and bodies, synthetic.

Two rounds of a person's words with a call between them, and what the client sends besides. The
marks are those that recorded requests of the named versions have; the words are our own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from services.domain.vocab import TurnType, WireFamily
from tests.unit.gateway.turns.bodies import (
    BILLING,
    CHAT_TOOL,
    ROOT_AGENT,
    TITLE_SCHEMA,
    TOOL,
    assistant,
)

Json = Mapping[str, object]
SUB_AGENT_BILLING = f"{BILLING} cc_is_subagent=true;"
AGENT = "a70d87bf08cc1eed"


@dataclass(frozen=True)
class Sent:
    """One request of a client, and what it is."""

    turn_type: TurnType
    family: WireFamily
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    is_main: bool = True
    """Whether it belongs to the main loop's thread."""


@dataclass(frozen=True)
class Talk:
    """A conversation of one client in one session."""

    app: str
    sent: tuple[Sent, ...]
    is_session_named: bool = True


def _text(words: str) -> Json:
    return {"type": "text", "text": words}


def claude_code(session: str, opening: str = "fix the parser") -> Talk:
    """Return a talk of Claude Code 2.1.197."""
    headers = {
        "x-app": "cli",
        "user-agent": "claude-cli/2.1.197 (external, sdk-cli)",
        "x-claude-code-session-id": session,
    }
    user_id = orjson.dumps({"device_id": "d", "account_uuid": "", "session_id": session}).decode()
    reminder = "<system-reminder>\nToday is Monday.\n</system-reminder>\n"
    first: Json = {"role": "user", "content": [_text(reminder), _text(opening)]}
    late: Json = {"role": "system", "content": "12 tools are deferred"}
    call = {"type": "tool_use", "id": "t1", "name": "read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    loop: list[Json] = [
        first,
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]
    said = [*loop, assistant("done")]

    def request(
        turn_type: TurnType,
        messages: Sequence[Json],
        more: Mapping[str, str] | None = None,
        *,
        is_main: bool = True,
        billing: str = BILLING,
        **members: object,
    ) -> Sent:
        body = {
            "model": "claude-sonnet-5",
            "max_tokens": 64_000,
            "stream": True,
            "system": [_text(billing), _text("You are an agent that edits code.")],
            "tools": [TOOL],
            "metadata": {"user_id": user_id},
            "messages": messages,
            **members,
        }
        kept = {name: value for name, value in body.items() if value is not None}
        sent = {**headers, **(more or {})}
        return Sent(turn_type, WireFamily.ANTHROPIC, orjson.dumps(kept), sent, is_main)

    title = {"format": {"type": "json_schema", "schema": TITLE_SCHEMA}}
    asked: Json = {"role": "user", "content": [_text("count the tests")]}
    task = "CRITICAL: Respond with TEXT ONLY. Do not call any tools.\nYour task is to create a "
    task += "detailed summary of what was said."
    return Talk(
        "claude-code",
        (
            request(
                TurnType.TITLE_GEN,
                [{"role": "user", "content": [_text(opening)]}],
                is_main=False,
                tools=None,
                output_config=title,
            ),
            request(TurnType.MAIN_LOOP, [first, late]),
            request(TurnType.MAIN_LOOP, [first, late], stream=None),
            request(TurnType.TOOL_RESULT, loop),
            request(TurnType.TOOL_RESULT, [*loop, late]),
            request(
                TurnType.SUB_AGENT_DISPATCH,
                [asked],
                {"x-claude-code-agent-id": AGENT},
                is_main=False,
                billing=SUB_AGENT_BILLING,
            ),
            request(TurnType.SUB_AGENT_DISPATCH, [asked], is_main=False, billing=SUB_AGENT_BILLING),
            request(
                TurnType.MAIN_LOOP, [*said, {"role": "user", "content": [_text("and test it")]}]
            ),
            request(TurnType.COMPACTION, [*said, {"role": "user", "content": [_text(task)]}]),
        ),
    )


def codex(session: str, opening: str = "fix the parser") -> Talk:
    """Return a talk of Codex CLI 0.171.0."""
    headers = {
        "user-agent": "codex_exec/0.171.0 (Debian 12.0.0; x86_64) dumb (codex_exec; 0.171.0)",
        "originator": "codex_exec",
        "session-id": session,
        "thread-id": session,
    }

    def said(role: str, words: str) -> Json:
        kind = "output_text" if role == "assistant" else "input_text"
        return {"type": "message", "role": role, "content": [{"type": kind, "text": words}]}

    def request(
        turn_type: TurnType,
        items: Sequence[Json],
        more: Mapping[str, str] | None = None,
        *,
        is_main: bool = True,
        **metadata: str,
    ) -> Sent:
        told = {"request_kind": "turn", "session_id": session, "agent_name": ROOT_AGENT, **metadata}
        body = {
            "model": "gpt-6",
            "instructions": "You are an agent that edits code.",
            "input": items,
            "tools": [{"type": "function", "name": "shell", "parameters": {"type": "object"}}],
            "stream": True,
            "store": False,
            "prompt_cache_key": session,
        }
        meta = {"x-codex-turn-metadata": orjson.dumps(told).decode()}
        sent = {**headers, **meta, **(more or {})}
        return Sent(turn_type, WireFamily.OPENAI_RESPONSES, orjson.dumps(body), sent, is_main)

    context = [
        said("developer", "permissions"),
        said("developer", "rules"),
        said("user", "<environment_context>\na folder, Monday\n</environment_context>"),
    ]
    call = {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
    loop: list[Json] = [*context, said("user", opening), call, output]
    custom = {"type": "custom_tool_call_output", "call_id": "c1", "output": "ok"}
    own = {"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": "x"}
    return Talk(
        "codex",
        (
            request(TurnType.MAIN_LOOP, loop[:4]),
            request(TurnType.TOOL_RESULT, loop),
            request(TurnType.TOOL_RESULT, [*loop[:4], own, custom]),
            request(
                TurnType.MAIN_LOOP, [*loop, said("assistant", "done"), said("user", "and test it")]
            ),
            request(TurnType.COMPACTION, loop, request_kind="compact"),
            request(
                TurnType.SUB_AGENT_DISPATCH,
                [*context, said("user", "count the tests")],
                {"thread-id": "33333333-4444-5555-6666-777777777777"},
                is_main=False,
                agent_name=f"{ROOT_AGENT}/counter",
                thread_source="subagent",
            ),
        ),
    )


def opencode_chat(session: str, opening: str = "fix the parser") -> Talk:
    """Return a talk of opencode 1.18.33 with a Chat provider."""
    agent = "opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14"
    headers = {"user-agent": agent, "x-session-id": session, "x-session-affinity": session}

    def request(
        turn_type: TurnType,
        messages: Sequence[Json],
        more: Mapping[str, str] | None = None,
        *,
        is_main: bool = True,
        has_tools: bool = True,
    ) -> Sent:
        tools = {"tools": [CHAT_TOOL]} if has_tools else {}
        body = {"model": "m", "stream": True, "messages": messages, **tools}
        sent = {**headers, **(more or {})}
        return Sent(turn_type, WireFamily.OPENAI_CHAT, orjson.dumps(body), sent, is_main)

    system: Json = {"role": "system", "content": "You are an agent that edits code."}
    first: Json = {"role": "user", "content": opening}
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    loop: list[Json] = [
        system,
        first,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    ]
    title = {"role": "system", "content": "You are a title generator. Be brief."}
    named = {"role": "user", "content": "Generate a title for this conversation:"}
    child = {"x-session-id": f"{session}c", "x-session-affinity": f"{session}c"}
    return Talk(
        "opencode",
        (
            request(TurnType.TITLE_GEN, [title, named, first], is_main=False, has_tools=False),
            request(TurnType.MAIN_LOOP, loop[:2]),
            request(TurnType.TOOL_RESULT, loop),
            request(
                TurnType.MAIN_LOOP,
                [
                    *loop,
                    {"role": "assistant", "content": "done"},
                    {"role": "user", "content": "go"},
                ],
            ),
            request(
                TurnType.SUB_AGENT_DISPATCH,
                [system, {"role": "user", "content": "count the tests"}],
                {**child, "x-parent-session-id": session},
                is_main=False,
            ),
        ),
    )
