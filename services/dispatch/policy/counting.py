"""What a provider of each dialect is asked for a count of tokens, and what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.reading import count, dump, mapping, peek
from services.domain.wire.scanner import scan

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from services.domain.wire.scanner import Node

_COUNTED: Mapping[WireFamily, Collection[str]] = {
    WireFamily.ANTHROPIC: frozenset(
        {"messages", "model", "system", "thinking", "tool_choice", "tools"}
    ),
    WireFamily.OPENAI_RESPONSES: frozenset(
        {"input", "instructions", "model", "reasoning", "text", "tool_choice", "tools"}
    ),
}
"""What is accepted in a question for a count; Gemini takes a whole request."""

COUNTING = frozenset({*_COUNTED, WireFamily.GEMINI})
"""Dialects whose providers count; a Chat Completions provider has no such call."""


def question(family: WireFamily, body: bytes, upstream_id: str) -> bytes:
    """Return the question for a count of the body built for a model; members keep their bytes."""
    members = scan(body, {}).root.items
    if family is WireFamily.GEMINI:
        named = b'"model":' + dump(f"models/{upstream_id.removeprefix('models/')}")
        kept = [node for node in members if node.key != "model"]
        return b'{"generateContentRequest":{' + b",".join([named, *map(_member, kept)]) + b"}}"
    counted = _COUNTED.get(family, ())
    return b"{" + b",".join(_member(node) for node in members if node.key in counted) + b"}"


def tokens_of(answer: bytes) -> int | None:
    """Return the tokens of a count in any dialect; None when the answer holds none."""
    told = mapping(peek(answer))
    tokens = count(told.get("input_tokens"))
    return count(told.get("totalTokens")) if tokens is None else tokens


def _member(node: Node) -> bytes:
    return dump(node.key) + b":" + node.raw
