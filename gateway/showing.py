"""What explains decisions and shows them as they happen, put together from its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.adapters.explaining import PreviewClient, Recording, Rehearsed, Silent
from gateway.decider import Decider
from gateway.eligibility.records import Records
from gateway.explaining.explainer import Explainer
from gateway.explaining.explanations import Explanations
from gateway.explaining.listing import Listing
from gateway.explaining.shadow import Shadow
from gateway.feed import Feed
from gateway.model.decision import Strategy
from gateway.routing import Routing
from gateway.rpc.callers import Callers
from gateway.rpc.server import RpcServer, router_bundle
from gateway.rpc.servicer import Parts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.decider import Sources
    from gateway.explaining.ports import Previews, RehearsalOf, Watchers
    from gateway.model.explained import AssumedPin
    from gateway.requests import Intake
    from gateway.settings import GatewaySettings, RoutingSettings
    from services.runtime.channel import Channel


class Showing:
    """Explains decisions over HTTP and gRPC, and streams those that are made."""

    def __init__(
        self,
        sources: Sources,
        settings: GatewaySettings,
        strategy: Strategy,
        rehearsal_of: RehearsalOf,
        previews: Previews,
        shadow_of: RehearsalOf | None = None,
    ) -> None:
        self.feed = Feed(sources.catalog, sources.clock, strategy.value)
        self.shadow: Shadow | None = None
        """Decides once more what was decided; None: nothing does."""
        if shadow_of is not None:
            name = Strategy.CLUSTER.value
            self.shadow = Shadow(self.feed, shadow_of, sources.catalog, sources.clock, name)
        self._settings = settings
        self._strategy = strategy
        self._previews = previews
        self.explanations = self.on(sources, rehearsal_of)

    def on(self, sources: Sources, rehearsal_of: RehearsalOf) -> Explanations:
        """Return what explains decisions on other sources, for :meth:`use`."""
        catalog, clock, strategy = sources.catalog, sources.clock, self._strategy.value
        return Explanations(
            Explainer(rehearsal_of, self._previews, catalog, clock, strategy, self.shadow),
            Listing(sources.credentials, Records(sources.policy, catalog), catalog, clock),
            {"catalog_version": catalog.version, "config_version": sources.policy.config_version},
        )

    def use(self, explanations: Explanations, shadow_of: RehearsalOf | None) -> None:
        """Make readers, the shadow and later calls use them; calls that run keep theirs."""
        catalog = explanations.listing.catalog
        self.explanations = explanations
        self.feed.use(catalog)
        if self.shadow is not None and shadow_of is not None:
            self.shadow.use(shadow_of, catalog)

    @property
    def watchers(self) -> Watchers:
        """Who hears of decisions."""
        return self.shadow or self.feed

    def rpc_server(self, intake: Intake) -> RpcServer:
        """Return RouterService on its port, not yet listening."""
        settings = self._settings
        parts = Parts(
            intake=intake,
            callers=Callers(intake.keys, settings.admin_token.get_secret_value()),
            explanations=lambda: self.explanations,
            feed=self.feed,
        )
        return RpcServer(router_bundle(parts), parts.gate, settings.rpc_listen)


def showing_of(
    sources: Sources,
    settings: GatewaySettings,
    routing: RoutingSettings,
    peers: Mapping[str, Channel],
) -> Showing:
    """Return what explains and shows the decisions of a strategy."""
    rehearsal_of, shadow_of = rehearsals_of(sources, routing, peers)
    previews = PreviewClient(peers["credentials"])
    return Showing(sources, settings, routing.strategy, rehearsal_of, previews, shadow_of)


def rehearsals_of(
    sources: Sources, routing: RoutingSettings, peers: Mapping[str, Channel]
) -> tuple[RehearsalOf, RehearsalOf | None]:
    """Return what decides as the strategy does, and as its shadow; None: it has none."""
    of_strategy = _scored if routing.strategy is Strategy.CLUSTER else _requested
    shadow_of = _shadow(sources, routing, peers) if routing.shadow else None
    return of_strategy(sources, routing, peers), shadow_of


def _shadow(
    sources: Sources, routing: RoutingSettings, peers: Mapping[str, Channel]
) -> RehearsalOf:
    as_other = routing.model_copy(update={"strategy": Strategy.CLUSTER, "shadow": ""})
    return _scored(sources, as_other, peers, is_shadow=True)


def _requested(
    sources: Sources, routing: RoutingSettings, peers: Mapping[str, Channel]
) -> RehearsalOf:
    rehearsed = Rehearsed(Decider(sources, rescues=routing.rescue_rules), Silent())
    return lambda _: rehearsed


def _scored(
    sources: Sources,
    routing: RoutingSettings,
    peers: Mapping[str, Channel],
    *,
    is_shadow: bool = False,
) -> RehearsalOf:
    strategy = routing.strategy.value

    def rehearsal_of(pin: AssumedPin | None) -> Rehearsed:
        recorder = Recording(peers["scorer"], peers["planner"], strategy, pin, is_shadow=is_shadow)
        decided = Routing(recorder, recorder, sources.catalog, sources.clock, routing.rules)
        return Rehearsed(Decider(sources, decided, routing.rescue_rules), recorder)

    return rehearsal_of
