"""Outputs of tools in a conversation: how many there are, and the oldest of them cleared.

Only the content of an output goes: ids, names, order and structure stay, so that every call keeps
its answer. What is shorter than the placeholder stays as it is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.reading import mapping, text
from services.domain.wire.scanner import scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from services.domain.wire.scanner import Document, Node, Plan

PLACEHOLDER = "[Output of a tool, cleared by the router to save room]"
"""What stands in the place of a cleared output."""

_PLANS: Mapping[WireFamily, Plan] = {
    WireFamily.ANTHROPIC: {"messages": {"*": {"content": {"*": {}}}}},
    WireFamily.OPENAI_CHAT: {"messages": {"*": {}}},
    WireFamily.OPENAI_RESPONSES: {"input": {"*": {}}},
    WireFamily.GEMINI: {"contents": {"*": {"parts": {"*": {"functionResponse": {}}}}}},
}
_ITEM_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})


class Results:
    """The outputs of tools in one body, found by one scan."""

    def __init__(self, family: WireFamily, body: bytes) -> None:
        """Read the body.

        Raises:
            WireError: it is not readable.
        """
        self._family = family
        self._body = body
        self._document = scan(body, _PLANS[family])
        self._spots = list(_spots(family, self._document))

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._spots)

    def cleared(self, count: int) -> bytes:
        """Return the body with its first ``count`` outputs cleared, all else byte for byte."""
        if count <= 0:
            return self._body
        is_gemini = self._family is WireFamily.GEMINI
        words = json.dumps({"result": PLACEHOLDER} if is_gemini else PLACEHOLDER)
        return self._document.splice(
            [
                spot.replaced_by(words)
                for spot in self._spots[:count]
                if spot is not None and spot.end - spot.start > len(words)
            ]
        )


def _spots(family: WireFamily, document: Document) -> Iterator[Node | None]:
    """Yield the content of every output in document order; None for one that has none."""
    (name,) = _PLANS[family]
    listed = document.member(name)
    for message in listed.items if listed is not None else ():
        yield from _SPOTS[family](message)


def _of_messages(message: Node) -> Iterator[Node | None]:
    content = message.members.get("content")
    for block in content.items if content is not None else ():
        if mapping(block.value).get("type") == "tool_result":
            yield block.members.get("content")


def _of_chat(message: Node) -> Iterator[Node | None]:
    if mapping(message.value).get("role") in ("tool", "function"):
        yield message.members.get("content")


def _of_responses(item: Node) -> Iterator[Node | None]:
    if text(mapping(item.value).get("type")) in _ITEM_OUTPUTS:
        yield item.members.get("output")


def _of_gemini(content: Node) -> Iterator[Node | None]:
    parts = content.members.get("parts")
    for part in parts.items if parts is not None else ():
        told = part.members.get("functionResponse")
        if told is not None:
            yield told.members.get("response")


_SPOTS: Mapping[WireFamily, Callable[[Node], Iterator[Node | None]]] = {
    WireFamily.ANTHROPIC: _of_messages,
    WireFamily.OPENAI_CHAT: _of_chat,
    WireFamily.OPENAI_RESPONSES: _of_responses,
    WireFamily.GEMINI: _of_gemini,
}
