"""The model list, from the catalog, in the shape that the caller's client knows."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from gateway.errors import error_of
from gateway.requests import new_action_id
from gateway.routes.envelope import dialect_of, document, refusal
from gateway.turns import client_of
from gateway.turns.marks import CODEX
from services.domain.errors import Reason, RouterError
from services.domain.vocab import WireFamily

if TYPE_CHECKING:
    from aiohttp import web

    from gateway.requests import Intake
    from services.domain.catalog import Catalog, Model

PREFIX = "/v1/models/"
_CREATED = "1970-01-01T00:00:00Z"


class Models:
    """Serves the catalog's models."""

    def __init__(self, intake: Intake, catalog: Catalog) -> None:
        self._intake = intake
        self._catalog = catalog

    async def list(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer with every model."""
        surface = dialect_of(request)
        denied = await self._denied(request, surface)
        if denied is not None:
            return denied
        models = list(self._catalog.models.values())
        if client_of(request.headers, surface).app == CODEX:
            return document({"models": []})
        if surface is WireFamily.ANTHROPIC:
            rows = [_anthropic(model) for model in models]
            return document(
                {
                    "data": rows,
                    "has_more": False,
                    "first_id": models[0].id if models else None,
                    "last_id": models[-1].id if models else None,
                }
            )
        return document({"object": "list", "data": [_openai(model) for model in models]})

    async def one(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer with one model; ids may hold slashes."""
        surface = dialect_of(request)
        denied = await self._denied(request, surface)
        if denied is not None:
            return denied
        name = unquote(request.rel_url.raw_path.removeprefix(PREFIX))
        model = self._catalog.resolve(name)
        if model is None:
            near = ", ".join(self._catalog.nearest(name))
            hint = f"; did you mean {near}?" if near else ""
            error = RouterError(Reason.MODEL_NOT_FOUND, f"no model {name[:100]!r}{hint}")
            request_id = new_action_id()
            return refusal(surface, request_id, error_of(error, request_id))
        return document(_anthropic(model) if surface is WireFamily.ANTHROPIC else _openai(model))

    async def _denied(
        self, request: web.BaseRequest, surface: WireFamily
    ) -> web.StreamResponse | None:
        try:
            await self._intake.authenticate(request, surface)
        except RouterError as error:
            request_id = new_action_id()
            return refusal(surface, request_id, error_of(error, request_id))
        return None


def _anthropic(model: Model) -> dict[str, object]:
    return {"type": "model", "id": model.id, "display_name": model.id, "created_at": _CREATED}


def _openai(model: Model) -> dict[str, object]:
    owner = model.bindings[0].provider
    return {"id": model.id, "object": "model", "created": 0, "owned_by": owner}
