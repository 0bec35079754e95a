"""What calls of a channel without a socket have in common: their deadline and their faults."""

from __future__ import annotations

import abc
import asyncio
import contextvars
import time
from typing import TYPE_CHECKING, Any

import grpc

from services.runtime.inprocess.context import Aborted, InProcessContext, rpc_error

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from services.runtime.inprocess.server import InProcessServer

    # grpc's aio types are incomplete for custom channels: messages are Any in this module.
    Handler = Any
    Pairs = tuple[tuple[str, str | bytes], ...]


class Call(abc.ABC):
    """One running call: its context, the task that its handler runs in, its end."""

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
        self._metadata = metadata
        deadline_s = None if timeout is None else time.monotonic() + timeout
        self._context = InProcessContext(deadline_s, metadata, self._send)
        self._task: asyncio.Task[Any] | None = None
        """A task of the call's own; None: it has none, as yet."""
        self._runner: asyncio.Task[Any] | None = None
        """What the handler runs in, once it does."""
        self._timer: asyncio.TimerHandle | None = None
        self._cancelled_before = 0
        self._is_late = False
        self._cancels = 0
        """How often the runner was cancelled for this call alone."""
        self._forget: Callable[[Call], object] = _remember

    async def _run(self) -> Any:
        runner: asyncio.Task[Any] = asyncio.current_task()  # type: ignore[assignment]  # calls run in tasks
        self._runner = runner
        self._cancelled_before = runner.cancelling()
        if runner is self._task:
            self._set_timer()
        try:
            return await self._answered()
        except Exception as error:  # noqa: BLE001 - a stub raises one type, whatever the fault
            raise self._fault(error) from None
        except asyncio.CancelledError:
            if self._is_late and runner.cancelling() == self._cancelled_before + 1:
                raise _deadline_exceeded() from None
            raise
        finally:
            # The runner may be the caller's own task: what was asked of it here is over.
            for _ in range(self._cancels):
                runner.uncancel()
            if self._timer is not None:
                self._timer.cancel()
            # The two know each other: cut apart, both go with their messages when they are let go.
            self._context.end()

    def _set_timer(self) -> None:
        """End the handler at its deadline; of use only once it waits for something."""
        left_s = self._context.time_remaining()
        if left_s is not None:
            self._timer = asyncio.get_running_loop().call_later(left_s, self._expire)

    def _expire(self) -> None:
        if self._runner is not None:
            self._is_late = self._runner.cancel()
            self._cancels += self._is_late

    @abc.abstractmethod
    async def _answered(self) -> Any:
        """Run the handler; returns the response of a unary call."""

    @abc.abstractmethod
    async def _send(self, message: Any) -> None:
        """Take a message that the handler writes."""

    @abc.abstractmethod
    def cancel(self) -> bool:
        """Cancel the call; returns whether it was still running."""

    @abc.abstractmethod
    def done(self) -> bool:
        """Return whether the call has ended."""

    @property
    @abc.abstractmethod
    def end(self) -> asyncio.Future[Any]:
        """What is done when the call has ended."""

    def on_end(self, forget: Callable[[Call], object]) -> None:
        """Let ``forget`` know when the call has ended."""
        self._forget = forget

    def _note_end(self, end: asyncio.Future[Any]) -> None:
        if not end.cancelled():
            end.exception()  # seen here, so that a caller who left makes no warning
        self._forget(self)

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
        """Return the handler of a method that was not called before."""
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
            return _deadline_exceeded()
        if isinstance(error, Aborted):
            return rpc_error(error.code, error.details, error.trailing)
        return rpc_error(grpc.StatusCode.UNKNOWN, f"unexpected {type(error).__name__}")


def task_of(handler: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """Return a task that runs a handler.

    In a context of its own, as behind a socket: nothing that the caller bound leaks in.
    """
    return asyncio.create_task(handler, context=contextvars.Context())


def _remember(_: Call) -> None:
    """Do nothing when a call ends that nobody keeps."""


def _deadline_exceeded() -> grpc.aio.AioRpcError:
    return rpc_error(grpc.StatusCode.DEADLINE_EXCEEDED, "deadline exceeded")
