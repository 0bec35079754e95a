"""Unary calls of a channel without a socket."""

from __future__ import annotations

import asyncio
import contextvars
from typing import TYPE_CHECKING, Any

import grpc

from services.runtime.inprocess.calls import Call, task_of
from services.runtime.inprocess.context import rpc_error

if TYPE_CHECKING:
    from collections.abc import Generator

    from services.runtime.inprocess.server import InProcessServer

    # grpc's aio types are incomplete for custom channels: messages are Any in this module.
    Pairs = tuple[tuple[str, str | bytes], ...]


class UnaryCall(Call):
    """A unary call; await it, once, for the response.

    A caller who awaits it at once, as nearly all do, runs the handler in its own task: making one,
    and waking its maker when it is done, takes longer than many a handler. Else it gets a task.
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
        self._is_over = False
        self._waiting: asyncio.Future[None] | None = None
        self._starter = asyncio.get_running_loop().call_soon(self._started)

    def __await__(self) -> Generator[Any, None, Any]:
        self._starter.cancel()
        if self._task is not None:
            return self._task.__await__()
        if self._runner is not None:
            raise RuntimeError("a call is awaited once")
        return self._in_the_caller()

    def cancel(self) -> bool:
        """Cancel the call; returns whether it was still running."""
        if self._runner is None or self._task is not None:
            return self._started().cancel()
        if self._is_over:
            return False
        is_heard = self._runner.cancel()
        self._cancels += is_heard
        return is_heard

    def done(self) -> bool:
        """Return whether the call has ended."""
        return self._is_over or (self._task is not None and self._task.done())

    @property
    def end(self) -> asyncio.Future[Any]:
        """What is done when the call has ended."""
        if self._runner is None or self._task is not None:
            return self._started()
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().create_future()
        return self._waiting

    def _started(self) -> asyncio.Task[Any]:
        """Return the task of a call that nobody awaited at once."""
        self._starter.cancel()
        if self._task is None:
            self._task = task_of(self._run())
            self._task.add_done_callback(self._note_end)
        return self._task

    def _in_the_caller(self) -> Generator[Any, None, Any]:
        """Run the handler step by step where the call is awaited, in a context of its own."""
        handler = self._run()
        step = contextvars.Context().run
        try:
            waits_for = step(handler.send, None)
            self._set_timer()
            while True:
                try:
                    yield waits_for
                except BaseException as error:  # noqa: BLE001 - all that comes is the handler's
                    waits_for = step(handler.throw, error)
                else:
                    waits_for = step(handler.send, None)
        except StopIteration as ended:
            return ended.value
        finally:
            self._is_over = True
            if self._waiting is not None and not self._waiting.done():
                self._waiting.set_result(None)
            self._forget(self)

    async def _answered(self) -> Any:
        self._check_size(self._request)
        handler = self._server.ready.get(self._method) or await self._handler()
        response = await handler.unary_unary(self._request, self._context)
        self._check_size(response)
        return response

    async def _send(self, message: Any) -> None:
        raise rpc_error(grpc.StatusCode.INTERNAL, "a unary method returns its message")
