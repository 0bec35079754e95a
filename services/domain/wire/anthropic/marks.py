"""Cache breakpoints of a Messages body: how many, of which kind, in which order, and added ones.

Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.anthropic.request import PLAN
from services.domain.wire.model import (
    EncodedRequest,
    Refusal,
    Thinking,
    ToolResult,
    Transform,
    TransformAction,
    WireError,
)
from services.domain.wire.reading import load, mapping, text
from services.domain.wire.scanner import scan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.domain.wire.model import Block, CacheMark, Request
    from services.domain.wire.scanner import Document, Edit, Node

MAX_MARKS = 4
"""Breakpoints that one request may have."""

_MARK = '{"type":"ephemeral"}'
_TTLS = (None, "5m", "1h")
_UNMARKED = frozenset(["thinking", "redacted_thinking"])
"""Kinds of blocks that can hold no breakpoint."""


def check_marks(request: Request) -> None:
    """Return when the breakpoints of a foreign request are such as the dialect takes.

    Raises:
        WireError: there are too many, one is of a kind that is not known, or a long-lived one
            comes after a short-lived one.
    """
    is_short_seen = False
    for count, (path, mark) in enumerate(_marks(request), 1):
        if count > MAX_MARKS:
            raise WireError(path, f"more than {MAX_MARKS} cache breakpoints: remove some")
        told = mapping(load(mark.raw))
        if told.get("type") != "ephemeral":
            raise WireError(f"{path}.cache_control.type", 'must be "ephemeral"')
        if told.get("ttl") not in _TTLS:
            raise WireError(f"{path}.cache_control.ttl", 'must be "5m" or "1h"')
        if mark.ttl == "1h" and is_short_seen:
            raise WireError(f"{path}.cache_control.ttl", 'a "1h" breakpoint must precede all "5m"')
        is_short_seen = is_short_seen or mark.ttl != "1h"


def _marks(request: Request) -> Iterator[tuple[str, CacheMark]]:
    """Yield the breakpoints in the order of the prompt, each with its place."""
    for at, tool in enumerate(request.tools):
        if tool.cache is not None:
            yield f"tools[{at}]", tool.cache
    for block in request.system:
        if block.cache is not None:
            yield "system", block.cache
    for turn in request.turns:
        for mark in _of_blocks(turn.blocks):
            yield f"messages[{turn.origin_index}]", mark


def _of_blocks(blocks: tuple[Block, ...]) -> Iterator[CacheMark]:
    for block in blocks:
        if isinstance(block, ToolResult):
            yield from _of_blocks(block.blocks)
        if not isinstance(block, Thinking | Refusal) and block.cache is not None:
            yield block.cache


def with_added_marks(encoded: EncodedRequest) -> EncodedRequest:
    """Return a body with breakpoints after its instructions and after its last message.

    They go into spare room only, and none goes where a long-lived one would follow it.
    """
    document = scan(encoded.body, PLAN)
    later = list(_of_messages(document))
    spare = MAX_MARKS - len(later) - len(list(_of_head(document)))
    if "cache_control" in document.root.members:
        spare -= 1
    edits: list[Edit] = []
    transforms = list(encoded.transforms)
    for path, node in _wanted_places(document, later):
        edit = _marking(node) if spare > len(edits) else None
        if edit is not None:
            edits.append(edit)
            transforms.append(Transform("cache_mark", TransformAction.SYNTHESISED, path))
    return EncodedRequest(document.splice(edits), tuple(transforms))


def _wanted_places(document: Document, later: list[Node]) -> Iterator[tuple[str, Node]]:
    end = _last(document.member("system"))
    if end is not None and not any(mapping(mark.value).get("ttl") == "1h" for mark in later):
        yield "system", end
    messages = document.member("messages")
    last = messages.items[-1] if messages is not None and messages.items else None
    end = _last(last.members.get("content")) if last is not None else None
    if end is not None and "cache_control" not in document.root.members:
        yield "messages", end


def _last(content: Node | None) -> Node | None:
    """Return what the breakpoint behind ``content`` stands on: a string, or the last block."""
    if content is None or isinstance(content.value, str):
        return content
    return content.items[-1] if content.items else None


def _marking(node: Node) -> Edit | None:
    """Return the edit that puts a breakpoint on a block or a bare text; None: it cannot stand."""
    if isinstance(node.value, str):
        if not node.value.strip():
            return None
        return node.replaced_by(f'[{{"type":"text","text":{node.source},"cache_control":{_MARK}}}]')
    told = mapping(node.value)
    is_blank = told.get("type") == "text" and not text(told.get("text")).strip()
    if not told or is_blank or told.get("type") in _UNMARKED or "cache_control" in told:
        return None
    return node.with_member("cache_control", _MARK)


def _of_head(document: Document) -> Iterator[Node]:
    """Yield the breakpoints of tools and instructions, which come first in a prompt."""
    for key in ("tools", "system"):
        node = document.member(key)
        for item in node.items if node is not None else ():
            yield from _own_mark(item)


def _of_messages(document: Document) -> Iterator[Node]:
    """Yield the breakpoints of messages, nested ones too."""
    messages = document.member("messages")
    for message in messages.items if messages is not None else ():
        content = message.members.get("content")
        for block in content.items if content is not None else ():
            inner = block.members.get("content")
            for nested in inner.items if inner is not None else ():
                yield from _own_mark(nested)
            yield from _own_mark(block)


def _own_mark(node: Node) -> Iterator[Node]:
    mark = node.members.get("cache_control")
    if mark is not None and mark.value is not None:
        yield mark
