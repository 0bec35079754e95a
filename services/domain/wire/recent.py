"""Bodies of requests that were read a moment ago: an action reads its own up to three times.

The gateway reads it in the same process, dispatch to know it, and dispatch again to splice it,
mostly within one turn of the loop. Documents are never written to and requests are frozen, so that
readers can share one. Few are kept, and no document is kept that was spliced.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

from services.domain.wire.scanner import scan

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.domain.vocab import WireFamily
    from services.domain.wire.model import Request
    from services.domain.wire.scanner import Document, Plan

MOST_BODIES = 16
MOST_BYTES = 1 << 20
"""Bytes of all bodies that are kept; a larger one is read anew each time."""

K = TypeVar("K")
V = TypeVar("V")


class _Recent(Generic[K, V]):
    """What the latest bodies were read to, each under a key that says how."""

    def __init__(self) -> None:
        self._rows: OrderedDict[tuple[K, bytes], V] = OrderedDict()
        self._size = 0

    def take(self, key: K, body: bytes) -> V | None:
        """Return and forget what is kept of a body."""
        value = self._rows.pop((key, body), None)
        if value is not None:
            self._size -= len(body)
        return value

    def keep(self, key: K, body: bytes, value: V) -> None:
        """Keep what a body was read to, as the latest; it is not kept yet."""
        if len(body) > MOST_BYTES:
            return
        self._rows[key, body] = value
        self._size += len(body)
        while len(self._rows) > MOST_BODIES or self._size > MOST_BYTES:
            (_, oldest), _ = self._rows.popitem(last=False)
            self._size -= len(oldest)


_documents: _Recent[int, tuple[Plan, Document]] = _Recent()
"""By the plan's identity; the plan is kept with it, so that this is nobody else's."""
_requests: _Recent[WireFamily, Request] = _Recent()


def scan_request(body: bytes, plan: Plan, *, is_last: bool = False) -> Document:
    """Return the document of a request's body; ``is_last``: nobody reads it after this.

    ``plan`` is a constant of its module.

    Raises:
        WireError: the body is not UTF-8, not JSON, not one object, or nested too deeply.
    """
    found = _documents.take(id(plan), body)
    document = scan(body, plan) if found is None else found[1]
    if not is_last:
        _documents.keep(id(plan), body, (plan, document))
    return document


def decoded_request(body: bytes, family: WireFamily, decode: Callable[[bytes], Request]) -> Request:
    """Return a body as ``decode``, the decoder of its family, reads it.

    Raises:
        WireError: what ``decode`` raises.
    """
    request = _requests.take(family, body) or decode(body)
    _requests.keep(family, body, request)
    return request
