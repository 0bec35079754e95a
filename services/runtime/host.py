"""Hosts services: start, health, ops listener, drain, stop.

A :class:`Bundle` is one built service; :func:`serve` runs any subset of them on one gRPC server.
Start order: ops listener (live, not ready), server, health SERVING, ready. On SIGTERM: NOT_SERVING
and not ready at once, a lame-duck period in which calls are still taken, then no new calls and up
to ``drain_seconds`` for the running ones; a second SIGTERM ends the wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import importlib
import pkgutil
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import grpc
import pointsman
from google.protobuf import timestamp_pb2
from grpc_channelz.v1 import channelz
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from pointsman.common.v1 import info_pb2, info_pb2_grpc

from services.domain.errors import Reason, RouterError
from services.runtime import channel, launch
from services.runtime.admission import Admission, is_local
from services.runtime.inprocess import InProcessServer
from services.runtime.interceptors import ServerEdge
from services.runtime.log import get_logger
from services.runtime.ops import OpsListener

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from services.runtime.reloading import Adopt, Watch

VERSION = "0.1.0"
INFO_SERVICE = "pointsman.common.v1.InfoService"

_log = get_logger("host")


@dataclass(frozen=True, slots=True)
class Bundle:
    """One built service: how to attach it to a server, how to start and end it."""

    full_name: str
    """Full service name, such as ``pointsman.dispatch.v1.DispatchService``."""
    attach: Callable[[Any], None]
    """Registers the servicer on a server (real or in-process)."""
    start: Callable[[], Awaitable[None]]
    """Opens stores and background tasks; returns when calls can be served."""
    aclose: Callable[[], Awaitable[None]]
    """Ends background tasks, flushes, closes stores; bounded."""
    allowed_callers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Method path to the callers that may use it."""
    secret_methods: frozenset[str] = frozenset()
    """Method paths whose messages carry key material."""
    max_message_bytes: int = channel.DEFAULT_MAX_MESSAGE_BYTES
    readiness: Callable[[], Mapping[str, bool]] = dict
    """States of what it needs, by name; all true: ready."""
    info: Callable[[], Mapping[str, str]] = dict
    """``catalog_version``, ``config_version`` where it has them."""
    adopt: Adopt | None = None
    """Checks a newer edition and returns what takes it over; None: it uses none."""

    @property
    def short_name(self) -> str:
        """The part's name in settings and logs: ``dispatch``."""
        return self.full_name.split(".")[1]


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How one gRPC server listens and drains. Times in seconds."""

    listen: str
    ops_listen: str
    max_concurrent: int = 0
    lame_duck_s: float = 5.0
    drain_s: float = 660.0
    is_reflection_on: bool = True
    is_plaintext_secret_allowed: bool = False

    @property
    def is_local(self) -> bool:
        """Whether only callers on this machine can reach the server."""
        kind = "ipv6" if self.listen.startswith("[") else "ipv4"
        return self.listen.startswith(("unix:", "localhost:")) or is_local(f"{kind}:{self.listen}")


class Info(info_pb2_grpc.InfoServiceServicer):
    """Serves InfoService for the bundles of one server."""

    def __init__(self, bundles: Sequence[Bundle]) -> None:
        self._bundles = {bundle.full_name: bundle for bundle in bundles}
        self._started = timestamp_pb2.Timestamp()
        self._started.GetCurrentTime()

    async def GetInfo(  # noqa: N802 - name fixed by the proto
        self,
        request: info_pb2.GetInfoRequest,
        context: grpc.aio.ServicerContext[info_pb2.GetInfoRequest, info_pb2.GetInfoResponse],
    ) -> info_pb2.GetInfoResponse:
        """Describe one or all hosted services."""
        names = [request.service] if request.service else sorted(self._bundles)
        if request.service and request.service not in self._bundles:
            raise RouterError(
                Reason.METHOD_NOT_IMPLEMENTED, f"{request.service} is not hosted here"
            )
        return info_pb2.GetInfoResponse(services=[self._describe(name) for name in names])

    def _describe(self, name: str) -> info_pb2.ServiceInfo:
        facts = self._bundles[name].info()
        return info_pb2.ServiceInfo(
            service=name,
            version=VERSION,
            proto_digest=proto_digest(),
            catalog_version=facts.get("catalog_version", ""),
            config_version=facts.get("config_version", ""),
            start_time=self._started,
        )


@functools.cache
def proto_digest() -> str:
    """Return the SHA-256 of the whole contract's descriptors as this build speaks them."""
    names = (found.name for found in pkgutil.walk_packages(pointsman.__path__, "pointsman."))
    modules = [importlib.import_module(name) for name in sorted(names) if name.endswith("_pb2")]
    digest = hashlib.sha256()
    for module in modules:
        digest.update(module.DESCRIPTOR.serialized_pb)
    return digest.hexdigest()


def admission_of(bundles: Sequence[Bundle], server: ServerOptions) -> Admission:
    """Return the admission rules of a server that hosts ``bundles``."""
    return Admission(
        service=bundles[0].short_name if len(bundles) == 1 else "embedded",
        allowed_callers={k: v for bundle in bundles for k, v in bundle.allowed_callers.items()},
        secret_methods=frozenset().union(*(bundle.secret_methods for bundle in bundles)),
        is_plaintext_secret_allowed=server.is_plaintext_secret_allowed,
        max_concurrent=server.max_concurrent,
    )


IN_PROCESS = ServerOptions(listen="", ops_listen="")
"""Options of a server without a listener."""


