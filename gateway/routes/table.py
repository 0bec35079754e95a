"""The table of routes: exact paths, and prefixes whose rest is a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from aiohttp import web

Handler: TypeAlias = "Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]"
Methods: TypeAlias = "Mapping[str, Handler]"
Routes: TypeAlias = "Mapping[str, Methods]"

OTHER = "other"
_LABELS = {
    "/v1/messages": "messages",
    "/v1/messages/count_tokens": "count_tokens",
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/responses/input_tokens": "count_tokens",
    "/v1/models": "models",
    "/v1beta/models": "models",
    "/v1/route": "route",
    "/v1/router/models": "models",
    "/health": "health",
    "/readyz": "health",
    "/v1/version": "health",
    "/": "health",
}
_ADMIN = "/admin/"
MODEL_PATHS = ("/v1/models/", "/v1beta/models/", "/v1/tunedModels/", "/v1beta/tunedModels/")
_ACTION_LABELS = {
    "generateContent": "gemini",
    "streamGenerateContent": "gemini",
    "countTokens": "count_tokens",
}


def merged(*tables: Routes) -> Routes:
    """Return all routes of several tables; they may share a path, each with its own methods."""
    every: dict[str, dict[str, Handler]] = {}
    for table in tables:
        for path, methods in table.items():
            every.setdefault(path, {}).update(methods)
    return every


class RouteTable:
    """Finds the methods of a path."""

    def __init__(self, exact: Routes, prefixes: Routes) -> None:
        self._exact = dict(exact)
        self._prefixes = dict(prefixes)

    def find(self, path: str) -> Methods | None:
        """Return the methods of ``path``; None: it is not there. A slash at the end is ignored."""
        found = self._exact.get(path)
        if found is not None:
            return found
        trimmed = path.rstrip("/")
        if trimmed in self._exact:
            return self._exact[trimmed]
        for prefix, methods in self._prefixes.items():
            if trimmed.startswith(prefix):
                return methods
        return None

    def meant_by(self, path: str) -> str:
        """Return the path that a client of another base address meant; empty: none is known."""
        others = (f"/v1{path}", path.removeprefix("/v1"))
        return next((other for other in others if other != path and self.find(other)), "")


def label_of(path: str) -> str:
    """Return the metric label of a path, from a closed set."""
    known = _LABELS.get(path)
    if known is not None:
        return known
    if path.startswith(_ADMIN):
        return "admin"
    if not path.startswith(MODEL_PATHS):
        return OTHER
    action = path.rpartition(":")[2]
    return _ACTION_LABELS.get(action, "models")
