"""What the sandbox needs to know of a request, read from either dialect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

Json = Mapping[str, object]

CACHE_MARK = "cache_control"


@dataclass(frozen=True, slots=True)
class Segment:
    """One piece of the prompt, in the order in which a prompt cache sees it."""

    content: bytes
    is_breakpoint: bool = False
    """Whether the caller asked to cache the prompt up to here."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request."""

    model: str
    is_stream: bool
    text: str
    """What the person said last; empty after a tool result."""
    segments: tuple[Segment, ...]
    tools: Mapping[str, Json] = field(default_factory=dict)
    """Schemas of the offered tools' arguments, by name."""
    forced_tool: str = ""
    result_sizes: tuple[int, ...] = ()
    """Characters of the tool results that the request ends with."""
    schema: Json | None = None
    """What the answer must look like; None: free text."""
    max_output_tokens: int | None = None
    is_usage_wanted: bool = True


def read_messages(body: Json) -> Prompt:
    """Return the prompt of a Messages request."""
    tools = {_text(tool, "name"): _table(tool, "input_schema") for tool in _tables(body, "tools")}
    tail = _tail(_tables(body, "messages"))
    blocks = [block for message in tail for block in _blocks(message.get("content"))]
    results = [block for block in blocks if block.get("type") == "tool_result"]
    output = _table(body, "output_config")
    shape = _table(output, "format") or _table(body, "output_format")
    return Prompt(
        model=_text(body, "model"),
        is_stream=body.get("stream") is True,
        text="" if results else _joined(blocks),
        segments=tuple(
            _segment(part)
            for part in (
                *_tables(body, "tools"),
                *_blocks(body.get("system")),
                *_tables(body, "messages"),
            )
        ),
        tools=tools,
        forced_tool=_forced(_table(body, "tool_choice"), tools, ("any",)),
        result_sizes=tuple(len(_joined(_blocks(block.get("content")))) for block in results),
        schema=_table(shape, "schema") or None,
        max_output_tokens=_whole(body, "max_tokens"),
    )


def read_chat(body: Json) -> Prompt:
    """Return the prompt of a Chat Completions request."""
    functions = [_table(tool, "function") for tool in _tables(body, "tools")]
    tools = {_text(function, "name"): _table(function, "parameters") for function in functions}
    messages = _tables(body, "messages")
    tail = _tail(messages)
    results = [message for message in tail if message.get("role") == "tool"]
    shape = _table(body, "response_format")
    is_json = shape.get("type") in ("json_schema", "json_object")
    choice = body.get("tool_choice")
    named: Json = _table(choice, "function") if isinstance(choice, Mapping) else {"type": choice}
    return Prompt(
        model=_text(body, "model"),
        is_stream=body.get("stream") is True,
        text="" if results else _joined([b for m in tail for b in _blocks(m.get("content"))]),
        segments=tuple(_segment(part) for part in (*_tables(body, "tools"), *messages)),
        tools=tools,
        forced_tool=_forced(named, tools, ("required",)),
        result_sizes=tuple(len(_joined(_blocks(m.get("content")))) for m in results),
        schema=_table(_table(shape, "json_schema"), "schema") if is_json else None,
        max_output_tokens=_whole(body, "max_completion_tokens") or _whole(body, "max_tokens"),
        is_usage_wanted=_table(body, "stream_options").get("include_usage") is True,
    )


def _tail(messages: Sequence[Json]) -> list[Json]:
    """Return the messages that the model is to answer: those after its own last one."""
    tail: list[Json] = []
    for message in reversed(messages):
        if message.get("role") == "assistant":
            break
        if message.get("role") not in ("system", "developer"):
            tail.insert(0, message)
    return tail


def _forced(choice: Json, tools: Mapping[str, Json], any_names: tuple[str, ...]) -> str:
    name = _text(choice, "name")
    if name in tools:
        return name
    return next(iter(tools), "") if choice.get("type") in any_names else ""


def _segment(part: Json) -> Segment:
    return Segment(
        orjson.dumps(_unmarked(part), option=orjson.OPT_SORT_KEYS),
        is_breakpoint=any(CACHE_MARK in block for block in (part, *_blocks(part.get("content")))),
    )


def _unmarked(value: object) -> object:
    # Breakpoints move from request to request, and a text that stands alone is written as such
    # where it carries none; what is cached does not change by that.
    match value:
        case dict():
            return {key: _unmarked(child) for key, child in value.items() if key != CACHE_MARK}
        case [{"type": "text", "text": str(words), **more}] if more.keys() <= {CACHE_MARK}:
            return words
        case list():
            return [_unmarked(child) for child in value]
    return value


def _joined(blocks: Sequence[Json]) -> str:
    return "\n".join(text for block in blocks if (text := _text(block, "text")))


def _blocks(content: object) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(_only_tables(content))


def _tables(body: Json, key: str) -> list[Json]:
    return list(_only_tables(body.get(key)))


def _only_tables(value: object) -> Iterator[Json]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def _table(body: Json, key: str) -> Json:
    value = body.get(key)
    return value if isinstance(value, dict) else {}


def _text(body: Json, key: str) -> str:
    value = body.get(key)
    return value if isinstance(value, str) else ""


def _whole(body: Json, key: str) -> int | None:
    value = body.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
