"""The fast tier: where it may be asked for, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.sse import FrameSplitter
from services.domain.vocab import CredentialKind, WireFamily
from services.domain.wire.reading import dump, mapping, peek, text
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
_FAST_WORDS = ("fast", "priority")


class ServedTier:
    """Reads from an answer whether the fast tier that was asked for served; mutable.

    Vendors tell when they served on the plain one after all, at its price. Only the place where
    they tell it counts: answers also hold what the client and the model said.
    """

    def __init__(self, family: WireFamily, *, is_stream: bool) -> None:
        """Read answers of a dialect."""
        self._member = _MEMBERS[family][0]
        self._clue = dump(self._member)
        self._is_usages = family is WireFamily.ANTHROPIC
        self._splitter = FrameSplitter() if is_stream else None
        self.is_fast = True
        """As far as was read; until anything is told what was asked for counts."""

    def saw(self, data: bytes) -> None:
        """Take the next bytes of a stream, cut wherever they are, or a whole body."""
        if self._splitter is None:
            self._read(data)
            return
        for frame in self._splitter.feed(data):
            self._read(frame.data)

    def _read(self, value: bytes) -> None:
        if self._clue not in value:
            return
        event = mapping(peek(value))
        answer = mapping(event.get("message")) or mapping(event.get("response")) or event
        holder = mapping(answer.get("usage")) if self._is_usages else answer
        told = text(holder.get(self._member))
        if told:
            self.is_fast = told in _FAST_WORDS


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
