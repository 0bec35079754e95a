"""Channels to the services: in-process, Unix socket and TCP behind one interface.

:func:`connect` opens a real channel; ``services.runtime.inprocess`` has the one without a socket.
Every :class:`Channel` adds the allow-listed metadata and the caller's name to each call, and cuts
its timeout to what the running call has left.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

import grpc

from services.runtime import context as call_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.runtime.inprocess import InProcessTransport

    # grpc's aio types are incomplete for custom channels: messages are Any in this module.
    Pairs = tuple[tuple[str, str | bytes], ...]

ChannelTo: TypeAlias = "Callable[[str], Channel]"
"""Gives the channel to a service by its short name, such as ``dispatch``."""

DEFAULT_MAX_MESSAGE_BYTES = 256 * 1024
"""Largest message where no service says otherwise."""


def options(max_message_bytes: int) -> list[tuple[str, int | str]]:
    """Return the options that client and server share for messages up to that size."""
    return [
        ("grpc.max_receive_message_length", max_message_bytes),
        ("grpc.max_send_message_length", max_message_bytes),
        ("grpc.keepalive_time_ms", 30_000),
        # Of any ping; a peer that is frozen or cut off is noticed by nothing else.
        ("grpc.http2.ping_timeout_ms", 15_000),
        ("grpc.http2.min_ping_interval_without_data_ms", 20_000),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 20_000),
    ]


def connect(
    target: str,
    *,
    caller: str,
    service: str,
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
    credentials: grpc.ChannelCredentials | None = None,
) -> Channel:
    """Return a channel to ``target`` (``unix:``, ``dns:///``, ``xds:///``) for one service.

    ``service`` is a full name: calls go by round robin to replicas whose health entry for it is
    SERVING.
    """
    config = {
        "loadBalancingConfig": [{"round_robin": {}}],
        "healthCheckConfig": {"serviceName": service},
    }
    opts = [
        *options(max_message_bytes),
        ("grpc.service_config", json.dumps(config)),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 1_000),
    ]
    if credentials is None:
        return Channel(grpc.aio.insecure_channel(target, options=opts), caller)
    return Channel(grpc.aio.secure_channel(target, credentials, options=opts), caller)


class Channel(grpc.aio.Channel):
    """A channel that adds our metadata to each call; what generated stubs are made with."""

    def __init__(self, inner: grpc.aio.Channel | InProcessTransport, caller: str) -> None:
        self._inner = inner
        self._caller = caller

    def unary_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Return the callable of a unary method."""
        return self._tagged(self._inner.unary_unary(method, *args, **kwargs))

    def unary_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Return the callable of a server-streaming method.

        A reader that leaves before the end must cancel the call: on a socket nothing else ends it
        before its deadline.
        """
        return self._tagged(self._inner.unary_stream(method, *args, **kwargs))

    def stream_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Return the callable of a client-streaming method."""
        return self._tagged(self._inner.stream_unary(method, *args, **kwargs))

    def stream_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Return the callable of a bidirectional method."""
        return self._tagged(self._inner.stream_stream(method, *args, **kwargs))

    def _tagged(self, call: Callable[..., Any]) -> Callable[..., Any]:
        caller = self._caller

        def start(
            request: Any, *, timeout: float | None = None, metadata: Pairs = (), **kwargs: Any
        ) -> Any:
            pairs = (*call_context.outgoing(caller), *metadata)
            left_s = call_context.timeout_of_hop(timeout)
            return call(request, timeout=left_s, metadata=pairs, **kwargs)

        return start

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """Return the state of the connection."""
        return self._inner.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Return once the state is another one."""
        await self._inner.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Return once calls can be made; never for a peer that stays away."""
        await self._inner.channel_ready()

    async def close(self, grace: float | None = None) -> None:
        """Close the channel; calls that run are cancelled after ``grace`` seconds."""
        await self._inner.close(grace)

    async def aclose(self) -> None:
        """Close the channel; calls that run are cancelled."""
        await self.close()

    async def __aenter__(self) -> Channel:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
