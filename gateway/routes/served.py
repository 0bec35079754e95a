"""All routes of the gateway in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.routes import chat, gemini, listing, messages, responses, route
from gateway.routes.admin import Admin
from gateway.routes.health import Health
from gateway.routes.models import Models
from gateway.routes.table import RouteTable, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gateway.action import Actions
    from gateway.explaining.explanations import Explanations
    from gateway.office.desk import Office
    from gateway.ports import Dispatch
    from gateway.requests import Intake
    from gateway.settings import GatewaySettings
    from services.domain.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Served:
    """What the routes pass requests on to."""

    intake: Intake
    actions: Actions
    dispatch: Dispatch
    office: Office
    catalog: Catalog
    explanations: Explanations
    readiness: Callable[[], Mapping[str, bool]]


def table(served: Served, settings: GatewaySettings) -> RouteTable:
    """Return the table."""
    intake, actions, dispatch = served.intake, served.actions, served.dispatch
    explanations = served.explanations
    health = Health(served.readiness)
    models = Models(intake, served.catalog)
    admin = Admin(
        served.office,
        settings.admin_token,
        is_plaintext_secret_allowed=settings.allow_plaintext_secrets,
    )
    return RouteTable(
        exact={
            **messages.routes(intake, actions, dispatch, settings),
            **chat.routes(intake, actions, settings),
            **responses.routes(intake, actions, dispatch, settings),
            **route.routes(intake, explanations.explainer),
            **listing.routes(intake, explanations.listing),
            **models.routes,
            "/": {"GET": health.root},
            "/health": {"GET": health.health},
            "/readyz": {"GET": health.ready},
            "/v1/version": {"GET": health.version},
        },
        prefixes=merged(
            models.prefixes,
            gemini.prefixes(intake, actions, dispatch, settings),
            responses.prefixes(intake),
            admin.prefixes,
        ),
    )
