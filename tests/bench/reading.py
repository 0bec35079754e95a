"""Reads one HTTP/1.1 answer as its bytes come. Pure."""

from __future__ import annotations

import re

END_OF_HEAD = b"\r\n\r\n"
CONTENT_LENGTH = re.compile(rb"content-length: *(\d+)")


class AnswerReader:
    """Belongs to one answer. Body bytes are given out freed of HTTP's own framing."""

    def __init__(self) -> None:
        self.status = 0
        """0 until the head is whole."""
        self.is_complete = False
        self.is_kept_alive = True
        self.head = b""
        """The head in small letters, once it is whole."""
        self._head = bytearray()
        self._chunks: _Chunks | None = None
        self._left: int | None = None

    def feed(self, data: bytes) -> bytes:
        """Return the body bytes that became known."""
        if self.status:
            return self._body(data)
        self._head += data
        end = self._head.find(END_OF_HEAD)
        if end < 0:
            return b""
        rest = bytes(self._head[end + len(END_OF_HEAD) :])
        self._read_head(bytes(self._head[:end]).lower())
        return self._body(rest)

    def end(self) -> None:
        """Note that the connection has ended, which completes a body without a stated length."""
        self.is_kept_alive = False
        if self.status and self._chunks is None and self._left is None:
            self.is_complete = True

    def _read_head(self, head: bytes) -> None:
        self.head = head
        self.status = int(head[9:12])
        self.is_kept_alive = b"connection: close" not in head
        if b"transfer-encoding: chunked" in head:
            self._chunks = _Chunks()
        elif stated := CONTENT_LENGTH.search(head):
            self._left = int(stated.group(1))

    def _body(self, data: bytes) -> bytes:
        if self._chunks is not None:
            body = self._chunks.feed(data)
            self.is_complete = self._chunks.is_complete
            return body
        if self._left is not None:
            self._left -= len(data)
            self.is_complete = self._left <= 0
        return data


class _Chunks:
    def __init__(self) -> None:
        self.is_complete = False
        self._buffer = b""

    def feed(self, data: bytes) -> bytes:
        buffer = self._buffer + data
        found: list[bytes] = []
        position = 0
        while (line_end := buffer.find(b"\r\n", position)) >= 0:
            size = int(buffer[position:line_end].split(b";")[0], 16)
            start = line_end + 2
            if len(buffer) < start + size + 2:
                break
            position = start + size + 2
            if size == 0:
                self.is_complete = True
                break
            found.append(buffer[start : start + size])
        self._buffer = buffer[position:]
        return b"".join(found)
