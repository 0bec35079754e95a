"""Taking one frame out of a stream that passes byte for byte: the usage nobody asked for.

Money needs the usage of every stream, so it is always asked for upstream. A client that did not
ask must not see the extra frame (no choices, only usage): some crash on a frame without choices.
Everything else keeps its bytes, a usage key on a frame with choices included.
"""

from __future__ import annotations

import re

from services.domain.sse import RawSplitter, parse_frame
from services.domain.wire.reading import mapping, peek

_NO_CHOICES = re.compile(rb'"choices"\s*:\s*\[\s*\]')


class UsageFrameFilter:
    """Drops usage-only frames; belongs to one stream. Frames are passed on as they complete."""

    def __init__(self) -> None:
        self._splitter = RawSplitter()

    def feed(self, data: bytes) -> bytes:
        """Return the bytes that may go on; the start of an incomplete frame waits.

        Past a frame over the limit nothing comes: the stream is broken by then.
        """
        return b"".join([raw for raw in self._splitter.feed(data) if not _is_usage_only(raw)])

    def finish(self) -> bytes:
        """Return what waits at the end of the stream, unless it is a usage-only frame."""
        rest = self._splitter.finish()
        return b"" if _is_usage_only(rest) else rest


def _is_usage_only(raw: bytes) -> bool:
    if b'"usage"' not in raw or not _NO_CHOICES.search(raw):
        return False
    frame = parse_frame(raw)
    chunk = mapping(peek(frame.data)) if frame is not None else {}
    return chunk.get("choices") == [] and bool(chunk.get("usage"))
