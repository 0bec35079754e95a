"""Content of a client's message as blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.images import split_url
from services.domain.wire.model import CacheMark, Media, Opaque, Refusal, Text, WireError
from services.domain.wire.reading import mapping, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Block
    from services.domain.wire.scanner import Node

_AUDIO_TYPES = {"wav": "audio/wav", "mp3": "audio/mpeg"}


def content_blocks(node: Node | None, path: str) -> tuple[Block, ...]:
    """Return the blocks of a ``content`` member.

    Absent, null and an empty list hold no block; a string, the empty one too, is one text.

    Raises:
        WireError: the content is of another type, or a known part lacks what makes it one.
    """
    if node is None or node.value is None:
        return ()
    if isinstance(node.value, str):
        return (Text(node.value),)
    if not isinstance(node.value, list):
        raise WireError(path, "must be a string or a list of parts")
    return tuple(_part(item, f"{path}[{at}]") for at, item in enumerate(node.items))


def cache_mark(node: Node) -> CacheMark | None:
    """Return the cache breakpoint of a part, when it carries one."""
    mark = node.members.get("cache_control")
    if mark is None or not isinstance(mark.value, dict):
        return None
    return CacheMark(raw=mark.raw, ttl=text(mark.value.get("ttl")))


def _part(node: Node, path: str) -> Block:
    part = node.value
    if isinstance(part, str):
        return Text(part)
    if not isinstance(part, dict):
        raise WireError(path, "must be an object")
    kind = text(part.get("type"))
    if kind in ("text", "input_text", "output_text"):
        return Text(_required(part, "text", path), cache_mark(node), node.raw)
    if kind == "refusal":
        return Refusal(_required(part, "refusal", path))
    if kind == "image_url":
        return _image(node, part, path)
    if kind == "input_audio":
        audio = mapping(part.get("input_audio"))
        encoding = text(audio.get("format"))
        return Media(
            "audio",
            media_type=_AUDIO_TYPES.get(encoding, f"audio/{encoding or 'wav'}"),
            data=_required(audio, "data", f"{path}.input_audio"),
            cache=cache_mark(node),
            raw=node.raw,
        )
    if kind == "file":
        return _file(node, mapping(part.get("file")), path)
    return Opaque(WireFamily.OPENAI_CHAT, kind, node.raw, cache=cache_mark(node))


def _required(part: Mapping[str, object], key: str, path: str) -> str:
    value = part.get(key)
    if not isinstance(value, str):
        raise WireError(f"{path}.{key}", "must be a string")
    return value


def _image(node: Node, part: Mapping[str, object], path: str) -> Media:
    image = part.get("image_url")
    members = {"url": image} if isinstance(image, str) else mapping(image)
    media_type, data, url = split_url(_required(members, "url", f"{path}.image_url"))
    return Media(
        "image",
        media_type=media_type,
        data=data,
        url=url,
        detail=text(members.get("detail")),
        cache=cache_mark(node),
        raw=node.raw,
    )


def _file(node: Node, file: Mapping[str, object], path: str) -> Media:
    file_id, content = text(file.get("file_id")), text(file.get("file_data"))
    if not file_id and not content:
        raise WireError(f"{path}.file", "must have file_data or file_id")
    media_type, data, url = split_url(content)
    is_plain_base64 = bool(url) and "://" not in url
    return Media(
        "document",
        media_type="application/pdf" if is_plain_base64 else media_type,
        data=url if is_plain_base64 else data,
        url="" if is_plain_base64 else url,
        file_id=file_id,
        filename=text(file.get("filename")),
        cache=cache_mark(node),
        raw=node.raw,
    )
