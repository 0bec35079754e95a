"""The HTTP server: finds the route, answers what no route answers, counts, drains."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from aiohttp import web

from gateway import metrics
from gateway.connections import IDLE_CONNECTION_S, Connections
from gateway.ids import new_action_id
from gateway.routes.envelope import dialect_of, refusal, unknown_route, wrong_method
from gateway.routes.table import label_of
from gateway.settings import host_and_port
from services.domain.wire.model import ClientError, ErrorKind
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from gateway.routes.table import RouteTable

_log = get_logger("gateway")

BACKLOG = 4096
"""Connections that wait to be taken. With 128, a thousand that came within ten seconds met a busy
moment, and the kernel reset some."""
_CLOSING_S = 2.0
"""Time for connections to close once nothing runs on them."""


class HttpServer:
    """Serves a table of routes on one address."""

    def __init__(self, table: RouteTable, *, idle_s: float = IDLE_CONNECTION_S) -> None:
        self._table = table
        self._idle_s = idle_s
        self._runner: web.ServerRunner | None = None
        self._site: web.TCPSite | None = None
        self._in_flight = 0
        self._is_idle = asyncio.Event()
        self._is_open = asyncio.Event()
        self.is_draining = False
        self.port = 0

    async def start(self, listen: str) -> None:
        """Listen; port 0 takes a free one. Requests wait until :meth:`open`.

        Raises:
            OSError: the address cannot be bound; the message names it.
        """
        connections = Connections(self._serve, idle_s=self._idle_s)
        self._runner = web.ServerRunner(connections, shutdown_timeout=_CLOSING_S)
        await self._runner.setup()
        host, port = host_and_port(listen)
        site = web.TCPSite(self._runner, host, port, reuse_address=True, backlog=BACKLOG)
        try:
            await site.start()
        except OSError as error:
            raise OSError(
                f"cannot listen on {listen}: {error.strerror}; set another [gateway] listen"
            ) from None
        self._site = site
        self.port = self._runner.addresses[0][1]

    def use(self, table: RouteTable) -> None:
        """Serve later requests by another table; those that run go on as they began."""
        self._table = table

    def open(self) -> None:
        """Answer requests, those first that came since :meth:`start`."""
        self._is_open.set()

    async def stop_listening(self) -> None:
        """Take no new connections; running requests go on."""
        self.is_draining = True
        if self._site is not None:
            await self._site.stop()
            self._site = None

    async def wait_idle(self, timeout_s: float) -> bool:
        """Return whether nothing runs any more, at the latest after ``timeout_s``."""
        self._is_idle.clear()
        if not self._in_flight:
            return True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._is_idle.wait()
        return not self._in_flight

    async def aclose(self) -> None:
        """Close every connection."""
        await self.stop_listening()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        self._in_flight += 1
        status = 0
        try:
            if not self._is_open.is_set():
                await self._is_open.wait()
            response = await self._answer(request)
            status = response.status
            if self.is_draining and not response.prepared:
                response.force_close()
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._is_idle.set()
            surface, code = label_of(request.path), metrics.code_label(status)
            metrics.HTTP_REQUESTS.labels(surface, code).inc()
        return response

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        methods = self._table.find(request.path)
        if methods is None:
            return unknown_route(request, self._table.meant_by(request.path))
        handler = methods.get("GET" if request.method == "HEAD" else request.method)
        if handler is None:
            return wrong_method(request, methods)
        try:
            return await handler(request)
        except Exception as error:  # noqa: BLE001 - the outermost host: every defect becomes a 500
            return self._defect(request, error)

    def _defect(self, request: web.BaseRequest, error: Exception) -> web.StreamResponse:
        """Answer for an unforeseen fault; the log has its cause, the client has not."""
        request_id = new_action_id()
        _log.error("http_defect", path=label_of(request.path), action_id=request_id, exc_info=error)
        told = ClientError(
            kind=ErrorKind.INTERNAL,
            message="internal error; the router's log has the cause",
            code="INTERNAL",
            request_id=request_id,
        )
        return refusal(dialect_of(request), told)
