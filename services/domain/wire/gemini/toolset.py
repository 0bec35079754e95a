"""Canonical tools and tool choice as members of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.wire.gemini.schema import gemini_schema
from services.domain.wire.model import TransformAction, UnbuildableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.domain.wire.model import Request, Target, Tool, ToolChoice

    Note = Callable[[str, TransformAction, str], None]

VALIDATED = "VALIDATED"
"""Mode in which calls are checked against their schemas; it can be refused like a parameter."""

_MODES = {"auto": "AUTO", "required": "ANY", "none": "NONE"}
_Members = dict[str, object]


def tool_members(request: Request, target: Target, note: Note) -> _Members:
    """Return ``tools`` and ``toolConfig``; nothing without tools.

    Raises:
        UnbuildableError: two different tools have one name.
    """
    tools = _distinct(request.tools)
    if not tools:
        return {}
    declared = [_function(tool, at, note) for at, tool in enumerate(tools)]
    members: _Members = {"tools": [{"functionDeclarations": declared}]}
    config = _choice(request.tool_choice, {tool.name for tool in tools}, note)
    if target.facts.validated_calls and request.tool_choice.mode in ("unset", "auto"):
        config = {"mode": "AUTO" if VALIDATED in target.facts.refused_parameters else VALIDATED}
    if config:
        members["toolConfig"] = {"functionCallingConfig": config}
    if request.tool_choice.parallel is False:
        note("parallel_tool_calls", TransformAction.DROPPED, "parallel_tool_calls")
    return members


def _distinct(tools: tuple[Tool, ...]) -> list[Tool]:
    by_name: dict[str, Tool] = {}
    for at, tool in enumerate(tools):
        if by_name.setdefault(tool.name, tool) != tool:
            raise UnbuildableError(f"tools[{at}].name", "two different tools have this name")
    return list(by_name.values())


def _function(tool: Tool, at: int, note: Note) -> _Members:
    path = f"tools[{at}]"
    function: _Members = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    schema = gemini_schema(tool.schema)
    if schema is None:
        if tool.schema.strip() != b"{}":
            note("tool_schema", TransformAction.DROPPED, path)
    else:
        function["parameters"] = orjson.Fragment(schema)
        if schema != tool.schema:
            note("tool_schema", TransformAction.PROJECTED, path)
    return function


def _choice(choice: ToolChoice, names: set[str], note: Note) -> _Members:
    if choice.mode in _MODES:
        return {"mode": _MODES[choice.mode]}
    if choice.mode == "named":
        if choice.name in names:
            return {"mode": "ANY", "allowedFunctionNames": [choice.name]}
        note("tool_choice", TransformAction.DROPPED, "tool_choice")
    if choice.mode == "allowed":
        known = [name for name in choice.names if name in names]
        if known:
            mode = "ANY" if choice.is_call_required else "VALIDATED"
            return {"mode": mode, "allowedFunctionNames": known}
        note("tool_choice", TransformAction.DROPPED, "tool_choice")
    return {}
