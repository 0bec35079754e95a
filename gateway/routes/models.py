"""The model list, from the catalog, in the shape that the caller's client knows."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from gateway.errors import error_of
from gateway.ids import new_action_id
from gateway.routes import model_shapes
from gateway.routes.envelope import dialect_of, document, refusal
from gateway.turns import client_of
from gateway.turns.marks import CODEX
from services.domain.errors import Reason, RouterError
from services.domain.vocab import WireFamily

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aiohttp import web

    from gateway.requests import Intake
    from gateway.routes.table import Routes
    from services.domain.catalog import Catalog, Model

PATHS = ("/v1/models", "/v1beta/models")

_ONE: Mapping[WireFamily, Callable[[Model], Mapping[str, object]]] = {
    WireFamily.ANTHROPIC: model_shapes.anthropic,
    WireFamily.GEMINI: model_shapes.gemini,
}


class Models:
    """Serves the catalog's models."""

    def __init__(self, intake: Intake, catalog: Catalog) -> None:
        self._intake = intake
        self._catalog = catalog

    @property
    def routes(self) -> Routes:
        """The lists."""
        return {path: {"GET": self.list} for path in PATHS}

    @property
    def prefixes(self) -> Routes:
        """The models, whose names end the path."""
        return {f"{path}/": {"GET": self.one} for path in PATHS}

    async def list(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer with every model; a Gemini client may ask page by page."""
        surface = dialect_of(request)
        try:
            await self._intake.authenticate(request, surface)
            return document(self._listed(request, surface))
        except RouterError as error:
            return refusal(surface, error_of(error, new_action_id()))

    async def one(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer with one model; ids may hold slashes."""
        surface = dialect_of(request)
        try:
            await self._intake.authenticate(request, surface)
            model = self._named(unquote(request.rel_url.raw_path).partition("/models/")[2])
        except RouterError as error:
            return refusal(surface, error_of(error, new_action_id()))
        return document(_ONE.get(surface, model_shapes.openai)(model))

    def _listed(self, request: web.BaseRequest, surface: WireFamily) -> Mapping[str, object]:
        models = tuple(self._catalog.models.values())
        if client_of(request.headers, surface).app == CODEX:
            return {"models": []}
        if surface is WireFamily.ANTHROPIC:
            return model_shapes.anthropic_list(models)
        if surface is WireFamily.GEMINI:
            size, token = request.query.get("pageSize", ""), request.query.get("pageToken", "")
            return model_shapes.gemini_page(models, size, token)
        return model_shapes.openai_list(models)

    def _named(self, name: str) -> Model:
        model = self._catalog.resolve(name)
        if model is not None:
            return model
        near = ", ".join(self._catalog.nearest(name))
        hint = f"; did you mean {near}?" if near else ""
        raise RouterError(Reason.MODEL_NOT_FOUND, f"no model {name[:100]!r}{hint}")
