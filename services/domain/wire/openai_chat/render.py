"""Blocks as parts of chat messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.vocab import WireFamily
from services.domain.wire.content import AUDIO_FORMATS, result_text
from services.domain.wire.images import image_type
from services.domain.wire.model import (
    Media,
    Opaque,
    Record,
    Refusal,
    Text,
    ToolResult,
    TransformAction,
    UnbuildableError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.model import Block


class Rendering(Record):
    """What one encoding needs everywhere: whose blocks these are, and the record of losses."""

    def __init__(self, *, is_native: bool) -> None:
        super().__init__()
        self.is_native = is_native
        """The request came in this dialect, so blocks may be sent as they were written."""


def user_parts(blocks: Sequence[Block], rendering: Rendering, path: str) -> list[object]:
    """Return the parts of a user message; blank texts are left out of foreign requests.

    Raises:
        UnbuildableError: a block cannot be expressed in this dialect.
    """
    parts: list[object] = []
    for block in blocks:
        part = _part(block, rendering, path)
        if part is not None:
            parts.append(part)
    return parts


def content_member(parts: list[object], blocks: Sequence[Block]) -> object:
    """Return a ``content`` value: a string for one plain text, else the list of parts."""
    if len(parts) == 1 and isinstance(parts[0], dict) and parts[0].get("type") == "text":
        return parts[0]["text"]
    if not parts and len(blocks) == 1 and isinstance(blocks[0], Text):
        return ""
    return parts


def _part(block: Block, rendering: Rendering, path: str) -> object | None:
    match block:
        case Text(text=text, raw=raw):
            if rendering.is_native and raw:
                return orjson.Fragment(raw)
            if not rendering.is_native and not text.strip():
                return None
            return {"type": "text", "text": text}
        case Media():
            if rendering.is_native and block.raw:
                return orjson.Fragment(block.raw)
            return _media(block, rendering, path)
        case Refusal(text):
            return {"type": "text", "text": text}
        case Opaque():
            return opaque_part(block, rendering, path)
        case ToolResult():
            return {"type": "text", "text": result_text(block, rendering)}
        case _:
            rendering.note("misplaced_block", TransformAction.DROPPED, path)
            return None


def opaque_part(block: Opaque, rendering: Rendering, path: str) -> object | None:
    """Return an unknown block as its own family wrote it, or as the text it stands for."""
    if block.family is WireFamily.OPENAI_CHAT:
        return orjson.Fragment(block.raw)
    if block.rendering:
        rendering.note("server_tool", TransformAction.PROJECTED, path)
        return {"type": "text", "text": block.rendering}
    rendering.note("opaque_block", TransformAction.DROPPED, path)
    return None


def _media(media: Media, rendering: Rendering, path: str) -> object:
    if media.file_id and not rendering.is_native:
        raise UnbuildableError(path, "a file stored at another vendor cannot be sent")
    if media.kind == "image":
        return _image(media, path)
    if media.kind == "document":
        return _document(media, path)
    if media.kind == "audio" and media.data:
        encoding = AUDIO_FORMATS.get(media.media_type)
        if encoding is not None or rendering.is_native:
            audio = {"data": media.data, "format": encoding or media.media_type.partition("/")[2]}
            return {"type": "input_audio", "input_audio": audio}
    raise UnbuildableError(path, f"{media.kind} of this form cannot be sent to a chat upstream")


def _image(media: Media, path: str) -> object:
    url = media.url
    if media.data:
        url = f"data:{media.media_type or image_type(media.data)};base64,{media.data}"
    if not url:
        raise UnbuildableError(path, "an image needs data or a URL")
    image = {"url": url, "detail": media.detail} if media.detail else {"url": url}
    return {"type": "image_url", "image_url": image}


def _document(media: Media, path: str) -> object:
    if media.text:
        return {"type": "text", "text": media.titled_text}
    if media.file_id:
        return {"type": "file", "file": {"file_id": media.file_id}}
    if not media.data:
        raise UnbuildableError(path, "a document by URL cannot be sent to a chat upstream")
    media_type = media.media_type or "application/pdf"
    name = media.filename or media.title or "document.pdf"
    content = f"data:{media_type};base64,{media.data}"
    return {"type": "file", "file": {"filename": name, "file_data": content}}


def is_result_attachment(block: Block) -> bool:
    """Whether a block of a result must travel in a user message behind the results."""
    return isinstance(block, Media) and not block.text
