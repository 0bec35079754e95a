"""Calls of a channel without a socket: the handler's task, and what the caller holds of it."""

from __future__ import annotations

import abc
import asyncio
import contextlib
import contextvars
import inspect
import time
from collections import deque
from typing import TYPE_CHECKING, Any

import grpc

from services.runtime.inprocess.context import Aborted, InProcessContext, rpc_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator

    from services.runtime.inprocess.server import InProcessServer

    # grpc's aio types are incomplete for custom channels: messages are Any in this module.
    Handler = Any
    Pairs = tuple[tuple[str, str | bytes], ...]

_STREAM_BUFFER_MESSAGES = 16


class Call(abc.ABC):
    """One running call: its handler's task, its context, its end."""

    def __init__(
        self,
        server: InProcessServer,
        method: str,
        request: Any,
        timeout: float | None,
        metadata: Pairs,
    ) -> None:
        self._server = server
        self._method = method
        self._request = request
        self._timeout_s = timeout
        self._metadata = metadata
        deadline_s = None if timeout is None else time.monotonic() + timeout
        self._context = InProcessContext(deadline_s, metadata, self._send)
        self._is_late = False
        # A context of its own, as behind a socket: nothing that the caller bound leaks in.
        self.task = asyncio.create_task(self._run(), context=contextvars.Context())

    async def _run(self) -> Any:
        timer = None
        if self._timeout_s is not None:
            timer = asyncio.get_running_loop().call_later(self._timeout_s, self._expire)
        try:
            return await self._answered()
        except Exception as error:  # noqa: BLE001 - a stub raises one type, whatever the fault
            raise self._fault(error) from None
        except asyncio.CancelledError:
            if self._is_late and not self.task.uncancel():
                raise _deadline_exceeded() from None
            raise
        finally:
            if timer is not None:
                timer.cancel()
            # The two know each other: cut apart, both go with their messages when they are let go.
            self._context.end()

    def _expire(self) -> None:
        self._is_late = self.task.cancel()

    @abc.abstractmethod
    async def _answered(self) -> Any:
        """Run the handler; returns the response of a unary call."""

    @abc.abstractmethod
    async def _send(self, message: Any) -> None:
        """Take a message that the handler writes."""

    def cancel(self) -> bool:
        """Cancel the call; returns whether it was still running."""
        return self.task.cancel()

    def done(self) -> bool:
        """Return whether the call has ended."""
        return self.task.done()

    def cancelled(self) -> bool:
        """Return whether the call was cancelled."""
        return self.task.cancelled()

    async def initial_metadata(self) -> Pairs:
        """Return the metadata that came first: none in this transport."""
        return ()

    async def trailing_metadata(self) -> Pairs:
        """Return the metadata that the handler set for the end."""
        return self._context.trailing

    def time_remaining(self) -> float | None:
        """Return the seconds left; None without a deadline."""
        left: float | None = self._context.time_remaining()
        return left

    async def _handler(self) -> Handler:
        self._check_size(self._request)
        handler = await self._server.handler(self._method, self._metadata)
        if handler is None:
            raise rpc_error(grpc.StatusCode.UNIMPLEMENTED, f"no method {self._method}")
        return handler

    def _check_size(self, message: Any) -> None:
        size = message.ByteSize()
        if size > self._server.max_message_bytes:
            raise Aborted(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                f"message of {size} bytes is larger than {self._server.max_message_bytes}",
            )

    def _fault(self, error: BaseException) -> grpc.aio.AioRpcError:
        """Return what a stub raises for what ended the handler."""
        if isinstance(error, grpc.aio.AioRpcError):
            return error
        if self._is_late:
            self.task.uncancel()
            return _deadline_exceeded()
        if isinstance(error, Aborted):
            return rpc_error(error.code, error.details, error.trailing)
        return rpc_error(grpc.StatusCode.UNKNOWN, f"unexpected {type(error).__name__}")


class UnaryCall(Call):
    """A unary call; await it for the response."""

    def __await__(self) -> Generator[Any, None, Any]:
        return self.task.__await__()

    async def _answered(self) -> Any:
        handler = await self._handler()
        response = await handler.unary_unary(self._request, self._context)
        self._check_size(response)
        return response

    async def _send(self, message: Any) -> None:
        raise rpc_error(grpc.StatusCode.INTERNAL, "a unary method returns its message")


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
        self._has_news = asyncio.Event()
        self._has_space = asyncio.Event()
        self.task.add_done_callback(lambda _: self._has_news.set())

    async def read(self) -> Any:
        """Return the next message, or ``grpc.aio.EOF`` after the last.

        Raises:
            AioRpcError: the call ended with a status other than OK.
            CancelledError: the call was cancelled; cancelling the read cancels the call.
        """
        try:
            while not self._buffer and not self.task.done():
                self._has_news.clear()
                await self._has_news.wait()
        except asyncio.CancelledError:
            self.cancel()
            raise
        if self._buffer:
            self._has_space.set()
            return self._buffer.popleft()
        await self.task
        return grpc.aio.EOF

    async def __aiter__(self) -> AsyncIterator[Any]:
        while (message := await self.read()) is not grpc.aio.EOF:
            yield message

    async def _answered(self) -> None:
        handler = await self._handler()
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
            self._has_space.clear()
            await self._has_space.wait()
        self._buffer.append(message)
        self._has_news.set()


def _deadline_exceeded() -> grpc.aio.AioRpcError:
    return rpc_error(grpc.StatusCode.DEADLINE_EXCEEDED, "deadline exceeded")
