"""Gemini: actions named in the path, ``/v1beta/models/MODEL:ACTION`` and the same under ``/v1``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from gateway.answering.arrays import ArrayReply
from gateway.answering.stream import HttpReply
from gateway.routes.count import CountTokens
from gateway.routes.envelope import unknown_route
from gateway.routes.surface import Surface
from gateway.routes.table import MODEL_PATHS
from services.domain.vocab import WireFamily
from services.domain.wire.model import Address

if TYPE_CHECKING:
    from aiohttp import web

    from gateway.action import Actions
    from gateway.ports import Dispatch
    from gateway.requests import Intake
    from gateway.routes.table import Routes
    from gateway.settings import GatewaySettings

FAMILY = WireFamily.GEMINI
_VERSIONS = ("/v1beta/", "/v1/")


class Asked(NamedTuple):
    """What a path asks of which model."""

    model: str
    action: str


def asked_of(raw_path: str) -> Asked | None:
    """Return what a path as it was sent asks for; None where it names no model or no action.

    The action stands behind the last colon, since names of models may hold colons and slashes.
    """
    path = unquote(raw_path)
    version = next((each for each in _VERSIONS if path.startswith(each)), "")
    name, _, action = path.removeprefix(version).rpartition(":")
    model = name.removeprefix("models/").strip("/")
    return Asked(model, action) if model and model != "tunedModels" else None


def prefixes(
    intake: Intake, actions: Actions, dispatch: Dispatch, settings: GatewaySettings
) -> Routes:
    """Return the routes of this dialect; all begin a path."""
    gemini = Gemini(
        Surface(FAMILY, intake, actions, settings), CountTokens(FAMILY, intake, actions, dispatch)
    )
    return {prefix: {"POST": gemini.post} for prefix in MODEL_PATHS}


class Gemini:
    """Serves the actions of models."""

    def __init__(self, surface: Surface, count: CountTokens) -> None:
        self._surface = surface
        self._count = count

    async def post(self, request: web.BaseRequest) -> web.StreamResponse:
        """Serve what the path asks for."""
        asked = asked_of(request.rel_url.raw_path)
        match asked:
            case Asked(model, "generateContent"):
                return await self._surface.serve(request, Address(model))
            case Asked(model, "streamGenerateContent"):
                is_sse = request.query.get("alt", "").lower() == "sse"
                reply_of = HttpReply if is_sse else ArrayReply
                return await self._surface.serve(request, Address(model, is_stream=True), reply_of)
            case Asked(model, "countTokens"):
                return await self._count.count(request, Address(model))
            case _:
                return unknown_route(request)
