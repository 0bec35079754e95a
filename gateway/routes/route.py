"""``POST /v1/route``: what would serve a body now, and why. Nothing is sent or remembered.

The body is that of any routed surface; ``?surface=`` names which where it does not show.
``?model=`` names the model that stands in the path of a Gemini request. ``?pin=MODEL@PROVIDER``
assumes a session that is pinned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from gateway.codec.explanation import explanation
from gateway.codec.router import assumed_pin, route_decision
from gateway.errors import error_of
from gateway.identity import presented_of
from gateway.ids import new_action_id
from gateway.requests import Arrival
from gateway.routes.envelope import document, refusal
from services.domain.errors import InvalidRequestError, RouterError
from services.domain.vocab import WireFamily
from services.domain.wire.model import Address, WireError
from services.runtime.host import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiohttp import web

    from gateway.explaining.explainer import Explainer
    from gateway.model.explained import AssumedPin
    from gateway.requests import Intake
    from gateway.routes.table import Routes

PATH = "/v1/route"
_SURFACES = {family.value: family for family in WireFamily}
_OWN_MEMBERS = (("contents", WireFamily.GEMINI), ("input", WireFamily.OPENAI_RESPONSES))
_CHAT_MARKS = frozenset(
    {"max_completion_tokens", "stream_options", "response_format", "reasoning_effort", "n", "stop"}
)
_CHAT_ROLES = frozenset({"system", "developer", "tool"})


def routes(intake: Intake, explainer: Explainer) -> Routes:
    """Return the route."""
    return {PATH: {"POST": Route(intake, explainer).post}}


class Route:
    """Explains decisions over HTTP."""

    def __init__(self, intake: Intake, explainer: Explainer) -> None:
        self._intake = intake
        self._explainer = explainer

    async def post(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer with the decision on a body."""
        action_id = new_action_id()
        surface = WireFamily.ANTHROPIC
        try:
            key, headers = await self._intake.authenticate(request, surface)
            started_s = self._intake.clock.monotonic_s()
            body = await self._intake.body(request)
            surface = _asked_surface(request.query) or surface_of(body)
            pin = _pin_of(request.query)
            presented = presented_of(headers, surface)
            is_addressed = surface is WireFamily.GEMINI
            address = Address(request.query.get("model", "")) if is_addressed else None
            arrival = Arrival(action_id, surface, key, headers, body, started_s, presented, address)
            explained = await self._explainer.explain(self._intake.decoded(arrival), pin)
        except (RouterError, WireError) as error:
            return refusal(surface, error_of(error, action_id))
        return document(explanation(route_decision(explained, VERSION, wants_explanation=True)))


def surface_of(body: bytes) -> WireFamily:
    """Return the dialect that a body seems to be written in; Messages where both could be."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return WireFamily.ANTHROPIC
    if not isinstance(found, dict):
        return WireFamily.ANTHROPIC
    for member, family in _OWN_MEMBERS:
        if member in found and "messages" not in found:
            return family
    if "system" in found:
        return WireFamily.ANTHROPIC
    messages = found.get("messages")
    roles = {
        message.get("role")
        for message in (messages if isinstance(messages, list) else ())
        if isinstance(message, dict) and isinstance(message.get("role"), str)
    }
    is_chat = _CHAT_MARKS & found.keys() or _CHAT_ROLES & roles or "max_tokens" not in found
    return WireFamily.OPENAI_CHAT if is_chat else WireFamily.ANTHROPIC


def _asked_surface(query: Mapping[str, str]) -> WireFamily | None:
    name = query.get("surface", "")
    if not name:
        return None
    family = _SURFACES.get(name)
    if family is None:
        raise InvalidRequestError.of("surface", f"must be {' or '.join(_SURFACES)}")
    return family


def _pin_of(query: Mapping[str, str]) -> AssumedPin | None:
    text = query.get("pin", "")
    if not text:
        return None
    model_id, _, provider = text.rpartition("@")
    if not (model_id and provider):
        raise InvalidRequestError.of("pin", "must be MODEL@PROVIDER")
    return assumed_pin(model_id, provider)
