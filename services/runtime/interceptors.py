"""What happens around every RPC we serve, the same on all transports.

One interceptor, in this order: refuse calls without a deadline, from callers not on the list, with
a secret over open plaintext, above the concurrency limit, or whose message cannot be read; bind the
allow-listed metadata; run the handler; turn errors into statuses; count, time and log one line.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf.message import DecodeError

from services.domain.errors import InvalidRequestError, Reason, RouterError
from services.runtime import context as call_context
from services.runtime import metrics, status
from services.runtime.admission import Admission, draining, is_watch, name_of
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    # The aio types of grpc are incomplete for interceptors: messages and contexts are Any here.
    Handler = Any
    Context = grpc.aio.ServicerContext[Any, Any]

_LAST_WRITE_S = 1.0
"""Time for a write that runs when its watch is told to end."""
_EARLY_S = 0.002
_EARLY_SHARE = 0.01
"""How long before our deadline a caller's own may end a call, at least and of its whole time: loops
count in milliseconds, and gRPC tells a time that is rounded up, by a hundredth at most."""
_OK = "OK"
_UNREADABLE = object()
_INFRASTRUCTURE = "/grpc."
"""Health, reflection and channelz: watched by machines, exempt from all of this."""


class ServerEdge(grpc.aio.ServerInterceptor):
    """Wraps every handler of one server; see the module's docstring for the order."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._wrapped: dict[str, Handler] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """Return the wrapped handler of a call; wrappers are made once per method."""
        method = handler_call_details.method
        handler = self._wrapped.get(method)
        if handler is None:
            inner = await continuation(handler_call_details)
            if inner is None or method.startswith(_INFRASTRUCTURE):
                return inner
            handler = self._wrap(method, inner)
            self._wrapped[method] = handler
        return handler

    def _wrap(self, method: str, handler: Handler) -> Handler:
        edge = _MethodEdge(method, self._admission)
        if handler.unary_unary is not None:
            return grpc.unary_unary_rpc_method_handler(
                edge.around_unary(handler.unary_unary),
                request_deserializer=_readable(handler.request_deserializer),
                response_serializer=handler.response_serializer,
            )
        if handler.unary_stream is not None:
            return grpc.unary_stream_rpc_method_handler(
                edge.around_stream(handler.unary_stream),
                request_deserializer=_readable(handler.request_deserializer),
                response_serializer=handler.response_serializer,
            )
        return handler


class _MethodEdge:
    def __init__(self, method: str, admission: Admission) -> None:
        self.method = method
        self.name = name_of(method)
        self.admission = admission
        self.log = get_logger(admission.service).bind()
        self.is_debugging = self.log.is_enabled_for(logging.DEBUG)
        self.running = metrics.RPC_IN_FLIGHT.labels(self.name)
        self.seconds = metrics.RPC_SECONDS.labels(self.name)
        self.fine = metrics.RPC_HANDLED.labels(self.name, _OK)
        self.is_watch = is_watch(self.name)

    def around_unary(
        self, behaviour: Callable[[Any, Context], Awaitable[Any]]
    ) -> Callable[[Any, Context], Awaitable[Any]]:
        async def handle(request: Any, context: Context) -> Any:
            with _Call(self, context) as call:
                try:
                    self.admission.check(self.method, context, call.metadata)
                    _check_read(request)
                    return await behaviour(request, context)
                except RouterError as error:
                    await call.abort(error)
                except grpc.aio.AbortError:
                    raise
                except asyncio.CancelledError:
                    if not call.is_told_to_end():
                        raise
                    await call.abort(draining())
                except Exception as error:  # noqa: BLE001 - the outermost host: every fault becomes a status
                    await call.abort(call.defect(error))

        return handle

    def around_stream(
        self, behaviour: Callable[[Any, Context], AsyncGenerator[Any, None]]
    ) -> Callable[[Any, Context], Awaitable[None]]:
        # A coroutine that writes, not a generator that yields: it ends where it runs, so a caller
        # who leaves closes the servicer's generator at once and in its own context.
        is_watch = self.is_watch

        async def send(request: Any, context: Context) -> None:
            write = partial(_write_to_its_end, context) if is_watch else context.write
            async with contextlib.aclosing(behaviour(request, context)) as messages:
                async for message in messages:
                    await write(message)

        return self.around_unary(send)


