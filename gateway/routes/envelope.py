"""Answers of routes that are not actions: JSON documents, and errors in the fitting dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from aiohttp import web

from gateway.answering.headers import JSON_TYPE, SERVER, error_headers
from gateway.ids import new_action_id
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.errors import status_of
from services.domain.wire.model import ClientError, ErrorKind

if TYPE_CHECKING:
    from collections.abc import Collection

_OF_PATHS = (
    ("/v1/messages", WireFamily.ANTHROPIC),
    ("/v1/chat/", WireFamily.OPENAI_CHAT),
    ("/v1/responses", WireFamily.OPENAI_RESPONSES),
    ("/v1beta", WireFamily.GEMINI),
    ("/v1/tunedModels", WireFamily.GEMINI),
)
_OF_HEADERS = (
    ("anthropic-version", WireFamily.ANTHROPIC),
    ("x-goog-api-key", WireFamily.GEMINI),
)
_MODELS = "/v1/models/"


def dialect_of(request: web.BaseRequest) -> WireFamily:
    """Return the dialect in which a caller of any route expects errors."""
    path = request.path
    for start, family in _OF_PATHS:
        if path.startswith(start):
            return family
    if request.method == "POST" and path.startswith(_MODELS):
        return WireFamily.GEMINI
    for name, family in _OF_HEADERS:
        if name in request.headers:
            return family
    return WireFamily.OPENAI_CHAT


def document(value: object, status: int = 200) -> web.Response:
    """Return a JSON answer."""
    headers = {"server": SERVER, "content-type": JSON_TYPE}
    return web.Response(status=status, headers=headers, body=orjson.dumps(value))


def refusal(surface: WireFamily, error: ClientError) -> web.Response:
    """Return an error answer in the dialect of ``surface``."""
    headers = dict(error_headers(surface, error))
    body = codec_for(surface).encode_error(error)
    return web.Response(status=status_of(error, surface), headers=headers, body=body)


def unknown_route(request: web.BaseRequest, meant: str = "") -> web.Response:
    """Return the answer for a path that is not there; ``meant`` is one that is."""
    hint = f": its base address should lead this client to {meant[:200]}" if meant else ""
    error = ClientError(
        kind=ErrorKind.NOT_FOUND,
        message=f"no route {request.path[:200]}{hint}",
        code="route_not_found",
        request_id=new_action_id(),
    )
    return refusal(dialect_of(request), error)


def wrong_method(request: web.BaseRequest, allowed: Collection[str]) -> web.Response:
    """Return the answer for a method that a path does not take."""
    methods = ", ".join(sorted(allowed))
    error = ClientError(
        kind=ErrorKind.INVALID_REQUEST,
        message=f"{request.method[:20]} is not allowed on {request.path[:200]}: use {methods}",
        code="method_not_allowed",
        request_id=new_action_id(),
        http_status=405,
    )
    answer = refusal(dialect_of(request), error)
    answer.headers["allow"] = methods
    return answer
