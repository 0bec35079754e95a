"""Blocks as words: cut to size, and fenced off so that nobody takes them for instructions."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from services.domain.wire.model import Media, Opaque, Refusal, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.domain.wire.model import Block

_NOTE_BYTES = 64
"""Room for the note that tells how much was left out."""
_HEAD_SHARE = 0.7


def size(words: str) -> int:
    """Return the number of UTF-8 bytes; a lone surrogate counts three."""
    return len(words.encode("utf-8", "surrogatepass"))


def cut(words: str, limit_bytes: int) -> str:
    """Return ``words`` in at most ``limit_bytes`` bytes, 64 or more: their beginning and end.

    A note in between tells how much is missing.
    """
    raw = words.encode("utf-8", "replace")
    if len(raw) <= limit_bytes:
        return raw.decode()
    room = limit_bytes - _NOTE_BYTES
    head = raw[: int(room * _HEAD_SHARE)].decode("utf-8", "ignore")
    tail_bytes = room - int(room * _HEAD_SHARE)
    tail = raw[len(raw) - tail_bytes :].decode("utf-8", "ignore") if tail_bytes else ""
    missing = len(raw) - size(head) - size(tail)
    return f"{head}\n[{missing} bytes left out]\n{tail}"


def fenced(tag: str, words: str) -> str:
    """Return ``words`` between marks that they cannot contain: their own digest is in them."""
    name = hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]
    return f'<{tag} id="{name}">\n{words}\n</{tag} id="{name}">'


def shown(blocks: Iterable[Block]) -> str:
    """Return blocks as one text; media are named, not shown."""
    return "\n".join(words for words in map(_shown, blocks) if words)


def _shown(block: Block) -> str:
    match block:
        case Text(text=words) | Refusal(text=words):
            return words
        case Media(kind=kind, text=words, title=title, filename=filename):
            name = title or filename
            label = f"[{kind}{': ' + name if name else ''}]"
            return f"{label}\n{words}" if words else label
        case Opaque(kind=kind, rendering=rendering, raw=raw):
            return rendering or f"[{kind}] " + raw.decode("utf-8", "replace")
        case _:
            return ""
