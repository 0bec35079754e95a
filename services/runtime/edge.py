"""Hosts the HTTP edge, alone or on top of services of the same process: start, drain, stop."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from services.runtime import launch
from services.runtime.host import Server, ServerOptions, Stopper
from services.runtime.log import get_logger
from services.runtime.ops import OpsListener

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from services.runtime.host import Bundle
    from services.runtime.reloading import Watch

_log = get_logger("host")


class Edge(Protocol):
    """A gateway that was built and not yet started."""

    @property
    def port(self) -> int:
        """The port it listens on, once started."""
        ...

    async def start(self) -> None:
        """Open the stores and listen.

        Raises:
            OSError: the address cannot be bound; the message names it.
        """
        ...

    async def drain(self, lame_duck_s: float, drain_s: float) -> None:
        """Return when nothing is in flight any more, at the latest after both times."""
        ...

    async def aclose(self) -> None:
        """End what still runs and close the stores; bounded."""
        ...

    def readiness(self) -> Mapping[str, bool]:
        """Return the states of what it needs, by name."""
        ...


@dataclass(frozen=True, slots=True)
class EdgeOptions:
    """How the process around an edge listens and drains. Times in seconds."""

    ops_listen: str
    lame_duck_s: float
    drain_s: float


@dataclass(frozen=True, slots=True)
class Listening:
    """What is bound: the edge's port and the ops listener's."""

    port: int
    ops_port: int


async def serve_edge(
    edge: Edge,
    options: EdgeOptions,
    *,
    bundles: Sequence[Bundle] = (),
    sockets: Sequence[tuple[Bundle, ServerOptions]] = (),
    announce: Callable[[Listening], Awaitable[None]] | None = None,
    watch: Watch | None = None,
) -> None:
    """Run ``edge`` above ``bundles`` until SIGTERM or SIGINT, then drain and close everything.

    The bundles are reached in process; those in ``sockets`` listen on an address besides.
    ``announce`` is called once all of it serves; ``watch`` brings newer editions.

    Raises:
        OSError: an address cannot be bound.
    """
    ops = OpsListener(options.ops_listen)
    ops.start()
    stop = Stopper()
    servers: list[Server] = []
    try:
        # Signals are heard from the start: one that comes early drains as soon as all of it serves.
        async with stop.listening(), contextlib.AsyncExitStack() as stack:
            for bundle in bundles:
                stack.push_async_callback(bundle.aclose)
                await bundle.start()
            for bundle, server_options in sockets:
                server = Server((bundle,), server_options)
                stack.push_async_callback(server.stop, 0.0)
                await server.start()
                servers.append(server)
            stack.push_async_callback(edge.aclose)
            launch.settle()
            await edge.start()
            ops.watch(lambda: _states(edge, bundles))
            _log.info("serving", service="gateway", port=edge.port, ops_port=ops.port)
            if announce is not None:
                await announce(Listening(edge.port, ops.port))
            if watch is not None:
                await stack.enter_async_context(watch.running())
            async with ops.measuring_loop_lag():
                await stop.first.wait()
                ops.set_draining()
                for server in servers:
                    await server.set_serving(is_serving=False)
                await _drained(edge, options, stop)
    finally:
        ops.stop()


def _states(edge: Edge, bundles: Sequence[Bundle]) -> dict[str, bool]:
    states = dict(edge.readiness())
    for bundle in bundles:
        states.update(bundle.readiness())
    return states


async def _drained(edge: Edge, options: EdgeOptions, stop: Stopper) -> None:
    """Return when the edge is idle, its time is over, or a second signal came."""
    _log.info("draining", lame_duck_s=options.lame_duck_s, drain_s=options.drain_s)
    ending = asyncio.ensure_future(edge.drain(options.lame_duck_s, options.drain_s))
    hurry = asyncio.ensure_future(stop.second.wait())
    await asyncio.wait({ending, hurry}, return_when=asyncio.FIRST_COMPLETED)
    for task in (ending, hurry):
        task.cancel()
    await asyncio.gather(ending, hurry, return_exceptions=True)
