"""Server-streaming calls of a channel without a socket."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections import deque
from typing import TYPE_CHECKING, Any

import grpc

from services.runtime.inprocess.calls import Call, task_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from services.runtime.inprocess.server import InProcessServer

    # grpc's aio types are incomplete for custom channels: messages are Any in this module.
    Pairs = tuple[tuple[str, str | bytes], ...]


_STREAM_BUFFER_MESSAGES = 16


class StreamCall(Call):
    """A server-streaming call; read it with :meth:`read` or ``async for``, never with both.

    The handler runs ahead of its reader by a bounded number of messages.
    """

    def __init__(
        self,
        server: InProcessServer,
        method: str,
        request: Any,
        timeout: float | None,
        metadata: Pairs,
    ) -> None:
        super().__init__(server, method, request, timeout, metadata)
        self._buffer: deque[Any] = deque()
        self._news: asyncio.Future[None] | None = None
        """What the reader waits for."""
        self._space: asyncio.Future[None] | None = None
        """What the handler waits for."""
        self._task: asyncio.Task[Any] = task_of(self._run())
        self._task.add_done_callback(self._note_end)

    def cancel(self) -> bool:
        """Cancel the call; returns whether it was still running."""
        return self._task.cancel()

    def done(self) -> bool:
        """Return whether the call has ended."""
        return self._task.done()

    @property
    def end(self) -> asyncio.Future[Any]:
        """What is done when the call has ended."""
        return self._task

    def _note_end(self, end: asyncio.Future[Any]) -> None:
        _wake(self._news)
        super()._note_end(end)

    async def read(self) -> Any:
        """Return the next message, or ``grpc.aio.EOF`` after the last.

        Raises:
            AioRpcError: the call ended with a status other than OK.
            CancelledError: the call was cancelled; cancelling the read cancels the call.
        """
        try:
            while not self._buffer and not self._task.done():
                self._news = asyncio.get_running_loop().create_future()
                await self._news
        except asyncio.CancelledError:
            self.cancel()
            raise
        if self._buffer:
            _wake(self._space)
            return self._buffer.popleft()
        await self._task
        return grpc.aio.EOF

    async def __aiter__(self) -> AsyncIterator[Any]:
        while (message := await self.read()) is not grpc.aio.EOF:
            yield message

    async def _answered(self) -> None:
        self._check_size(self._request)
        handler = self._server.ready.get(self._method) or await self._handler()
        answer = handler.unary_stream(self._request, self._context)
        if inspect.isawaitable(answer):
            await answer
            return
        async with contextlib.aclosing(answer) as messages:
            async for message in messages:
                await self._send(message)

    async def _send(self, message: Any) -> None:
        self._check_size(message)
        while len(self._buffer) >= _STREAM_BUFFER_MESSAGES:
            self._space = asyncio.get_running_loop().create_future()
            await self._space
        self._buffer.append(message)
        _wake(self._news)


def _wake(waiting: asyncio.Future[None] | None) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(None)
