"""The seam of the fake provider: what a wire API must say. One module per dialect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import orjson

from tests.fakes.upstream.answer import Answer


class Dialect(Protocol):
    """Writes answers and errors the way one vendor's wire API does."""

    def full(self, answer: Answer) -> Mapping[str, object]:
        """Return the body of an answer that is not streamed."""

    def stream(self, answer: Answer) -> Iterator[bytes]:
        """Yield the frames of a streamed answer, each made when it is asked for."""

    def error(self, status: int, kind: str | None, message: str) -> Mapping[str, object]:
        """Return an error body; `kind` overrides the type that follows from `status`."""

    def stream_error(self, kind: str | None, message: str) -> bytes:
        """Return the frame that tells of an error in the middle of a stream."""

    def count(self, tokens: int) -> Mapping[str, object] | None:
        """Return the answer to a question for the number of tokens; None: there is none."""


def frame(payload: Mapping[str, object], event: str | None = None) -> bytes:
    """Return one server-sent event."""
    name = b"event: " + event.encode() + b"\n" if event else b""
    return name + b"data: " + orjson.dumps(payload) + b"\n\n"
