"""What kind of image base64 data is, where nobody says."""

from __future__ import annotations

_SIGNATURES = (
    ("iVBORw0KGgo", "image/png"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
)


def image_type(data: str) -> str:
    """Return the media type that the first bytes of base64 data tell; JPEG for all others."""
    return next((kind for head, kind in _SIGNATURES if data.startswith(head)), "image/jpeg")
