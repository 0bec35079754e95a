"""Media as base64: what kind an image is where nobody says, and data written as a URL."""

from __future__ import annotations

import re

_DATA_URL = re.compile(r"data:([^;,]*)((?:;[^;,]*)*?);base64,", re.IGNORECASE)
_SIGNATURES = (
    ("iVBOR", "image/png"),
    ("R0lG", "image/gif"),
    ("UklG", "image/webp"),
)


def image_type(data: str) -> str:
    """Return the media type that the first bytes of base64 data tell; JPEG for all others."""
    return next((kind for head, kind in _SIGNATURES if data.startswith(head)), "image/jpeg")


def split_url(url: str) -> tuple[str, str, str]:
    """Return media type, base64 data and URL: the first two of a data URL, the last of others."""
    match = _DATA_URL.match(url[:256])
    return (match[1].lower(), url[match.end() :], "") if match else ("", "", url)
