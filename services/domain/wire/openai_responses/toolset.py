"""Canonical tools and tool choice as members of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.wire.model import TransformAction
from services.domain.wire.openai_chat.toolset import distinct
from services.domain.wire.openai_responses.schema import is_strict_form, rooted_schema

if TYPE_CHECKING:
    from services.domain.wire.model import Request, Tool, ToolChoice
    from services.domain.wire.openai_chat.render import Rendering

_Members = dict[str, object]


def tool_members(request: Request, rendering: Rendering) -> _Members:
    """Return ``tools``, ``tool_choice`` and ``parallel_tool_calls``."""
    members: _Members = {}
    tools = _own(request.tools) if rendering.is_native else _foreign(request.tools, rendering)
    if tools:
        members["tools"] = tools
    choice = _choice(request, rendering) if tools or rendering.is_native else None
    if choice is not None:
        members["tool_choice"] = choice
    if request.tool_choice.parallel is not None and (tools or rendering.is_native):
        members["parallel_tool_calls"] = request.tool_choice.parallel
    return members


def _own(tools: tuple[Tool, ...]) -> list[object]:
    """Return the declarations as they were written; the tools of a namespace share theirs."""
    own: list[object] = []
    last = b""
    for tool in tools:
        is_shared = tool.raw == last and b'"namespace"' in tool.raw
        last = tool.raw
        if not is_shared:
            own.append(orjson.Fragment(tool.raw) if tool.raw else _function(tool))
    return own


def _foreign(tools: tuple[Tool, ...], rendering: Rendering) -> list[object]:
    for at, tool in enumerate(tools):
        if tool.strict and not is_strict_form(tool.schema):
            rendering.note("strict", TransformAction.DROPPED, f"tools[{at}]")
    return [_function(tool) for tool in distinct(tools, rendering)]


def _function(tool: Tool) -> _Members:
    """Return a declaration; unsaid, strictness would be the upstream's guess."""
    schema = rooted_schema(tool.schema)
    function: _Members = {"type": "function", "name": tool.name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = orjson.Fragment(schema)
    function["strict"] = bool(tool.strict) and is_strict_form(schema)
    return function


def _choice(request: Request, rendering: Rendering) -> object | None:
    choice = request.tool_choice
    if rendering.is_native:
        raw = dict(request.native).get("tool_choice")
        return None if raw is None else orjson.Fragment(raw)
    if choice.mode in ("auto", "required", "none"):
        return choice.mode
    names = {tool.name for tool in request.tools}
    if choice.mode == "named" and choice.name in names:
        return _named(choice.name)
    if choice.mode == "named":
        rendering.note("tool_choice", TransformAction.DROPPED, "tool_choice")
    return _allowed(choice) if choice.mode == "allowed" else None


def _allowed(choice: ToolChoice) -> _Members:
    mode = "required" if choice.is_call_required else "auto"
    return {"type": "allowed_tools", "mode": mode, "tools": [_named(n) for n in choice.names]}


def _named(name: str) -> _Members:
    return {"type": "function", "name": name}
