"""A question for a number of tokens."""

from __future__ import annotations

from services.domain.wire.gemini.names import both, child
from services.domain.wire.scanner import scan

_PLAN = both({"generateContentRequest": {}})


def counted_body(body: bytes) -> bytes:
    """Return the request that is to be counted: one whole request inside the body, else the body.

    Raises:
        WireError: the body is no JSON object.

    Source: https://ai.google.dev/api/tokens
    """
    inner = child(scan(body, _PLAN).root, "generateContentRequest")
    return body if inner is None else inner.raw