def _readable(deserialize: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """Return a reader that marks what is no message: gRPC would tell it as a fault of ours."""

    def read(raw: bytes) -> Any:
        try:
            return deserialize(raw)
        except DecodeError:
            return _UNREADABLE

    return read


def _check_read(request: Any) -> None:
    if request is _UNREADABLE:
        raise InvalidRequestError.of(
            "request", "must be the message that the method takes, its texts in UTF-8"
        )


async def _write_to_its_end(context: Context, message: Any) -> None:
    """Write a message that a drain must not cut: gRPC sends no status beside a running write."""
    writing = asyncio.ensure_future(context.write(message))
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        await asyncio.wait({writing}, timeout=_LAST_WRITE_S)
        raise


class _Call:
    """One running call: binds its context, then counts, times and logs its end."""

    def __init__(self, edge: _MethodEdge, context: Context) -> None:
        self._edge = edge
        self._context = context
        self._code = _OK
        self._reason = ""
        self.metadata = context.invocation_metadata() or ()
        """Read once: a real server makes it anew for whoever asks."""

    def __enter__(self) -> _Call:
        edge, started_s = self._edge, time.monotonic()
        self._started_s = started_s
        if edge.is_watch:
            edge.admission.watches.add(_own_task())
        else:
            edge.admission.in_flight += 1
        edge.running.inc()
        # Bound for good: each call runs in a context of its own.
        call_context.current.set(call_context.allowed(self.metadata))
        left_s: float | None = self._context.time_remaining()
        self._given_s = left_s
        call_context.deadline.set(None if left_s is None else started_s + left_s)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self._code == _OK:
            self._code = self._code_of(kind)
        elapsed_s = time.monotonic() - self._started_s
        edge, is_fine = self._edge, self._code == _OK
        if edge.is_watch:
            edge.admission.watches.discard(_own_task())
        else:
            edge.admission.in_flight -= 1
        edge.running.dec()
        edge.seconds.observe(elapsed_s)
        (edge.fine if is_fine else metrics.RPC_HANDLED.labels(edge.name, self._code)).inc()
        if edge.is_debugging or not is_fine:
            self._line(elapsed_s)

    def _code_of(self, kind: type[BaseException]) -> str:
        if not issubclass(kind, asyncio.CancelledError):
            return "ABORTED"
        if self._given_s is None:
            return "CANCELLED"
        is_late = self._context.time_remaining() <= max(_EARLY_S, _EARLY_SHARE * self._given_s)
        return "DEADLINE_EXCEEDED" if is_late else "CANCELLED"

    def is_told_to_end(self) -> bool:
        """Return whether a cancellation is the server's own: a watch ends when it drains."""
        if not self._edge.admission.is_draining or not self._edge.is_watch:
            return False
        _own_task().uncancel()
        return True

    def _line(self, elapsed_s: float) -> None:
        if not self._edge.admission.is_logged:
            return
        labels = {key.replace("-", "_"): value for key, value in call_context.current.get()}
        write = self._edge.log.debug if self._code == _OK else self._edge.log.info
        write(
            "rpc",
            method=self._edge.name,
            code=self._code,
            reason=self._reason,
            elapsed_ms=round(elapsed_s * 1000, 2),
            **labels,
        )

    async def abort(self, error: RouterError) -> None:
        """End the call with the status of ``error``."""
        self._code, self._reason = error.trait.code.value, error.reason.value
        await self._context.abort_with_status(status.grpc_status_of(error))

    def defect(self, error: Exception) -> RouterError:
        """Return the status of an unforeseen fault; the log has its cause, the caller has not."""
        self._edge.log.error("rpc_defect", method=self._edge.name, exc_info=error)
        return RouterError(Reason.INTERNAL, "internal fault; the service's log has the cause")


def _own_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("calls run in tasks")
    return task
