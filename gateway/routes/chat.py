"""OpenAI Chat Completions: ``/v1/chat/completions``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.routes.surface import Surface
from services.domain.vocab import WireFamily

if TYPE_CHECKING:
    from gateway.action import Actions
    from gateway.requests import Intake
    from gateway.routes.table import Routes
    from gateway.settings import GatewaySettings


def routes(intake: Intake, actions: Actions, settings: GatewaySettings) -> Routes:
    """Return the routes of this dialect."""
    surface = Surface(WireFamily.OPENAI_CHAT, intake, actions, settings)
    return {"/v1/chat/completions": {"POST": surface.post}}