def in_process(bundle: Bundle, server_options: ServerOptions = IN_PROCESS) -> InProcessServer:
    """Return an in-process server for one bundle, with the same rules as on a socket."""
    rules = admission_of((bundle,), server_options)
    server = InProcessServer([ServerEdge(rules)], bundle.max_message_bytes)
    bundle.attach(server)
    info_pb2_grpc.add_InfoServiceServicer_to_server(Info((bundle,)), server)  # type: ignore[arg-type]  # registers by duck type
    return server


class Server:
    """One gRPC server with health, reflection, channelz (loopback only) and InfoService."""

    def __init__(self, bundles: Sequence[Bundle], server_options: ServerOptions) -> None:
        self._bundles = tuple(bundles)
        self._options = server_options
        self._admission = admission_of(bundles, server_options)
        largest = max(bundle.max_message_bytes for bundle in bundles)
        self._server = grpc.aio.server(
            interceptors=[ServerEdge(self._admission)],
            options=[*channel.options(largest), ("grpc.so_reuseport", 0)],
        )
        self._health = health.aio.HealthServicer()
        self.port = 0

    async def start(self) -> None:
        """Bind, serve and report SERVING.

        Raises:
            OSError: the address cannot be bound; the message names it.
        """
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        info_pb2_grpc.add_InfoServiceServicer_to_server(Info(self._bundles), self._server)
        for bundle in self._bundles:
            bundle.attach(self._server)
        names = [INFO_SERVICE, health.SERVICE_NAME, *(b.full_name for b in self._bundles)]
        if self._options.is_reflection_on:
            reflection.enable_server_reflection([*names, reflection.SERVICE_NAME], self._server)
        if self._options.is_local:
            channelz.add_channelz_servicer(self._server)
        try:
            self.port = self._server.add_insecure_port(self._options.listen)
        except RuntimeError:
            taken = f"cannot listen on {self._options.listen}: address in use"
            raise OSError(f"{taken}; set another listen, or rpc_listen for RouterService") from None
        await self._server.start()
        await self.set_serving(is_serving=True)

    async def set_serving(self, *, is_serving: bool) -> None:
        """Report every hosted service, and the server as a whole, as SERVING or not."""
        kind = health_pb2.HealthCheckResponse
        state = kind.SERVING if is_serving else kind.NOT_SERVING
        for name in ("", *(bundle.full_name for bundle in self._bundles)):
            await self._health.set(name, state)

    async def stop(self, grace_s: float) -> None:
        """Take no new calls, let running ones finish for ``grace_s``, then cancel them."""
        self._admission.drain()
        await self._server.stop(grace_s)


async def serve(
    bundles: Sequence[Bundle], server_options: ServerOptions, watch: Watch | None = None
) -> None:
    """Run ``bundles``, told of newer editions by ``watch``, until SIGTERM or SIGINT; then drain.

    Raises:
        OSError: an address cannot be bound.
    """
    ops = OpsListener(server_options.ops_listen)
    ops.start()
    stop = Stopper()
    try:
        # Signals are heard from the start: one that comes early drains as soon as all of it serves.
        async with stop.listening(), contextlib.AsyncExitStack() as stack:
            for bundle in bundles:
                stack.push_async_callback(bundle.aclose)
                await bundle.start()
            launch.settle()
            server = Server(bundles, server_options)
            await server.start()
            ops.watch(lambda: {k: v for b in bundles for k, v in b.readiness().items()})
            for bundle in bundles:
                _log.info(
                    "serving",
                    service=bundle.short_name,
                    listen=server_options.listen,
                    port=server.port,
                    ops_port=ops.port,
                )
            if watch is not None:
                await stack.enter_async_context(watch.running())
            await _until_drained(server, ops, server_options, stop)
    finally:
        ops.stop()


async def _until_drained(
    server: Server, ops: OpsListener, server_options: ServerOptions, stop: Stopper
) -> None:
    async with ops.measuring_loop_lag():
        await stop.first.wait()
        _log.info("draining", lame_duck_s=server_options.lame_duck_s)
        ops.set_draining()
        await server.set_serving(is_serving=False)
        await stop.wait_or_second(server_options.lame_duck_s)
        grace_s = 0.0 if stop.second.is_set() else server_options.drain_s
        async with asyncio.TaskGroup() as tasks:
            ending = tasks.create_task(server.stop(grace_s))
            hurry = tasks.create_task(stop.second.wait())
            await asyncio.wait({ending, hurry}, return_when=asyncio.FIRST_COMPLETED)
            hurry.cancel()
            if not ending.done():
                await server.stop(0)


class Stopper:
    """Counts the requests to stop: the first begins the drain, the second ends it."""

    def __init__(self) -> None:
        self.first = asyncio.Event()
        self.second = asyncio.Event()

    @contextlib.asynccontextmanager
    async def listening(self) -> Any:
        """Listen to SIGTERM and SIGINT for the length of a block."""
        loop = asyncio.get_running_loop()
        signals = (signal.SIGTERM, signal.SIGINT)
        for number in signals:
            loop.add_signal_handler(number, self.request)
        try:
            yield
        finally:
            for number in signals:
                loop.remove_signal_handler(number)

    def request(self) -> None:
        """Ask to stop."""
        (self.second if self.first.is_set() else self.first).set()

    async def wait_or_second(self, seconds: float) -> None:
        """Return after ``seconds``, or at once on the second request."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.second.wait()
