"""An answer of the sandbox before it is written in a dialect, and the pieces that all write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import orjson

from services.embedded.sandbox.script import Answer
from services.embedded.sandbox.usage import InputTokens

PIECE_CHARS = 16
"""Characters of one delta of a stream."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with what its envelope needs."""

    id: str
    """Sixteen hexadecimal digits, made from the request."""
    model: str
    answer: Answer
    tokens: InputTokens
    is_usage_wanted: bool = True


def pieces(text: str) -> Iterator[str]:
    """Yield the deltas of a text."""
    for start in range(0, len(text), PIECE_CHARS):
        yield text[start : start + PIECE_CHARS]


def event(body: Mapping[str, object]) -> bytes:
    """Return a frame that is named like its type."""
    return b"event: " + str(body["type"]).encode() + b"\n" + line(body)


def line(body: Mapping[str, object]) -> bytes:
    """Return a frame without a name."""
    return b"data: " + orjson.dumps(body) + b"\n\n"
