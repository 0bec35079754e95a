"""OpenAI Responses: ``/v1/responses``, its token count, and what only a store of answers could."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.errors import error_of
from gateway.ids import new_action_id
from gateway.routes.count import CountTokens
from gateway.routes.envelope import refusal
from gateway.routes.surface import Surface
from services.domain.errors import RouterError
from services.domain.vocab import WireFamily
from services.domain.wire.model import ClientError, ErrorKind

if TYPE_CHECKING:
    from aiohttp import web

    from gateway.action import Actions
    from gateway.ports import Dispatch
    from gateway.requests import Intake
    from gateway.routes.table import Routes
    from gateway.settings import GatewaySettings

FAMILY = WireFamily.OPENAI_RESPONSES
PATH = "/v1/responses"


def routes(
    intake: Intake, actions: Actions, dispatch: Dispatch, settings: GatewaySettings
) -> Routes:
    """Return the routes of this dialect."""
    surface = Surface(FAMILY, intake, actions, settings)
    count = CountTokens(FAMILY, intake, actions, dispatch)
    return {
        PATH: {"POST": surface.post},
        f"{PATH}/input_tokens": {"POST": count.post},
    }


def prefixes(intake: Intake) -> Routes:
    """Return the routes that begin a path: those of answers that somebody keeps."""
    stored = Stored(intake).refuse
    return {f"{PATH}/": {"GET": stored, "POST": stored, "DELETE": stored}}


class Stored:
    """Answers for what is kept nowhere here: the router passes answers on and stores none."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake

    async def refuse(self, request: web.BaseRequest) -> web.StreamResponse:
        """Say that there is no such answer; a bad key is told first."""
        request_id = new_action_id()
        try:
            await self._intake.authenticate(request, FAMILY)
        except RouterError as denied:
            return refusal(FAMILY, error_of(denied, request_id))
        error = ClientError(
            kind=ErrorKind.NOT_FOUND,
            message="no such response: the router stores none; send the conversation as input",
            code="response_not_found",
            request_id=request_id,
        )
        return refusal(FAMILY, error)
