"""A channel without a socket: servicers of the same process, called directly.

:class:`InProcessServer` takes the same servicers and interceptors as a real server. Messages are
treated as frozen, deadlines and cancellation come from asyncio, and message sizes are enforced, so
that a caller cannot tell it from a socket except by its speed.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar

import grpc

from services.runtime.channel import DEFAULT_MAX_MESSAGE_BYTES, Channel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Sequence

    # grpc's aio types are incomplete for custom channels: messages are Any in this module.
    Handler = Any
    Pairs = tuple[tuple[str, str | bytes], ...]

PEER = "inproc:"
"""What ``context.peer()`` answers for callers of the same process."""

_STREAM_BUFFER_MESSAGES = 16


class InProcessServer:
    """Serves servicers to callers in the same process.

    ``add_<Service>Servicer_to_server`` takes it as it takes a real server.
    """

    def __init__(
        self,
        interceptors: Sequence[grpc.aio.ServerInterceptor] = (),
        max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
    ) -> None:
        self._interceptors = tuple(interceptors)
        self._handlers: dict[str, Handler] = {}
        self._ready: dict[str, Handler] = {}
        self.max_message_bytes = max_message_bytes

    def add_generic_rpc_handlers(self, handlers: Sequence[Any]) -> None:
        """Accept the generic form of registration; the registered form below is what is used."""

    def add_registered_method_handlers(self, service: str, handlers: dict[str, Handler]) -> None:
        """Register the methods of ``service``."""
        for name, handler in handlers.items():
            self._handlers[f"/{service}/{name}"] = handler

    def channel(self, caller: str) -> Channel:
        """Return a channel to this server for one calling service."""
        return Channel(InProcessTransport(self), caller)

    async def handler(self, method: str, metadata: Pairs) -> Handler | None:
        """Return the handler of a method behind all interceptors; None when there is none."""
        ready = self._ready.get(method)
        if ready is None:
            ready = await self._intercepted(method, metadata)
            if ready is not None:
                self._ready[method] = ready
        return ready

    async def _intercepted(self, method: str, metadata: Pairs) -> Handler | None:
        async def innermost(_: grpc.HandlerCallDetails) -> Handler | None:
            return self._handlers.get(method)

        continuation: Callable[..., Awaitable[Handler | None]] = innermost
        for interceptor in reversed(self._interceptors):
            continuation = _bound(interceptor, continuation)
        return await continuation(_CallDetails(method, metadata))


def _bound(
    interceptor: grpc.aio.ServerInterceptor, inner: Callable[..., Awaitable[Any]]
) -> Callable[..., Awaitable[Any]]:
    async def intercept(details: grpc.HandlerCallDetails) -> Any:
        return await interceptor.intercept_service(inner, details)

    return intercept


class _CallDetails(grpc.HandlerCallDetails):
    def __init__(self, method: str, invocation_metadata: Pairs) -> None:
        self.method = method
        self.invocation_metadata = invocation_metadata


class InProcessTransport:
    """The channel side of an :class:`InProcessServer`; serialisers are not used."""

    def __init__(self, server: InProcessServer) -> None:
        self._server = server
        self._calls: set[_Call] = set()

    def unary_unary(self, method: str, *_: Any, **__: Any) -> Callable[..., UnaryCall]:
        """Return the callable of a unary method."""

        def start(request: Any, *, timeout: float | None, metadata: Pairs, **_: Any) -> UnaryCall:
            return self._kept(UnaryCall(self._server, method, request, timeout, metadata))

        return start

    def unary_stream(self, method: str, *_: Any, **__: Any) -> Callable[..., StreamCall]:
        """Return the callable of a server-streaming method."""

        def start(request: Any, *, timeout: float | None, metadata: Pairs, **_: Any) -> StreamCall:
            return self._kept(StreamCall(self._server, method, request, timeout, metadata))

        return start

    def stream_unary(self, method: str, *_: Any, **__: Any) -> Callable[..., Any]:
        """Refuse: no service of ours streams from the client."""
        return _refuse_client_stream(method)

    def stream_stream(self, method: str, *_: Any, **__: Any) -> Callable[..., Any]:
        """Refuse: no service of ours streams from the client."""
        return _refuse_client_stream(method)

    def get_state(self, _try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """Return READY: there is no connection to lose."""
        return grpc.ChannelConnectivity.READY

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Wait for ever once READY was seen: the state never changes."""
        if last_observed_state is grpc.ChannelConnectivity.READY:
            await asyncio.Event().wait()

    async def channel_ready(self) -> None:
        """Return at once."""

    async def close(self, grace: float | None = None) -> None:
        """Cancel the calls that still run after ``grace`` seconds and wait for their handlers."""
        running = [call.task for call in self._calls]
        if running and grace:
            await asyncio.wait(running, timeout=grace)
        for call in tuple(self._calls):
            call.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _kept(self, call: C) -> C:
        self._calls.add(call)
        call.task.add_done_callback(lambda task: self._forget(call, task))
        return call

    def _forget(self, call: _Call, task: asyncio.Task[Any]) -> None:
        self._calls.discard(call)
        if not task.cancelled():
            task.exception()  # seen here, so that a caller who left makes no warning


def _refuse_client_stream(method: str) -> Callable[..., Any]:
    def start(*_: Any, **__: Any) -> Any:
        raise _rpc_error(grpc.StatusCode.UNIMPLEMENTED, f"{method} streams from the client")

    return start


C = TypeVar("C", bound="_Call")


