"""Server-sent events on bytes: frames in any line ending, whatever the cuts between chunks.

Nothing here decodes text: a cut inside a character, an escape or a CRLF is invisible. A frame ends
at a blank line; LF, CRLF and CR may be mixed. Raw frames concatenate to exactly the bytes fed, so
a filter can drop one frame and pass all others untouched.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_FRAME_BYTES = 16 * 1024 * 1024
"""Longest frame that is read; a longer one breaks the stream instead of growing memory."""

_BOUNDARY = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n?|\n)")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_BLANK_LINE_ENDS = (b"\n\n", b"\n\r\n", b"\r\r\n")
_BOM = b"\xef\xbb\xbf"


class Frame(NamedTuple):
    """One event: its name (empty when unnamed) and its data lines joined by LF."""

    event: str
    data: bytes


def is_at_boundary(tail: bytes) -> bool:
    """Return whether a stream whose last (at most 4) bytes are ``tail`` stands between frames.

    Nothing written yet is a boundary. A lone CR at the end is not: its LF may still come.
    """
    return not tail or tail.endswith(_BLANK_LINE_ENDS)


def parse_frame(raw: bytes) -> Frame | None:
    """Return the event of one raw frame; None when it carries no data (comments, blank lines)."""
    if raw.endswith(b"\n\n") and b"\r" not in raw:
        frame = _parse_plain(raw)
        if frame is not None:
            return frame
    event = ""
    data: list[bytes] = []
    for line in _LINE_END.split(raw):
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            data.append(value)
        elif name == b"event":
            event = value.decode("utf-8", "replace")
    return Frame(event, b"\n".join(data)) if data else None


def _parse_plain(raw: bytes) -> Frame | None:
    """Return the event of the two forms that vendors send; None for all others."""
    if raw.startswith(b"data: "):
        data = raw[6:-2]
        return None if b"\n" in data else Frame("", data)
    if not raw.startswith(b"event: "):
        return None
    name, _, rest = raw.partition(b"\n")
    data = rest[6:-2]
    if not rest.startswith(b"data: ") or b"\n" in data:
        return None
    return Frame(name[7:].decode("utf-8", "replace"), data)


class RawSplitter:
    """Cuts a stream into raw frames with their blank lines; belongs to one stream.

    ``is_over_limit`` becomes true for good at the first frame above the limit, and no frame comes
    after that.
    """

    def __init__(self, limit: int = MAX_FRAME_BYTES) -> None:
        self.is_over_limit = False
        self._limit = limit
        self._buffer = bytearray()
        self._has_carriage_return = False

    def feed(self, data: bytes) -> list[bytes]:
        """Return the raw frames that ``data`` completes, in order."""
        if self.is_over_limit:
            return []
        buffered = len(self._buffer)
        if not self._has_carriage_return and b"\r" in data:
            self._has_carriage_return = True
        if not buffered:
            frames, rest = self._cut(data, 0)
        else:
            self._buffer += data
            frames, rest = self._cut(self._buffer, max(0, buffered - 3))
        if frames or not buffered:
            self._buffer = bytearray(rest)
        if len(self._buffer) > self._limit:
            self._break()
        return frames

    def finish(self) -> bytes:
        """Return what is left at the end of the stream: a last frame without its blank line."""
        rest = bytes(self._buffer)
        self._buffer = bytearray()
        return rest

    def _cut(self, source: bytes | bytearray, search_from: int) -> tuple[list[bytes], bytes]:
        if not self._has_carriage_return and len(source) <= self._limit:
            if source.find(b"\n\n", search_from) < 0:
                return [], b"" if source is self._buffer else bytes(source)
            *pieces, rest = bytes(source).split(b"\n\n")
            return [piece + b"\n\n" for piece in pieces], rest
        frames: list[bytes] = []
        start = 0
        while (end := self._end_of_frame(source, max(start, search_from))) >= 0:
            if end - start > self._limit:
                self._break()
                return frames, b""
            frames.append(bytes(source[start:end]))
            start = end
        return frames, bytes(source[start:]) if frames or source is not self._buffer else b""

    def _end_of_frame(self, source: bytes | bytearray, search_from: int) -> int:
        if not self._has_carriage_return:
            found = source.find(b"\n\n", search_from)
            return found + 2 if found >= 0 else -1
        match = _BOUNDARY.search(source, search_from)
        return match.end() if match else -1

    def _break(self) -> None:
        self.is_over_limit = True
        self._buffer = bytearray()


class FrameSplitter:
    """Cuts a stream into events; belongs to one stream.

    Comments and frames without data are skipped. After a frame above the limit
    ``is_over_limit`` is true and nothing more comes: the reader ends the stream with an error.
    """

    def __init__(self, limit: int = MAX_FRAME_BYTES) -> None:
        self._raw = RawSplitter(limit)
        self._is_first = True

    @property
    def is_over_limit(self) -> bool:
        """Whether a frame was longer than the limit."""
        return self._raw.is_over_limit

    def feed(self, data: bytes) -> list[Frame]:
        """Return the events that ``data`` completes, in order."""
        return [frame for raw in self.cut(data) if (frame := parse_frame(raw)) is not None]

    def finish(self) -> list[Frame]:
        """Return the last event when the stream ended without its blank line."""
        frame = parse_frame(self._begun(self._raw.finish()))
        return [] if frame is None else [frame]

    def cut(self, data: bytes) -> list[bytes]:
        """Return the raw frames that ``data`` completes, in order, for :func:`parse_frame`."""
        frames = self._raw.feed(data)
        if frames and self._is_first:
            frames[0] = self._begun(frames[0])
        return frames

    def _begun(self, raw: bytes) -> bytes:
        """Return a raw frame; the first of a stream loses its byte order mark."""
        if not self._is_first:
            return raw
        self._is_first = False
        return raw.removeprefix(_BOM)
