"""The client's end of an action over HTTP: whole answers, and streams with keepalive and bounds.

One timer per stream looks after both: a keepalive frame after silence, only between frames and only
after the first byte; and the end of a client that takes nothing any more.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from aiohttp import web

from gateway import metrics
from gateway.model import ClientGoneError
from services.domain.sse import is_at_boundary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_GONE = (ConnectionError, RuntimeError)
"""What a closed connection raises."""


class HttpReply:
    """Answers one HTTP request; nothing is sent before the first call."""

    def __init__(
        self,
        request: web.BaseRequest,
        *,
        keepalive_interval_s: float,
        write_timeout_s: float,
    ) -> None:
        self._request = request
        self._frame: Callable[[], bytes] | None = None
        self._interval_s = keepalive_interval_s
        self._write_timeout_s = write_timeout_s
        self._loop = asyncio.get_running_loop()
        self._response: web.StreamResponse | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._pulse: asyncio.Task[None] | None = None
        self._last = b""
        self._written_s = 0.0
        self._blocked_since_s = 0.0

    @property
    def response(self) -> web.StreamResponse | None:
        """What was sent; None: nothing yet."""
        return self._response

    @property
    def has_begun(self) -> bool:
        """Whether a status went out."""
        return self._response is not None

    @property
    def status(self) -> int:
        """The status that went out; 0: none."""
        return self._response.status if self._response is not None else 0

    def keep_alive(self, frame: Callable[[], bytes]) -> None:
        """Write ``frame``'s bytes into silences of the stream that is to begin."""
        self._frame = frame

    async def whole(self, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> None:
        """Keep a complete answer for the server to send when the handler returns."""
        self._response = web.Response(status=status, headers=dict(headers), body=body)

    async def begin(self, status: int, headers: Sequence[tuple[str, str]]) -> None:
        """Send status and headers of a stream."""
        response = web.StreamResponse(status=status, headers=dict(headers))
        self._response = response
        with _gone_client():
            await response.prepare(self._request)
        self._written_s = self._loop.time()
        self._arm()

    async def write(self, data: bytes) -> None:
        """Send bytes; waits while the client takes none, at most the write timeout."""
        response = self._response
        if response is None:
            raise ClientGoneError
        tail = data[-4:]
        self._last = tail if len(tail) == 4 else (self._last + tail)[-4:]
        self._written_s = self._blocked_since_s = self._loop.time()
        try:  # the one call per chunk: no context manager
            await response.write(data)
        except _GONE as error:
            raise ClientGoneError from error
        self._blocked_since_s = 0.0

    async def end(self) -> None:
        """End the stream, after a keepalive frame that is being written."""
        await self.stop_timer()
        if self._response is not None:
            with _gone_client():
                await self._response.write_eof()

    async def stop_timer(self) -> None:
        """Write no more keepalive frames; safe to call twice."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._pulse is not None:
            await asyncio.wait({self._pulse})

    def _arm(self) -> None:
        halves = [each / 2 for each in (self._interval_s, self._write_timeout_s) if each > 0]
        if halves:
            self._timer = self._loop.call_later(min(halves), self._tick)

    def _tick(self) -> None:
        now_s = self._loop.time()
        if self._blocked_since_s and now_s - self._blocked_since_s >= self._write_timeout_s:
            self._drop_client()
            return
        if self._is_silent() and not self._blocked_since_s and is_at_boundary(self._last):
            self._pulse = self._loop.create_task(self._send_keepalive())
        self._arm()

    async def _send_keepalive(self) -> None:
        if not self._is_silent():
            return  # something was written since the tick, perhaps the last frame
        frame = self._frame() if self._frame is not None else b""
        if frame:
            with contextlib.suppress(ClientGoneError):
                await self.write(frame)
                metrics.KEEPALIVES.inc()

    def _is_silent(self) -> bool:
        silent_s = self._loop.time() - self._written_s
        return self._frame is not None and 0 < self._interval_s <= silent_s

    def _drop_client(self) -> None:
        transport = self._request.transport
        if transport is not None:
            transport.abort()


@contextlib.contextmanager
def _gone_client() -> Iterator[None]:
    """Turn what a closed connection raises into one error."""
    try:
        yield
    except _GONE as error:
        raise ClientGoneError from error
