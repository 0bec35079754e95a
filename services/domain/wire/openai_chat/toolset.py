"""Canonical tools and tool choice as members of a chat request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.wire.model import TransformAction
from services.domain.wire.openai_chat.schema import chat_schema
from services.domain.wire.openai_chat.tools import custom_names

if TYPE_CHECKING:
    from services.domain.wire.model import Request, Tool, ToolChoice
    from services.domain.wire.openai_chat.render import Rendering

_Members = dict[str, object]


def tool_members(request: Request, rendering: Rendering) -> _Members:
    """Return ``tools``, ``tool_choice`` and ``parallel_tool_calls``; nothing without tools."""
    tools = distinct(request.tools, rendering)
    if not tools:
        return {}
    members: _Members = {"tools": [_tool(tool, at, rendering) for at, tool in enumerate(tools)]}
    choice = _choice(request.tool_choice, tools, rendering)
    if choice is not None:
        members["tool_choice"] = choice
    if request.tool_choice.parallel is not None:
        members["parallel_tool_calls"] = request.tool_choice.parallel
    return members


def distinct(tools: tuple[Tool, ...], rendering: Rendering) -> list[Tool]:
    """Return foreign tools without repeats of a name: of different ones the last counts."""
    if rendering.is_native:
        return list(tools)
    by_name: dict[str, Tool] = {}
    for tool in tools:
        before = by_name.get(tool.name)
        if before is not None and before != tool:
            rendering.note("duplicate_tool", TransformAction.DROPPED, "tools")
        by_name[tool.name] = tool
    return list(by_name.values())


def _tool(tool: Tool, at: int, rendering: Rendering) -> object:
    if rendering.is_native and tool.raw:
        return orjson.Fragment(tool.raw)
    function: _Members = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    schema = tool.schema if rendering.is_native else chat_schema(tool.schema)
    if schema != tool.schema:
        rendering.note("tool_schema", TransformAction.PROJECTED, f"tools[{at}]")
    function["parameters"] = orjson.Fragment(schema)
    if tool.strict is not None:
        function["strict"] = tool.strict
    return {"type": "function", "function": function}


def _choice(choice: ToolChoice, tools: list[Tool], rendering: Rendering) -> object | None:
    if choice.mode in ("auto", "required", "none"):
        return choice.mode
    customs = custom_names(tools) if rendering.is_native else frozenset()
    if choice.mode == "named":
        if rendering.is_native or any(tool.name == choice.name for tool in tools):
            return _named(choice.name, customs)
        rendering.note("tool_choice", TransformAction.DROPPED, "tool_choice")
    if choice.mode == "allowed":
        mode = "required" if choice.is_call_required else "auto"
        allowed = {"mode": mode, "tools": [_named(n, customs) for n in choice.names]}
        return {"type": "allowed_tools", "allowed_tools": allowed}
    return None


def _named(name: str, customs: frozenset[str]) -> object:
    kind = "custom" if name in customs else "function"
    return {"type": kind, kind: {"name": name}}
