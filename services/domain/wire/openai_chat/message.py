"""What a message or a delta of this dialect holds besides tool calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.reading import mapping, rows, text

if TYPE_CHECKING:
    from collections.abc import Mapping


def reasoning_of(message: Mapping[str, object]) -> str:
    """Return the reasoning text: ``reasoning_content``, else ``reasoning``, else its details."""
    for key in ("reasoning_content", "reasoning"):
        found = text(message.get(key))
        if found:
            return found
    details = (mapping(row) for row in rows(message.get("reasoning_details")))
    return "".join(text(row.get("text")) for row in details)


def content_of(message: Mapping[str, object]) -> str:
    """Return the visible text, whether it is a string or a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(text(mapping(part).get("text")) for part in rows(content))


def refusal_of(message: Mapping[str, object]) -> str:
    """Return the refusal text; empty when there is none."""
    found = text(message.get("refusal"))
    if found:
        return found
    return "".join(text(mapping(part).get("refusal")) for part in rows(message.get("content")))