class _Call:
    """One running call: its handler's task, its context, its end."""

    task: asyncio.Task[Any]

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
        self._context = InProcessContext(deadline_s, metadata)

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
            raise _rpc_error(grpc.StatusCode.UNIMPLEMENTED, f"no method {self._method}")
        return handler

    def _check_size(self, message: Any) -> None:
        size = message.ByteSize()
        if size > self._server.max_message_bytes:
            raise _rpc_error(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                f"message of {size} bytes is larger than {self._server.max_message_bytes}",
            )

    def _fault(self, error: BaseException) -> grpc.aio.AioRpcError:
        """Return what a stub raises for what ended the handler."""
        if isinstance(error, grpc.aio.AioRpcError):
            return error
        if isinstance(error, TimeoutError) and self._context.is_expired():
            return _rpc_error(grpc.StatusCode.DEADLINE_EXCEEDED, "deadline exceeded")
        if isinstance(error, _Aborted):
            return _rpc_error(error.code, error.details, error.trailing)
        return _rpc_error(grpc.StatusCode.UNKNOWN, f"unexpected {type(error).__name__}")


class UnaryCall(_Call):
    """A unary call; await it for the response."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.task = asyncio.create_task(self._run())

    def __await__(self) -> Generator[Any, None, Any]:
        return self.task.__await__()

    async def _run(self) -> Any:
        try:
            async with asyncio.timeout(self._timeout_s):
                handler = await self._handler()
                response = await handler.unary_unary(self._request, self._context)
            self._check_size(response)
        except Exception as error:  # noqa: BLE001 - a stub raises one type, whatever the fault
            raise self._fault(error) from None
        return response


class StreamCall(_Call):
    """A server-streaming call; read it with :meth:`read` or ``async for``, never with both.

    The handler runs ahead of its reader by a bounded number of messages.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._buffer: deque[Any] = deque()
        self._has_news = asyncio.Event()
        self._has_space = asyncio.Event()
        self.task = asyncio.create_task(self._run())
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

    async def _run(self) -> None:
        try:
            async with asyncio.timeout(self._timeout_s):
                handler = await self._handler()
                async with contextlib.aclosing(
                    handler.unary_stream(self._request, self._context)
                ) as messages:
                    async for message in messages:
                        self._check_size(message)
                        await self._put(message)
        except Exception as error:  # noqa: BLE001 - a stub raises one type, whatever the fault
            raise self._fault(error) from None

    async def _put(self, message: Any) -> None:
        while len(self._buffer) >= _STREAM_BUFFER_MESSAGES:
            self._has_space.clear()
            await self._has_space.wait()
        self._buffer.append(message)
        self._has_news.set()


class _Aborted(grpc.aio.AbortError):
    """Ends a handler with a status, as ``context.abort`` does on a socket."""

    def __init__(self, code: grpc.StatusCode, details: str, trailing: Pairs) -> None:
        super().__init__(details)
        self.code = code
        self.details = details
        self.trailing = trailing


class InProcessContext(grpc.aio.ServicerContext[Any, Any]):
    """What a servicer sees of its caller."""

    def __init__(self, deadline_s: float | None, metadata: Pairs) -> None:
        self._deadline_s = deadline_s
        self._metadata = metadata
        self.trailing: Pairs = ()

    def is_expired(self) -> bool:
        """Return whether the deadline has passed."""
        return self._deadline_s is not None and time.monotonic() >= self._deadline_s

    def time_remaining(self) -> Any:
        """Return the seconds left; None without a deadline."""
        return None if self._deadline_s is None else max(0.0, self._deadline_s - time.monotonic())

    def invocation_metadata(self) -> Any:
        """Return the caller's metadata."""
        return self._metadata

    def peer(self) -> str:
        """Return the address of callers in the same process."""
        return PEER

    async def abort(
        self, code: grpc.StatusCode, details: str = "", trailing_metadata: Any = ()
    ) -> Any:
        """End the call with a status."""
        raise _Aborted(code, details, (*self.trailing, *tuple(trailing_metadata)))

    async def abort_with_status(self, status: Any) -> Any:
        """End the call with a status that carries details."""
        await self.abort(status.code, status.details, status.trailing_metadata or ())

    def set_trailing_metadata(self, trailing_metadata: Any) -> None:
        """Set the metadata sent at the end."""
        self.trailing = tuple(trailing_metadata)

    async def send_initial_metadata(self, initial_metadata: Any) -> None:
        """Send nothing: callers of the same process read none."""

    async def read(self) -> Any:
        """Refuse: no service of ours reads from a client stream."""
        raise _rpc_error(grpc.StatusCode.UNIMPLEMENTED, "no client streams")

    async def write(self, message: Any) -> None:
        """Refuse: servicers of ours yield their messages."""
        raise _rpc_error(grpc.StatusCode.UNIMPLEMENTED, "yield messages instead")

    def set_code(self, code: grpc.StatusCode) -> None:
        """Refuse: errors are raised as RouterError."""
        raise _rpc_error(grpc.StatusCode.UNIMPLEMENTED, "raise a RouterError instead")

    def set_details(self, details: str) -> None:
        """Refuse: errors are raised as RouterError."""
        raise _rpc_error(grpc.StatusCode.UNIMPLEMENTED, "raise a RouterError instead")

    def set_compression(self, compression: grpc.Compression) -> None:
        """Compress nothing: there is no wire."""

    def disable_next_message_compression(self) -> None:
        """Compress nothing: there is no wire."""

    def peer_identities(self) -> None:
        """Return no identities: there is no TLS."""

    def peer_identity_key(self) -> None:
        """Return no key: there is no TLS."""

    def auth_context(self) -> dict[str, Any]:
        """Return an empty context: there is no TLS."""
        return {}


def _rpc_error(code: grpc.StatusCode, details: str, trailing: Pairs = ()) -> grpc.aio.AioRpcError:
    return grpc.aio.AioRpcError(
        code, grpc.aio.Metadata(), grpc.aio.Metadata(*trailing), details=details
    )
