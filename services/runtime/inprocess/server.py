"""The server without a socket and the transport of its channels."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

import grpc

from services.runtime.channel import DEFAULT_MAX_MESSAGE_BYTES, Channel
from services.runtime.inprocess.calls import Call
from services.runtime.inprocess.context import rpc_error
from services.runtime.inprocess.stream import StreamCall
from services.runtime.inprocess.unary import UnaryCall

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    # grpc's aio types are incomplete for custom channels: messages are Any in this module.
    Handler = Any
    Pairs = tuple[tuple[str, str | bytes], ...]

C = TypeVar("C", bound=Call)


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
        self.ready: dict[str, Handler] = {}
        """Handlers behind all interceptors, of the methods that were called before."""
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
        handler = await self._intercepted(method, metadata)
        if handler is not None:
            self.ready[method] = handler
        return handler

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
        self._calls: set[Call] = set()

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
        ends = [call.end for call in self._calls]
        if ends and grace:
            await asyncio.wait(ends, timeout=grace)
        for call in tuple(self._calls):
            call.cancel()
        await asyncio.gather(*ends, return_exceptions=True)

    def _kept(self, call: C) -> C:
        self._calls.add(call)
        call.on_end(self._calls.discard)
        return call


def _refuse_client_stream(method: str) -> Callable[..., Any]:
    def start(*_: Any, **__: Any) -> Any:
        raise rpc_error(grpc.StatusCode.UNIMPLEMENTED, f"{method} streams from the client")

    return start
