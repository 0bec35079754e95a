"""Health, readiness and version: without a key, without a word about configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.routes.envelope import document
from services.runtime.host import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aiohttp import web


class Health:
    """Serves the routes that probes and curious people ask."""

    def __init__(self, readiness: Callable[[], Mapping[str, bool]]) -> None:
        self._readiness = readiness

    async def root(self, _: web.BaseRequest) -> web.StreamResponse:
        """Say that a router is here; clients probe this before their first request."""
        return document({"service": "pointsman", "version": VERSION})

    async def health(self, _: web.BaseRequest) -> web.StreamResponse:
        """Say that the process lives."""
        return document({"status": "ok"})

    async def ready(self, _: web.BaseRequest) -> web.StreamResponse:
        """Say whether actions can be served, and what is missing."""
        needs = self._readiness()
        is_ready = all(needs.values())
        states = {name: "up" if is_up else "down" for name, is_up in needs.items()}
        status = "ok" if is_ready else "unhealthy"
        return document({"status": status, "needs": states}, 200 if is_ready else 503)

    async def version(self, _: web.BaseRequest) -> web.StreamResponse:
        """Say which build answers."""
        return document({"version": VERSION})
