"""Streams as one JSON array: what a Gemini client reads that did not ask for server-sent events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from gateway.answering.headers import JSON_TYPE, SSE_TYPE
from gateway.answering.stream import HttpReply
from services.domain.sse import FrameSplitter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aiohttp import web

    from services.domain.sse import Frame


class JsonArray:
    """Turns a stream of events into an array of their data; belongs to one stream. Pure.

    What is no JSON object (half an event before an error) is left out: the array stays one.
    """

    def __init__(self) -> None:
        self._splitter = FrameSplitter()
        self._is_open = False

    def feed(self, data: bytes) -> bytes:
        """Return the elements that ``data`` completes, each behind its bracket or comma."""
        return self._elements(self._splitter.feed(data))

    def finish(self) -> bytes:
        """Return the end of the array; an empty one where nothing came."""
        rest = self._elements(self._splitter.finish())
        return rest + (b"]" if self._is_open else b"[]")

    def _elements(self, frames: Sequence[Frame]) -> bytes:
        return b"".join([self._element(frame.data) for frame in frames if _is_object(frame.data)])

    def _element(self, data: bytes) -> bytes:
        before = b",\n" if self._is_open else b"["
        self._is_open = True
        return before + data


class ArrayReply(HttpReply):
    """Answers one HTTP request with an array that grows while the answer comes.

    Nothing can stand between its elements, so that nothing keeps a silent one alive.
    """

    def __init__(
        self, request: web.BaseRequest, *, keepalive_interval_s: float, write_timeout_s: float
    ) -> None:
        super().__init__(
            request, keepalive_interval_s=keepalive_interval_s, write_timeout_s=write_timeout_s
        )
        self._array = JsonArray()

    def keep_alive(self, frame: Callable[[], bytes]) -> None:
        """Take no frame."""

    async def whole(self, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> None:
        """Keep a complete answer; an error stays the object that it is."""
        if ("content-type", SSE_TYPE) in headers:
            body = self._array.feed(body) + self._array.finish()
        await super().whole(status, _as_json(headers), body)

    async def begin(self, status: int, headers: Sequence[tuple[str, str]]) -> None:
        """Send status and headers of a stream."""
        await super().begin(status, _as_json(headers))

    async def write(self, data: bytes) -> None:
        """Send the elements that ``data`` completes."""
        elements = self._array.feed(data)
        if elements:
            await super().write(elements)

    async def end(self) -> None:
        """End the array."""
        if self.has_begun:
            await super().write(self._array.finish())
        await super().end()


def _as_json(headers: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, JSON_TYPE if name == "content-type" else value) for name, value in headers]


def _is_object(data: bytes) -> bool:
    try:
        return isinstance(orjson.loads(data), dict)
    except orjson.JSONDecodeError:
        return False
