"""Content of a client's message as blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.content import audio, blocks_of_content, cache_mark, filled, required
from services.domain.wire.images import split_url
from services.domain.wire.model import Media, Opaque, Refusal, Text, WireError
from services.domain.wire.reading import mapping, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Block
    from services.domain.wire.scanner import Node


def content_blocks(node: Node | None, path: str) -> tuple[Block, ...]:
    """Return the blocks of a ``content`` member.

    Raises:
        WireError: the content is of another type, or a known part lacks what makes it one.
    """
    return blocks_of_content(node, path, _part)


def _part(node: Node, path: str) -> Block:
    part = node.value
    if isinstance(part, str):
        return Text(part)
    if not isinstance(part, dict):
        raise WireError(path, "must be an object")
    kind = text(part.get("type"))
    if kind in ("text", "input_text", "output_text"):
        return Text(required(part, "text", path), cache_mark(node), node.raw)
    if kind == "refusal":
        return Refusal(required(part, "refusal", path))
    if kind == "image_url":
        return _image(node, part, path)
    if kind == "input_audio":
        return audio(node, path)
    if kind == "file":
        return _file(node, mapping(part.get("file")), path)
    return Opaque(WireFamily.OPENAI_CHAT, kind, node.raw, cache=cache_mark(node))


def _image(node: Node, part: Mapping[str, object], path: str) -> Media:
    image = part.get("image_url")
    members = {"url": image} if isinstance(image, str) else mapping(image)
    media_type, data, url = split_url(required(members, "url", f"{path}.image_url"))
    media = Media(
        "image",
        media_type=media_type,
        data=data,
        url=url,
        detail=text(members.get("detail")),
        cache=cache_mark(node),
        raw=node.raw,
    )
    return filled(media, f"{path}.image_url.url")


def _file(node: Node, file: Mapping[str, object], path: str) -> Media:
    file_id, content = text(file.get("file_id")), text(file.get("file_data"))
    if not file_id and not content:
        raise WireError(f"{path}.file", "must have file_data or file_id")
    media_type, data, url = split_url(content)
    is_plain_base64 = bool(url) and "://" not in url
    media = Media(
        "document",
        media_type="application/pdf" if is_plain_base64 else media_type,
        data=url if is_plain_base64 else data,
        url="" if is_plain_base64 else url,
        file_id=file_id,
        filename=text(file.get("filename")),
        cache=cache_mark(node),
        raw=node.raw,
    )
    return filled(media, f"{path}.file.file_data")
