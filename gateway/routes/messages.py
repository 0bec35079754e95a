"""Anthropic Messages: ``/v1/messages`` and its token count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.routes.count import CountTokens
from gateway.routes.surface import Surface
from services.domain.vocab import WireFamily

if TYPE_CHECKING:
    from gateway.action import Actions
    from gateway.ports import Dispatch
    from gateway.requests import Intake
    from gateway.routes.table import Routes
    from gateway.settings import GatewaySettings


def routes(
    intake: Intake, actions: Actions, dispatch: Dispatch, settings: GatewaySettings
) -> Routes:
    """Return the routes of this dialect; the query (``?beta=true``) is accepted and ignored."""
    surface = Surface(WireFamily.ANTHROPIC, intake, actions, settings)
    count = CountTokens(WireFamily.ANTHROPIC, intake, actions, dispatch)
    return {
        "/v1/messages": {"POST": surface.post},
        "/v1/messages/count_tokens": {"POST": count.post},
    }
