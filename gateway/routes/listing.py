"""``GET /v1/router/models``: every model, with what of it can serve the caller now.

The HTTP twin of ``RouterService.ListModels``: the same query, the same answer as canonical JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.router.v1 import router_pb2 as pb

from gateway.codec import watching
from gateway.errors import error_of
from gateway.ids import new_action_id
from gateway.routes.envelope import dialect_of, document, refusal
from services.domain.errors import InvalidRequestError, RouterError
from services.runtime.host import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiohttp import web

    from gateway.explaining.listing import Listing
    from gateway.requests import Intake
    from gateway.routes.table import Routes

PATH = "/v1/router/models"
_FLAGS = {"": False, "false": False, "true": True}


def routes(intake: Intake, listing: Listing) -> Routes:
    """Return the route."""
    return {PATH: {"GET": ListModels(intake, listing).get}}


class ListModels:
    """Lists models over HTTP."""

    def __init__(self, intake: Intake, listing: Listing) -> None:
        self._intake = intake
        self._listing = listing

    async def get(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer with a page of models."""
        surface = dialect_of(request)
        try:
            key, _ = await self._intake.authenticate(request, surface)
            asked = _asked(request.query)
            after, size = watching.page_of(asked)
            page = await self._listing.page(
                key.installation_id, after, size, is_servable_only=asked.is_servable_only
            )
        except RouterError as error:
            return refusal(surface, error_of(error, new_action_id()))
        return document(
            watching.models_document(
                watching.models_response(page.models, page.next_token, page.record, VERSION)
            )
        )


def _asked(query: Mapping[str, str]) -> pb.ListModelsRequest:
    size, servable = query.get("page_size", "0"), query.get("is_servable_only", "")
    if not (size.isascii() and size.isdigit() and len(size) <= 6):
        raise InvalidRequestError.of("page_size", "must be a number from 0 to 999999")
    if servable not in _FLAGS:
        raise InvalidRequestError.of("is_servable_only", "must be true or false")
    return pb.ListModelsRequest(
        page_size=int(size),
        page_token=query.get("page_token", ""),
        is_servable_only=_FLAGS[servable],
    )
