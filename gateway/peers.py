"""The services that a gateway needs, by its strategy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model.decision import Strategy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.settings import RoutingSettings

PEERS: Mapping[Strategy, tuple[str, ...]] = {
    Strategy.REQUESTED: ("credentials", "dispatch"),
    Strategy.CLUSTER: ("scorer", "planner", "handover", "credentials", "dispatch"),
}
"""The services that each strategy needs, by short name."""
SHADOW_PEERS = ("scorer", "planner")
"""Those that a shadow asks besides; nothing waits for them."""
SOFT_PEERS = frozenset({"handover"})
"""Services without which a gateway is ready all the same."""


def peers_of(routing: RoutingSettings) -> tuple[str, ...]:
    """Return the services that a gateway of these settings asks, by short name."""
    needed = PEERS[routing.strategy]
    return (*SHADOW_PEERS, *needed) if routing.shadow else needed
