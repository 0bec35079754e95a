"""Serves a bundle over each transport, so that one suite proves them equal.

A contract test asks for the fixtures ``transport`` (one run per transport) and ``serve``::

    async def test_it_answers(serve: Serve) -> None:
        served = await serve(bundle)
        stub = planner_pb2_grpc.PlannerServiceStub(served.channel("gateway"))

or uses :func:`serving` for a server of its own.
"""

from __future__ import annotations

import contextlib
import enum
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from services.runtime import channel, host
from services.runtime.channel import Channel

STOP_SECONDS = 1.0


class Transport(enum.StrEnum):
    """How a caller reaches a service."""

    IN_PROCESS = "inprocess"
    UNIX = "unix"
    TCP = "tcp"


@dataclass(frozen=True, slots=True)
class Served:
    """A bundle that is being served."""

    bundle: host.Bundle
    transport: Transport
    target: str
    """What a channel of one's own dials; empty in process."""
    open_channel: Callable[[str], Channel]
    server: host.Server | None = None
    """The real server; None in process."""

    def channel(self, caller: str = "gateway") -> Channel:
        """Return a channel on which `caller` calls; closed with the server."""
        return self.open_channel(caller)


class Serve(Protocol):
    """Serves a bundle for the length of a test."""

    async def __call__(
        self, bundle: host.Bundle, options: host.ServerOptions | None = None
    ) -> Served: ...


LOCAL = host.ServerOptions(listen="127.0.0.1:0", ops_listen="127.0.0.1:0", drain_s=STOP_SECONDS)


@contextlib.asynccontextmanager
async def serving(
    bundle: host.Bundle, transport: Transport, options: host.ServerOptions = LOCAL
) -> AsyncIterator[Served]:
    """Start `bundle`, serve it, and close server, channels and bundle at the end."""
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(bundle.aclose)
        await bundle.start()
        if transport is Transport.IN_PROCESS:
            yield _in_process(bundle, options, stack)
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pm"))
            yield await _on_socket(bundle, transport, options, stack, Path(folder))


def _in_process(
    bundle: host.Bundle, options: host.ServerOptions, stack: contextlib.AsyncExitStack
) -> Served:
    server = host.in_process(bundle, options)

    def open_channel(caller: str) -> Channel:
        opened = server.channel(caller)
        stack.push_async_callback(opened.aclose)
        return opened

    return Served(bundle, Transport.IN_PROCESS, "", open_channel)


async def _on_socket(
    bundle: host.Bundle,
    transport: Transport,
    options: host.ServerOptions,
    stack: contextlib.AsyncExitStack,
    folder: Path,
) -> Served:
    if transport is Transport.UNIX:
        options = replace(options, listen=f"unix:{folder / 's'}")
    server = host.Server((bundle,), options)
    await server.start()
    stack.push_async_callback(server.stop, STOP_SECONDS)
    tcp_target = f"dns:///127.0.0.1:{server.port}"
    target = options.listen if transport is Transport.UNIX else tcp_target

    def open_channel(caller: str) -> Channel:
        opened = channel.connect(
            target,
            caller=caller,
            service=bundle.full_name,
            max_message_bytes=bundle.max_message_bytes,
        )
        stack.push_async_callback(opened.aclose)
        return opened

    return Served(bundle, transport, target, open_channel, server)
