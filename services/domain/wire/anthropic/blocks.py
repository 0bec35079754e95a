"""Content blocks of the Messages dialect as canonical blocks; requests and answers share them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from services.domain.vocab import WireFamily
from services.domain.wire.content import cache_mark, filled, required
from services.domain.wire.model import (
    Block,
    Media,
    Opaque,
    ProviderState,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    WireError,
)
from services.domain.wire.reading import dump, mapping, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from services.domain.wire.scanner import Node

FAMILY = WireFamily.ANTHROPIC
_MEMBERS = {"base64": "data", "url": "url", "file": "file_id"}
"""Where media of these forms stand; others may come without anything that we know."""


def decode_content(node: Node | None, path: str) -> tuple[Block, ...]:
    """Return the blocks of a ``content`` member, be it a string or an array.

    A string gives one text whose ``raw`` begins with a quote. Absent and null give no block.

    Raises:
        WireError: the content is something else, or a known block lacks what makes it readable.
    """
    if node is None or node.value is None:
        return ()
    if isinstance(node.value, str):
        return (Text(node.value, raw=node.raw),)
    if not isinstance(node.value, list):
        raise WireError(path, "must be a string or an array of blocks")
    return tuple(decode_block(item, f"{path}[{i}]") for i, item in enumerate(node.items))


def decode_block(node: Node, path: str) -> Block:
    """Return the canonical form of one block; unknown kinds become opaque.

    Raises:
        WireError: it is no object, has no ``type``, or lacks what its kind needs.
    """
    if isinstance(node.value, str):
        return Text(node.value, raw=node.raw)
    if not isinstance(node.value, dict):
        raise WireError(path, "must be an object")
    kind = node.value.get("type")
    if not isinstance(kind, str) or not kind:
        raise WireError(f"{path}.type", "must be a text that is not empty")
    decoder = _DECODERS.get(kind)
    if decoder is None:
        rendering = text(node.value.get("text"))
        return Opaque(FAMILY, kind, node.raw, rendering, cache_mark(node))
    return decoder(node, node.value, path)


def _text(node: Node, value: Mapping[str, object], path: str) -> Block:
    return Text(optional(value, "text", path), cache_mark(node), node.raw)


def optional(value: Mapping[str, object], key: str, path: str) -> str:
    """Return a member that is a string; absent and null are the empty one.

    Raises:
        WireError: it is something else.
    """
    return "" if value.get(key) is None else required(value, key, path)


def _image(node: Node, value: Mapping[str, object], path: str) -> Block:
    return _media("image", node, value, path)


def _document(node: Node, value: Mapping[str, object], path: str) -> Block:
    return _media("document", node, value, path)


def _media(
    kind: Literal["image", "document"], node: Node, value: Mapping[str, object], path: str
) -> Block:
    source = value.get("source")
    if not isinstance(source, dict):
        raise WireError(f"{path}.source", "must be an object")
    form = text(source.get("type"))
    inner = source.get("content")
    words = text(source.get("data")) if form == "text" else _words_of(inner)
    media = Media(
        kind=kind,
        media_type=text(source.get("media_type")),
        data=text(source.get("data")) if form == "base64" else "",
        url=text(source.get("url")) if form == "url" else "",
        text=words if form in ("text", "content") else "",
        file_id=text(source.get("file_id")) if form == "file" else "",
        title=text(value.get("title")),
        cache=cache_mark(node),
        raw=node.raw,
    )
    member = _MEMBERS.get(form)
    return media if member is None else filled(media, f"{path}.source.{member}")


def _words_of(content: object) -> str:
    if isinstance(content, str):
        return content
    rows = content if isinstance(content, list) else []
    return "\n".join(words for row in rows if (words := text(mapping(row).get("text"))))


def _thinking(node: Node, value: Mapping[str, object], path: str) -> Block:
    words = optional(value, "thinking", path)
    signature = text(value.get("signature"))
    state = (ProviderState(FAMILY, "signature", signature),) if signature else ()
    return Thinking(words, state, node.raw)


def _redacted(node: Node, value: Mapping[str, object], path: str) -> Block:
    payload = optional(value, "data", path)
    return Thinking("", (ProviderState(FAMILY, "redacted", payload),), node.raw)


def _tool_use(node: Node, value: Mapping[str, object], path: str) -> Block:
    return ToolUse(
        call_id=required(value, "id", path),
        name=required(value, "name", path),
        arguments=_arguments(node.members.get("input")),
        cache=cache_mark(node),
        raw=node.raw,
    )


def _arguments(node: Node | None) -> bytes:
    """Return the arguments as JSON text; null, an empty string and absent are the empty object."""
    if node is None or node.value is None or node.value == "":
        return b"{}"
    if isinstance(node.value, str):
        return dump(node.value)
    return node.raw


def _tool_result(node: Node, value: Mapping[str, object], path: str) -> Block:
    return ToolResult(
        call_id=required(value, "tool_use_id", path),
        blocks=decode_content(node.members.get("content"), f"{path}.content"),
        is_error=value.get("is_error") is True,
        cache=cache_mark(node),
        raw=node.raw,
    )


_DECODERS: Mapping[str, Callable[[Node, Mapping[str, object], str], Block]] = {
    "text": _text,
    "image": _image,
    "document": _document,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
}
