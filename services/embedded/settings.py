"""The whole configuration: every table that the product knows."""

from __future__ import annotations

from gateway.settings import GatewaySettings, RoutingSettings
from services.credentials.settings import CredentialsSettings
from services.dispatch.settings import DispatchSettings
from services.handover.settings import HandoverSettings
from services.planner.settings import PlannerSettings
from services.runtime.settings import CommonSettings, Section
from services.scorer.settings import ScorerSettings


class PartsSettings(Section):
    """The tables ``[services.<name>]``."""

    scorer: ScorerSettings = ScorerSettings()
    planner: PlannerSettings = PlannerSettings()
    handover: HandoverSettings = HandoverSettings()
    credentials: CredentialsSettings = CredentialsSettings()
    dispatch: DispatchSettings = DispatchSettings()


class Settings(CommonSettings):
    """All tables of the file."""

    gateway: GatewaySettings = GatewaySettings()
    routing: RoutingSettings = RoutingSettings()
    services: PartsSettings = PartsSettings()
