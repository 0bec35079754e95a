"""Token counts: asked of the provider where that is free, else estimated. Never billed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gateway.errors import error_of
from gateway.ids import new_action_id
from gateway.routes.envelope import document, refusal
from services.domain.errors import RouterError
from services.domain.vocab import WireFamily
from services.domain.wire.gemini import counted_body
from services.domain.wire.model import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aiohttp import web

    from gateway.action import Actions
    from gateway.model import Action
    from gateway.ports import Dispatch
    from gateway.requests import Intake
    from services.domain.wire.model import Address


@dataclass(frozen=True, slots=True)
class _Form:
    """How one dialect asks for a count and is told it."""

    told: Callable[[int], Mapping[str, object]]
    asked: Callable[[bytes], bytes] = bytes
    """Returns the request whose tokens a body asks to count."""


_FORMS: Mapping[WireFamily, _Form] = {
    WireFamily.ANTHROPIC: _Form(lambda count: {"input_tokens": count}),
    WireFamily.OPENAI_RESPONSES: _Form(
        lambda count: {"object": "response.input_tokens", "input_tokens": count}
    ),
    WireFamily.GEMINI: _Form(lambda count: {"totalTokens": count}, counted_body),
}


class CountTokens:
    """Serves the token count of one dialect."""

    def __init__(
        self, family: WireFamily, intake: Intake, actions: Actions, dispatch: Dispatch
    ) -> None:
        self._family = family
        self._form = _FORMS[family]
        self._intake = intake
        self._actions = actions
        self._dispatch = dispatch

    async def post(self, request: web.BaseRequest) -> web.StreamResponse:
        """Count for a request whose body says everything."""
        return await self.count(request)

    async def count(
        self, request: web.BaseRequest, address: Address | None = None
    ) -> web.StreamResponse:
        """Answer with the number of tokens; ``address`` is what the path says."""
        action_id = new_action_id()
        try:
            arrival = await self._intake.arrival(request, self._family, action_id, address)
            asked = self._form.asked(arrival.body)
            action = self._intake.decoded(replace(arrival, body=asked))
        except (RouterError, WireError) as error:
            return refusal(self._family, error_of(error, action_id))
        return document(self._form.told(await self._count(action)))

    async def _count(self, action: Action) -> int:
        """Return dispatch's count, else our estimate; a model that nobody serves is no fault."""
        try:
            where = await self._actions.countable(action)
            counted = await self._dispatch.count_tokens(action, where.record, where.binding)
        except RouterError:
            counted = None
        return counted if counted is not None else action.input_tokens
