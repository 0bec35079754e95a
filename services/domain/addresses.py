"""Addresses of HTTP servers, as people write them."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

PLAIN_ADDRESS = "must be an http:// or https:// address without user, query and fragment"
ADDRESS = "must be an http:// or https:// address"
_NO_ADDRESS = re.compile(r"[\s\x00-\x1f\x7f]")


def is_http(text: str) -> bool:
    """Return whether a text is an address."""
    return _parts(text) is not None


def is_plain_http(text: str) -> bool:
    """Return whether a text is an address that paths can be added to and that may be shown."""
    parts = _parts(text)
    return parts is not None and not ("@" in parts.netloc or parts.query or parts.fragment)


def _parts(text: str) -> SplitResult | None:
    if _NO_ADDRESS.search(text):
        return None
    try:
        parts = urlsplit(text)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if is_good else None
