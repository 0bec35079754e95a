"""Conversations of opencode on Messages, in the shape that it sends them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson

from services.domain.vocab import TurnType, WireFamily
from tests.unit.gateway.turns.bodies import OPENCODE, TOOL
from tests.unit.gateway.turns.talks import Json, Sent, Talk

CACHED: Json = {"cache_control": {"type": "ephemeral"}}


def _said(role: str, *blocks: Json) -> Json:
    """Return one message whose blocks are all marked for the cache, as the latest ones are."""
    return {"role": role, "content": [{**block, **CACHED} for block in blocks]}


def _text(words: str) -> Json:
    return {"type": "text", "text": words}


def opencode_messages(session: str, opening: str = "fix the parser") -> Talk:
    """Return a talk of opencode 1.18.33 with a Messages provider."""
    headers = {
        **OPENCODE,
        "anthropic-version": "2023-06-01",
        "x-session-id": session,
        "x-session-affinity": session,
    }

    def request(
        turn_type: TurnType,
        messages: Sequence[Json],
        more: Mapping[str, str] | None = None,
        *,
        system: str = "You are an agent that edits code.",
        tool_count: int = 10,
    ) -> Sent:
        tools = [{**TOOL, "name": f"tool_{number}"} for number in range(tool_count)]
        offered = {"tools": tools, "tool_choice": {"type": "auto"}} if tools else {}
        body = {
            "model": "m",
            "max_tokens": 32_000,
            "system": [{**_text(system), **CACHED}],
            "messages": messages,
            **offered,
            "stream": True,
        }
        is_main = bool(tools) and more is None
        sent = {**headers, **(more or {})}
        return Sent(turn_type, WireFamily.ANTHROPIC, orjson.dumps(body), sent, is_main)

    call = {"type": "tool_use", "id": "toolu_1", "name": "tool_1", "input": {"filePath": "a"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
    first: Json = {"role": "user", "content": [_text(opening)]}
    loop = [first, _said("assistant", call), _said("user", result)]
    done = _said("assistant", _text("done"))
    child = {
        "x-session-id": f"{session}c",
        "x-session-affinity": f"{session}c",
        "x-parent-session-id": session,
    }
    return Talk(
        "opencode",
        (
            request(
                TurnType.TITLE_GEN,
                [_said("user", _text("Generate a title for this conversation:\n"), _text(opening))],
                system="You are a title generator. Be brief.",
                tool_count=0,
            ),
            request(TurnType.MAIN_LOOP, [_said("user", _text(opening))]),
            request(TurnType.TOOL_RESULT, loop),
            request(TurnType.MAIN_LOOP, [*loop, done, _said("user", _text("and test it"))]),
            request(
                TurnType.SUB_AGENT_DISPATCH,
                [_said("user", _text("count the tests"))],
                child,
                tool_count=8,
            ),
        ),
    )
