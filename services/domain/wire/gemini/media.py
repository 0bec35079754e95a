"""Media of another dialect as parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.images import image_type
from services.domain.wire.model import UnbuildableError

if TYPE_CHECKING:
    from services.domain.wire.gemini.render import JsonPart
    from services.domain.wire.model import Media

_DEFAULT_TYPES = {"document": "application/pdf", "audio": "audio/wav", "video": "video/mp4"}


def media_part(media: Media, path: str) -> JsonPart:
    """Return the part of media; a document that is text is text.

    Raises:
        UnbuildableError: the media are not in the request but at an address or at a vendor.
    """
    if media.file_id:
        raise UnbuildableError(path, "a file stored at another vendor cannot be sent here")
    if media.text:
        return {"text": media.titled_text}
    if not media.data:
        raise UnbuildableError(path, f"{media.kind} by address cannot be sent here")
    kind = media.media_type or _DEFAULT_TYPES.get(media.kind) or image_type(media.data)
    return {"inlineData": {"mimeType": kind, "data": media.data}}
