"""Builds the planner from its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.planner.v1 import planner_pb2_grpc as rpc

from services.planner.server import PlannerServicer
from services.runtime.host import Bundle
from services.runtime.reloading import Current

if TYPE_CHECKING:
    import grpc

    from services.domain.catalog import Catalog
    from services.planner.settings import PlannerSettings
    from services.runtime.channel import ChannelTo
    from services.runtime.clock import Clock
    from services.runtime.settings import CommonSettings

FULL_NAME = "pointsman.planner.v1.PlannerService"
CALLERS = frozenset({"gateway"})
"""Who may always call."""


def build(
    settings: PlannerSettings,
    common: CommonSettings,
    *,
    catalog: Catalog,
    clock: Clock,
    channel_to: ChannelTo,
) -> Bundle:
    """Return the service. It needs no clock and no peer, keeps no store, and is always ready."""
    current = Current(catalog)
    servicer = PlannerServicer(settings.rules, current)

    def attach(server: grpc.aio.Server) -> None:
        rpc.add_PlannerServiceServicer_to_server(servicer, server)

    return Bundle(
        full_name=FULL_NAME,
        attach=attach,
        start=_nothing,
        aclose=_nothing,
        allowed_callers={f"/{FULL_NAME}/PlanAction": CALLERS.union(settings.callers)},
        info=lambda: {"catalog_version": current.version},
        adopt=current.adopt,
    )


async def _nothing() -> None:
    """Start and end without doing anything: nothing is held between calls."""
