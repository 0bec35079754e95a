"""The fast tier: where it may be asked for, and how."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from services.domain.vocab import CredentialKind, WireFamily
from services.domain.wire.scanner import scan

if TYPE_CHECKING:
    from services.domain.catalog import Binding

FAST_BETA = "fast-mode-2026-02-01"
"""What a Messages request for the fast tier must say besides."""

_MEMBERS = {
    WireFamily.ANTHROPIC: ("speed", '"fast"'),
    WireFamily.OPENAI_CHAT: ("service_tier", '"priority"'),
    WireFamily.OPENAI_RESPONSES: ("service_tier", '"priority"'),
}
_TOLD = re.compile(rb'"(?:service_tier|speed)"\s*:\s*"([a-z_]+)"')
_LONGEST_TOLD_BYTES = 64
_FAST_WORDS = (b"fast", b"priority")


class ServedTier:
    """Reads from an answer's bytes whether the fast tier that was asked for served; mutable.

    Vendors tell when they served on the plain one after all, at its price. What stands in texts is
    escaped, and so is no word of theirs.
    """

    def __init__(self) -> None:
        self._tail = b""
        self.is_fast = True
        """As far as was read; until anything is told what was asked for counts."""

    def saw(self, data: bytes) -> None:
        """Take the next bytes of the answer, cut wherever they are."""
        read = self._tail + data
        self._tail = read[-_LONGEST_TOLD_BYTES:]
        told = _TOLD.findall(read)
        if told:
            self.is_fast = told[-1] in _FAST_WORDS


def is_fast(row: Binding | None, kind: CredentialKind, *, is_vendor: bool) -> bool:
    """Return whether a binding has a fast tier that a credential of ``kind`` may use.

    Only the vendors have one; plans and a tenant's gateways do not pay for it.
    """
    has_price = row is not None and row.price.fast is not None
    return has_price and is_vendor and kind is CredentialKind.API_KEY


def with_fast(body: bytes, family: WireFamily) -> bytes | None:
    """Return a body that asks for the fast tier; None: its client chose a tier, or it has none."""
    member = _MEMBERS.get(family)
    if member is None:
        return None
    document = scan(body, {})
    if document.member(member[0]) is not None:
        return None
    return document.splice([document.root.with_member(*member)])
