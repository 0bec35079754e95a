"""Bodies of requests that were scanned a moment ago: an action reads its own up to three times.

The gateway reads it in the same process, dispatch to know it, and dispatch again to splice it,
mostly within one turn of the loop. Documents are never written to, so that readers can share one.
Few are kept, and none is kept that was spliced.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from services.domain.wire.scanner import scan

if TYPE_CHECKING:
    from services.domain.wire.scanner import Document, Plan

MOST_BODIES = 16
MOST_BYTES = 1 << 20
"""Bytes of all bodies that are kept; a larger one is scanned anew each time."""

_kept: OrderedDict[tuple[int, bytes], tuple[Plan, Document]] = OrderedDict()
"""By plan and body; the plan is kept so that its identity is nobody else's."""


def scan_request(body: bytes, plan: Plan, *, is_last: bool = False) -> Document:
    """Return the document of a request's body; ``is_last``: nobody reads it after this.

    ``plan`` is a constant of its module.

    Raises:
        WireError: the body is not UTF-8, not JSON, not one object, or nested too deeply.
    """
    key = (id(plan), body)
    found = _kept.pop(key, None)
    document = scan(body, plan) if found is None else found[1]
    if not is_last and len(body) <= MOST_BYTES:
        _kept[key] = (plan, document)
        _forget_oldest()
    return document


def _forget_oldest() -> None:
    while len(_kept) > MOST_BODIES or sum(len(body) for _, body in _kept) > MOST_BYTES:
        _kept.popitem(last=False)
