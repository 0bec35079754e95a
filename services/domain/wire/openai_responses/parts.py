"""Content of messages and of tool outputs as blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.content import audio, blocks_of_content, filled, required
from services.domain.wire.images import split_url
from services.domain.wire.model import Media, Opaque, Refusal, Text, WireError
from services.domain.wire.reading import text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Block
    from services.domain.wire.scanner import Node

FAMILY = WireFamily.OPENAI_RESPONSES
_TEXTS = frozenset(["input_text", "output_text", "text", "summary_text", "reasoning_text"])


def content_blocks(node: Node | None, path: str) -> tuple[Block, ...]:
    """Return the blocks of a ``content`` or ``output`` member.

    Raises:
        WireError: the content is of another type, or a known part lacks what makes it one.
    """
    return blocks_of_content(node, path, _part)


def _part(node: Node, path: str) -> Block:
    part = node.value
    if not isinstance(part, dict):
        raise WireError(path, "must be an object")
    kind = text(part.get("type"))
    if kind in _TEXTS:
        return Text(required(part, "text", path), raw=node.raw)
    if kind == "refusal":
        return Refusal(required(part, "refusal", path))
    if kind == "input_image":
        return _image(node, part, path)
    if kind == "input_file":
        return _file(node, part, path)
    if kind == "input_audio":
        return audio(node, path)
    return Opaque(FAMILY, kind, node.raw)


def _image(node: Node, part: Mapping[str, object], path: str) -> Media:
    file_id, source = text(part.get("file_id")), text(part.get("image_url"))
    if not file_id and not source:
        raise WireError(path, "must have image_url or file_id")
    media_type, data, url = split_url(source)
    media = Media(
        "image",
        media_type=media_type,
        data=data,
        url=url,
        file_id=file_id,
        detail=text(part.get("detail")),
        raw=node.raw,
    )
    return filled(media, f"{path}.image_url")


def _file(node: Node, part: Mapping[str, object], path: str) -> Media:
    file_id, content = text(part.get("file_id")), text(part.get("file_data"))
    file_url = text(part.get("file_url"))
    if not file_id and not content and not file_url:
        raise WireError(path, "must have file_data, file_url or file_id")
    media_type, data, plain = split_url(content)
    media = Media(
        "document",
        media_type="application/pdf" if plain else media_type,
        data=plain or data,
        url=file_url,
        file_id=file_id,
        filename=text(part.get("filename")),
        raw=node.raw,
    )
    return filled(media, f"{path}.file_data")
