"""What the sandbox needs to know of a request, and how JSON of any shape is read for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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


def is_said_by_model(message: Json) -> bool:
    """Return whether a message is the model's own, where roles tell it."""
    return message.get("role") in ("assistant", "model")


def tail_of(
    messages: Sequence[Json], is_own: Callable[[Json], bool] = is_said_by_model
) -> list[Json]:
    """Return the messages that the model is to answer: those after its own last one."""
    tail: list[Json] = []
    for message in reversed(messages):
        if is_own(message):
            break
        if message.get("role") not in ("system", "developer"):
            tail.insert(0, message)
    return tail


def forced(choice: Json, tools: Mapping[str, Json], any_names: tuple[str, ...]) -> str:
    """Return the tool that must be called: the named one, or any; empty: none must."""
    name = text_of(choice, "name")
    if name in tools:
        return name
    return next(iter(tools), "") if choice.get("type") in any_names else ""


def segment_of(part: Json) -> Segment:
    """Return a part of the prompt as a prompt cache sees it."""
    return Segment(
        orjson.dumps(_unmarked(part), option=orjson.OPT_SORT_KEYS),
        is_breakpoint=any(CACHE_MARK in block for block in (part, *blocks_of(part.get("content")))),
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


def joined(blocks: Sequence[Json]) -> str:
    """Return the texts of blocks, one a line."""
    return "\n".join(text for block in blocks if (text := text_of(block, "text")))


def blocks_of(content: object) -> list[Json]:
    """Return the blocks of a message's content; a bare text is one."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(_only_tables(content))


def tables(body: Json, key: str) -> list[Json]:
    """Return the objects in a list."""
    return list(_only_tables(body.get(key)))


def _only_tables(value: object) -> Iterator[Json]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def table(body: Json, key: str) -> Json:
    """Return a member that is an object; else an empty one."""
    value = body.get(key)
    return value if isinstance(value, dict) else {}


def text_of(body: Json, key: str) -> str:
    """Return a member that is a text; else an empty one."""
    value = body.get(key)
    return value if isinstance(value, str) else ""


def whole_of(body: Json, key: str) -> int | None:
    """Return a member that is a whole number."""
    value = body.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
