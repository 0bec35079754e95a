"""The gateway's gRPC server: RouterService with health, reflection and InfoService."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.router.v1 import router_pb2_grpc as rpc

from gateway.rpc.servicer import RouterServicer
from services.runtime.host import Bundle, Server, ServerOptions
from services.runtime.log import get_logger

if TYPE_CHECKING:
    import asyncio

    import grpc

    from gateway.rpc.servicer import Parts

_log = get_logger("gateway")

FULL_NAME = "pointsman.router.v1.RouterService"
ENVELOPE_BYTES = 1024 * 1024
"""What a message may hold besides the body of a request."""


def router_bundle(parts: Parts) -> Bundle:
    """Return RouterService; it owns nothing that has to be started or closed."""

    def attach(server: grpc.aio.Server) -> None:
        rpc.add_RouterServiceServicer_to_server(RouterServicer(parts), server)

    async def nothing() -> None:
        """Do nothing."""

    return Bundle(
        full_name=FULL_NAME,
        attach=attach,
        start=nothing,
        aclose=nothing,
        max_message_bytes=parts.intake.max_body_bytes + ENVELOPE_BYTES,
        info=lambda: parts.explanations().versions,
    )


class RpcServer:
    """Listens on one address; nowhere where that is empty."""

    def __init__(self, bundle: Bundle, gate: asyncio.Event, listen: str) -> None:
        self.bundle = bundle
        self._gate = gate
        self._listen = listen
        self._server: Server | None = None

    @property
    def port(self) -> int:
        """The port it listens on; 0: it does not."""
        return self._server.port if self._server is not None else 0

    async def start(self) -> None:
        """Listen; calls wait until :meth:`open`.

        Raises:
            OSError: the address cannot be bound; the message names it.
        """
        if not self._listen:
            return
        server = Server((self.bundle,), ServerOptions(listen=self._listen, ops_listen=""))
        await server.start()
        self._server = server

    def open(self) -> None:
        """Answer calls, those first that came since :meth:`start`."""
        self._gate.set()
        if self._server is not None:
            _log.info("router_serving", service="router", listen=self._listen, port=self.port)

    async def stop_serving(self) -> None:
        """Say that it is about to end; calls are still taken."""
        if self._server is not None:
            await self._server.set_serving(is_serving=False)

    async def stop(self, grace_s: float) -> None:
        """Take no more calls, end every watch, and let running calls end for ``grace_s``."""
        if self._server is not None:
            server, self._server = self._server, None
            await server.stop(grace_s)
