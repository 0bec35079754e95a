"""Images and documents of another dialect as Messages blocks."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

import orjson

from services.domain.wire.images import image_type
from services.domain.wire.model import TransformAction, UnbuildableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.domain.wire.model import Media


def encode_media(
    media: Media, path: str, note: Callable[[str, TransformAction, str], None]
) -> dict[str, object]:
    """Return the block of an image or a document; ``note`` records what is lost.

    Raises:
        UnbuildableError: the dialect has no audio and no video, and a file that is stored at
            another vendor cannot be read here.
    """
    if media.kind in ("audio", "video"):
        raise UnbuildableError(path, f"{media.kind} has no form in the Messages dialect")
    if media.file_id:
        raise UnbuildableError(path, "a file stored at another vendor cannot be sent here")
    if media.detail:
        note("image_detail_dropped", TransformAction.DROPPED, path)
    block: dict[str, object] = {"type": media.kind, "source": _source(media, path)}
    title = media.title or media.filename
    if media.kind == "document" and title:
        block["title"] = title
    if media.cache is not None:
        block["cache_control"] = orjson.Fragment(media.cache.raw)
    return block


def _source(media: Media, path: str) -> dict[str, object]:
    if media.url:
        return {"type": "url", "url": media.url}
    if media.text:
        return {"type": "text", "media_type": "text/plain", "data": media.text}
    if not media.data:
        raise UnbuildableError(path, f"the {media.kind} is empty")
    if media.kind == "image":
        return {
            "type": "base64",
            "media_type": media.media_type or image_type(media.data),
            "data": media.data,
        }
    if media.media_type.startswith("text/"):
        return {"type": "text", "media_type": "text/plain", "data": _decoded(media, path)}
    kind = media.media_type or "application/pdf"
    return {"type": "base64", "media_type": kind, "data": media.data}


def _decoded(media: Media, path: str) -> str:
    try:
        return base64.b64decode(media.data, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        raise UnbuildableError(path, "the document is no base64") from None
