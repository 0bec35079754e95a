"""Token counts: asked of the provider where that is free, else estimated. Never billed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.errors import error_of, unreadable
from gateway.requests import new_action_id
from gateway.routes.envelope import document, refusal
from services.domain.errors import RouterError
from services.domain.wire.model import WireError

if TYPE_CHECKING:
    from aiohttp import web

    from gateway.action import Actions
    from gateway.model import Action
    from gateway.ports import Dispatch
    from gateway.requests import Intake
    from services.domain.vocab import WireFamily


class CountTokens:
    """Serves the token count of one dialect."""

    def __init__(
        self, family: WireFamily, intake: Intake, actions: Actions, dispatch: Dispatch
    ) -> None:
        self._family = family
        self._intake = intake
        self._actions = actions
        self._dispatch = dispatch

    async def post(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer with ``{"input_tokens": n}``."""
        action_id = new_action_id()
        try:
            action = await self._intake.action(request, self._family, action_id)
        except RouterError as error:
            return refusal(self._family, action_id, error_of(error, action_id))
        except WireError as error:
            return refusal(self._family, action_id, unreadable(error, action_id))
        return document({"input_tokens": await self._count(action)})

    async def _count(self, action: Action) -> int:
        """Return dispatch's count, else our estimate; a model that nobody serves is no fault."""
        try:
            where = await self._actions.countable(action)
            counted = await self._dispatch.count_tokens(action, where.record, where.binding)
        except RouterError:
            counted = None
        return counted if counted is not None else action.input_tokens
