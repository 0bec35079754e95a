"""Tools of a chat request, to and from canonical ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.content import cache_mark
from services.domain.wire.custom_tools import custom_tool
from services.domain.wire.model import Tool, WireError
from services.domain.wire.reading import mapping, peek, text
from services.domain.wire.subschemas import EMPTY_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from services.domain.wire.scanner import Document, Node


def decode_tools(document: Document) -> tuple[Tool, ...]:
    """Return the tools on offer, those of the legacy ``functions`` after the present ones.

    Raises:
        WireError: a list or one of its items is unreadable.
    """
    tools = [_tool(node, path) for node, path in _items(document, "tools")]
    tools += [_function(node, path, b"") for node, path in _items(document, "functions")]
    return tuple(tools)


def _items(document: Document, key: str) -> list[tuple[Node, str]]:
    node = document.member(key)
    if node is None or node.value is None:
        return []
    if not isinstance(node.value, list):
        raise WireError(key, "must be a list")
    items = [(item, f"{key}[{at}]") for at, item in enumerate(node.items)]
    for item, path in items:
        if not isinstance(item.value, dict):
            raise WireError(path, "must be an object")
    return items


def _tool(node: Node, path: str) -> Tool:
    told = mapping(node.value)
    kind = text(told.get("type"))
    function = node.members.get("function")
    if function is not None and kind in ("", "function"):
        if not isinstance(function.value, dict):
            raise WireError(f"{path}.function", "must be an object")
        return _function(function, f"{path}.function", node.raw)
    if kind == "function":
        raise WireError(f"{path}.function", "must be an object")
    if kind == "custom":
        return _custom(mapping(told.get("custom")), f"{path}.custom", node.raw)
    if not kind:
        raise WireError(f"{path}.type", "must be a string")
    return Tool("server", kind, raw=node.raw)


def _function(node: Node, path: str, raw: bytes) -> Tool:
    told = mapping(node.value)
    parameters, strict = node.members.get("parameters"), told.get("strict")
    has_schema = parameters is not None and isinstance(parameters.value, dict)
    return Tool(
        kind="function",
        name=_name(told, path),
        description=text(told.get("description")),
        schema=parameters.raw if parameters is not None and has_schema else EMPTY_SCHEMA,
        strict=strict if isinstance(strict, bool) else None,
        cache=cache_mark(node),
        raw=raw,
    )


def _custom(told: Mapping[str, object], path: str, raw: bytes) -> Tool:
    grammar = mapping(mapping(told.get("format")).get("grammar"))
    return custom_tool(_name(told, path), text(told.get("description")), grammar, raw)


def _name(told: Mapping[str, object], path: str) -> str:
    name = text(told.get("name"))
    if not name:
        raise WireError(f"{path}.name", "must be a string that is not empty")
    return name


def custom_names(tools: Iterable[Tool]) -> frozenset[str]:
    """Return the names of the tools that a client of this dialect declared as custom ones."""
    return frozenset(
        tool.name
        for tool in tools
        if b"custom" in tool.raw and mapping(peek(tool.raw)).get("type") == "custom"
    )
