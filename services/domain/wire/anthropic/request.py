"""A Messages request as a canonical one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from services.domain.wire.anthropic.blocks import FAMILY, decode_content, optional
from services.domain.wire.content import cache_mark
from services.domain.wire.model import (
    Limits,
    OutputFormat,
    Reasoning,
    Request,
    Role,
    Sampling,
    SystemBlock,
    Tool,
    ToolChoice,
    Turn,
    WireError,
)
from services.domain.wire.reading import count, mapping, rows, text
from services.domain.wire.recent import scan_request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.scanner import Document, Node, Plan

_BLOCK: Plan = {"content": {"*": {"content": {"*": {}}}}}
PLAN: Plan = {
    "system": {"*": {}},
    "messages": {"*": {"content": {"*": _BLOCK}}},
    "tools": {"*": {}},
    "thinking": {},
    "context_management": {"edits": {}},
    "output_config": {"format": {}},
    "metadata": {},
    "tool_choice": {},
}
"""The containers of a request body that are opened."""

_NATIVE = ("metadata", "output_config", "thinking", "tool_choice")
_MODELLED = frozenset(
    [
        "max_tokens",
        "messages",
        "model",
        "stop_sequences",
        "stream",
        "system",
        "temperature",
        "tools",
        "top_k",
        "top_p",
        *_NATIVE,
    ]
)
_READ_OF_MESSAGE = frozenset(["role", "content"])
_CHOICES: Mapping[str, Literal["auto", "required", "none"]] = {
    "auto": "auto",
    "any": "required",
    "none": "none",
}


def read_document(body: bytes, *, is_last: bool = False) -> Document:
    """Return the scanned body with its planned parts opened; ``is_last``: it is read no more.

    Raises:
        WireError: it is no JSON object, or a top-level key comes twice.
    """
    document = scan_request(body, PLAN, is_last=is_last)
    if document.duplicates:
        raise WireError(document.duplicates[0], "must not be given twice")
    return document


def decode_request(body: bytes) -> Request:
    """Return the canonical form of a Messages body.

    Raises:
        WireError: the body is no readable Messages request; names the path.
    """
    document = read_document(body)
    model = document.value("model")
    if not isinstance(model, str) or not model:
        raise WireError("model", "must be a text that is not empty")
    turns, in_array = _turns(document.member("messages"))
    config = mapping(document.value("output_config"))
    return Request(
        family=FAMILY,
        model=model,
        is_stream=document.value("stream") is True,
        system=_system(document.member("system")) + in_array,
        turns=turns,
        tools=_tools(document.member("tools")),
        tool_choice=_tool_choice(document.value("tool_choice")),
        limits=_limits(document),
        sampling=_sampling(document),
        reasoning=_reasoning(mapping(document.value("thinking")), config),
        output=_output(document.member("output_config")),
        is_stream_usage_wanted=True,
        user=text(mapping(document.value("metadata")).get("user_id")),
        extras=_extras(document.root, _MODELLED),
        native=tuple((n.key, n.raw) for n in document.root.items if n.key in _NATIVE),
    )


def _system(node: Node | None) -> tuple[SystemBlock, ...]:
    return _system_blocks(node, "system", "system", 0, -1)


def _system_blocks(
    node: Node | None,
    path: str,
    origin: Literal["system", "in_array"],
    after_turn: int,
    place: int,
) -> tuple[SystemBlock, ...]:
    """Return instructions; blocks other than text have no place in them."""
    if node is None or node.value is None:
        return ()
    if isinstance(node.value, str):
        return (SystemBlock(node.value, origin, after_turn, origin_index=place, raw=node.raw),)
    if not isinstance(node.value, list):
        raise WireError(path, "must be a string or an array of blocks")
    blocks: list[SystemBlock] = []
    for index, item in enumerate(node.items):
        if not isinstance(item.value, dict):
            raise WireError(f"{path}[{index}]", "must be an object")
        words = optional(item.value, "text", f"{path}[{index}]")
        mark = cache_mark(item)
        blocks.append(SystemBlock(words, origin, after_turn, mark, place, item.raw))
    return tuple(blocks)


def _turns(node: Node | None) -> tuple[tuple[Turn, ...], tuple[SystemBlock, ...]]:
    """Return the turns, and the system messages among them with their place."""
    if node is None:
        raise WireError("messages", "is required")
    if not isinstance(node.value, list):
        raise WireError("messages", "must be an array")
    if not node.items:
        raise WireError("messages", "must not be empty")
    turns: list[Turn] = []
    in_array: list[SystemBlock] = []
    for index, item in enumerate(node.items):
        if not isinstance(item.value, dict):
            raise WireError(f"messages[{index}]", "must be an object")
        where = f"messages[{index}].content"
        content = item.members.get("content")
        match item.value.get("role"):
            case "user":
                role = Role.USER
            case "assistant":
                role = Role.ASSISTANT
            case "system":
                in_array.extend(_system_blocks(content, where, "in_array", len(turns), index))
                continue
            case _:
                raise WireError(f"messages[{index}].role", "must be user, assistant or system")
        blocks = decode_content(content, where)
        turns.append(Turn(role, blocks, index, _extras(item, _READ_OF_MESSAGE)))
    return tuple(turns), tuple(in_array)


def _extras(node: Node, read: frozenset[str]) -> tuple[tuple[str, bytes], ...]:
    """Return the members of an object that are not read."""
    if node.members.keys() <= read:
        return ()
    return tuple((each.key, each.raw) for each in node.items if each.key not in read)


def _tools(node: Node | None) -> tuple[Tool, ...]:
    if node is None or node.value is None:
        return ()
    if not isinstance(node.value, list):
        raise WireError("tools", "must be an array")
    return tuple(_tool(item, f"tools[{i}]") for i, item in enumerate(node.items))


def _tool(node: Node, path: str) -> Tool:
    if not isinstance(node.value, dict):
        raise WireError(path, "must be an object")
    kind = node.value.get("type")
    if isinstance(kind, str) and kind != "custom":
        return Tool("server", text(node.value.get("name")) or kind, raw=node.raw)
    name = node.value.get("name")
    if not isinstance(name, str) or not name:
        raise WireError(f"{path}.name", "must be a text that is not empty")
    schema = node.members.get("input_schema")
    strict = node.value.get("strict")
    return Tool(
        kind="function",
        name=name,
        description=text(node.value.get("description")),
        schema=schema.raw if schema and isinstance(schema.value, dict) else b"{}",
        strict=strict if isinstance(strict, bool) else None,
        cache=cache_mark(node),
        raw=node.raw,
    )


def _tool_choice(value: object) -> ToolChoice:
    if value is None:
        return ToolChoice()
    choice = mapping(value)
    kind = text(choice.get("type"))
    disabled = choice.get("disable_parallel_tool_use")
    parallel = None if not isinstance(disabled, bool) else not disabled
    if kind == "tool":
        return ToolChoice("named", text(choice.get("name")), parallel=parallel)
    return ToolChoice(_CHOICES.get(kind, "unrecognised"), parallel=parallel)


def _limits(document: Document) -> Limits:
    """Return the limits; an output limit that is no count says nothing."""
    stops = rows(document.value("stop_sequences"))
    return Limits(
        max_output_tokens=count(document.value("max_tokens")),
        stop=tuple(stop for stop in stops if isinstance(stop, str)),
    )


def _sampling(document: Document) -> Sampling:
    return Sampling(
        temperature=_number(document.value("temperature")),
        top_p=_number(document.value("top_p")),
        top_k=count(document.value("top_k")),
    )


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < 1e9 else None


def _reasoning(thinking: Mapping[str, object], config: Mapping[str, object]) -> Reasoning:
    kind = thinking.get("type")
    level = text(config.get("effort"))
    budget = count(thinking.get("budget_tokens"))
    if kind == "disabled":
        return Reasoning("off")
    if kind == "enabled" and budget:
        return Reasoning("budget", budget_tokens=budget)
    if level:
        return Reasoning("off") if level == "none" else Reasoning("level", level=level)
    return Reasoning("auto") if kind in ("adaptive", "enabled") else Reasoning()


def _output(config: Node | None) -> OutputFormat:
    form = config.members.get("format") if config else None
    if form is None or not isinstance(form.value, dict) or form.value.get("type") != "json_schema":
        return OutputFormat()
    schema = form.members.get("schema")
    return OutputFormat("json_schema", schema=schema.raw if schema else b"{}")
