"""Connections of the HTTP server: what is said and logged of bytes that are no HTTP request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from aiohttp import web

from gateway.ids import new_action_id
from gateway.routes.envelope import dialect_of, refusal
from services.domain.wire.model import ClientError, ErrorKind
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_log = get_logger("gateway")

MAX_HEADER_BYTES = 32 * 1024
"""Longest header: brought credentials have up to 16 KiB, some clients describe each turn."""
IDLE_CONNECTION_S = 75.0
"""Longest time without a whole request; over the 60 s after which common balancers let go."""
_INTERNAL_STATUS = 500


class Connections(web.Server):
    """Makes one protocol for every connection."""

    def __init__(
        self,
        serve: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
        *,
        idle_s: float = IDLE_CONNECTION_S,
    ) -> None:
        super().__init__(serve, handler_cancellation=True)
        self._idle_s = idle_s

    def __call__(self) -> web.RequestHandler:
        """Return the protocol of one connection."""
        return _Connection(
            self,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type] # what web.Server passes for no log
            auto_decompress=False,  # bodies are decoded under a limit of our own
            keepalive_timeout=self._idle_s,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )


class _Connection(web.RequestHandler):
    """Refuses what is no HTTP without repeating it: the bytes may be somebody's key."""

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = _INTERNAL_STATUS,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return the refusal; the connection is closed after it.

        ``message`` and ``exc`` quote what was received and go nowhere.

        Raises:
            ConnectionError: another answer has begun.
        """
        cause = type(exc).__name__ if exc is not None else ""
        _log.warning("http_refused", status=status, cause=cause)
        if request.writer.output_size > 0:
            raise ConnectionError("another answer has begun")
        is_ours = status >= _INTERNAL_STATUS
        told = ClientError(
            kind=ErrorKind.INTERNAL if is_ours else ErrorKind.INVALID_REQUEST,
            message="internal error" if is_ours else "this is no HTTP request that can be read",
            code="INTERNAL" if is_ours else "malformed_http",
            request_id=new_action_id(),
            http_status=status,
        )
        response = refusal(dialect_of(request), told)
        response.force_close()
        return response
