"""Tools of a request, to canonical ones, and the forms in which a client knows their calls.

Custom tools take free text and namespaces group tools; few other dialects know either. Both become
flat functions: a custom tool gets one string parameter, a tool of a namespace a joined name. The
way back is read from the declarations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from services.domain.wire.custom_tools import custom_tool
from services.domain.wire.model import Tool, WireError
from services.domain.wire.reading import mapping, peek, rows, text
from services.domain.wire.subschemas import EMPTY_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from services.domain.wire.scanner import Document, Node

SEPARATOR = "__"
"""What joins the name of a namespace and of a tool in it."""


class CallForm(NamedTuple):
    """How a client knows the calls of one tool."""

    name: str
    namespace: str = ""
    is_custom: bool = False


def flat_name(namespace: str, name: str) -> str:
    """Return the name of a tool where namespaces are not known."""
    return f"{namespace}{SEPARATOR}{name}" if namespace else name


def decode_tools(document: Document) -> tuple[Tool, ...]:
    """Return the tools on offer; those of a namespace one by one.

    Raises:
        WireError: the list or one of its items is unreadable.
    """
    node = document.member("tools")
    if node is None or node.value is None:
        return ()
    if not isinstance(node.value, list):
        raise WireError("tools", "must be a list")
    return tuple(
        tool for at, item in enumerate(node.items) for tool in _tools(item, f"tools[{at}]")
    )


def _tools(node: Node, path: str) -> list[Tool]:
    told = node.value
    if not isinstance(told, dict):
        raise WireError(path, "must be an object")
    kind = text(told.get("type"))
    if not kind:
        raise WireError(f"{path}.type", "must be a string")
    if kind in ("function", "custom"):
        return [_callable(node, path, "", node.raw)]
    inner = node.members.get("tools")
    if kind == "namespace" and inner is not None and inner.items:
        space = _name(told, path)
        return [
            _callable(item, f"{path}.tools[{at}]", space, node.raw)
            for at, item in enumerate(inner.items)
        ]
    return [Tool("server", kind, raw=node.raw)]


def _callable(node: Node, path: str, namespace: str, raw: bytes) -> Tool:
    told = mapping(node.value)
    name = flat_name(namespace, _name(told, path))
    if text(told.get("type")) == "custom":
        return custom_tool(name, text(told.get("description")), mapping(told.get("format")), raw)
    parameters, strict = node.members.get("parameters"), told.get("strict")
    has_schema = parameters is not None and isinstance(parameters.value, dict)
    return Tool(
        "function",
        name,
        description=text(told.get("description")),
        schema=parameters.raw if parameters is not None and has_schema else EMPTY_SCHEMA,
        strict=strict if isinstance(strict, bool) else None,
        raw=raw,
    )


def _name(told: Mapping[str, object], path: str) -> str:
    name = text(told.get("name"))
    if not name:
        raise WireError(f"{path}.name", "must be a string that is not empty")
    return name


def call_forms(tools: Iterable[Tool]) -> Mapping[str, CallForm]:
    """Return the forms of those tools whose calls are no plain function calls, by flat name."""
    forms: dict[str, CallForm] = {}
    seen: set[bytes] = set()
    for tool in tools:
        raw = tool.raw
        is_plain = tool.kind != "function" or (b"custom" not in raw and b"namespace" not in raw)
        if is_plain or raw in seen:
            continue
        seen.add(raw)
        forms |= _forms(raw)
    return forms


def _forms(raw: bytes) -> Mapping[str, CallForm]:
    told = mapping(peek(raw))
    if told.get("type") == "custom":
        name = text(told.get("name"))
        return {name: CallForm(name, is_custom=True)}
    if told.get("type") != "namespace":
        return {}
    space = text(told.get("name"))
    inner = [mapping(row) for row in rows(told.get("tools"))]
    return {
        flat_name(space, name): CallForm(name, space, is_custom=row.get("type") == "custom")
        for row in inner
        if (name := text(row.get("name")))
    }
