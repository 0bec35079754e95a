"""Builds the gateway: the only place that picks its concrete parts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gateway.adapters.credentials import CredentialsClient
from gateway.adapters.dispatch import DispatchClient
from gateway.adapters.handover import HandoverClient
from gateway.adapters.planner import PlannerClient
from gateway.adapters.pool import PoolClient
from gateway.adapters.probe import PeerProbe
from gateway.adapters.scorer import ScorerClient
from gateway.app import HttpServer
from gateway.auth import KeyRing
from gateway.decider import Sources
from gateway.exclusions import Exclusions, Resting
from gateway.first_key import FirstKey, ensure_first_key
from gateway.model.decision import Strategy
from gateway.office.desk import office_of
from gateway.office.keys import KeyDesk
from gateway.office.ledger import LedgerDesk
from gateway.peers import PEERS, SOFT_PEERS, peers_of
from gateway.policy import policy_of
from gateway.requests import Intake
from gateway.rescues import DEFAULT_RULES
from gateway.serving import Deciding, Renewed, Serving
from gateway.showing import rehearsals_of, showing_of
from gateway.stores import open_key_store, open_ledger, open_sessions
from services.runtime.config import ConfigError
from services.runtime.log import get_logger
from services.runtime.reloading import Edition

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gateway.ledger.ports import Ledger
    from gateway.office.ports import Pool
    from gateway.ports import Background, Dispatch, KeyStore
    from gateway.remembering import Remembering
    from gateway.rescues import RescueRules
    from gateway.settings import GatewaySettings, RoutingSettings
    from gateway.showing import Showing
    from services.domain.catalog import Catalog
    from services.runtime.channel import Channel, ChannelTo
    from services.runtime.clock import Clock
    from services.runtime.reloading import TakeOver
    from services.runtime.settings import CommonSettings

    Renew = Callable[[Edition[CommonSettings], RoutingSettings], Renewed]

_log = get_logger("gateway")
_CUT_S = 2.0
"""Time for cut answers to end with an error frame."""


class Gateway:
    """The HTTP edge, built and not yet started."""

    def __init__(
        self,
        settings: GatewaySettings,
        sources: Sources,
        *,
        store: KeyStore,
        ledger: Ledger,
        dispatch: Dispatch,
        remembering: Remembering,
        showing: Showing,
        background: Sequence[Background] = (),
        probes: Sequence[PeerProbe] = (),
        deciding: Deciding | None = None,
        rescues: RescueRules = DEFAULT_RULES,
        pool: Pool | None = None,
        exclusions: Exclusions | None = None,
        renewed: Renew | None = None,
    ) -> None:
        clock = sources.clock
        self._settings = settings
        self._clock = clock
        self._store = store
        self._ledger = ledger
        self._exclusions = exclusions
        more = [each for each in (showing.shadow, exclusions) if each is not None]
        self._background = (*background, *probes, *more)
        self._probes = tuple(probes)
        self._is_started = False
        self.first_key: FirstKey | None = None
        """A router key made by :meth:`start`; None: there was one."""
        keys = KeyRing(store, clock)
        intake = Intake(
            keys,
            clock,
            settings.max_body_bytes,
            settings.in_band_commands,
            settings.overflow_style,
        )
        self._remembering = remembering
        self._serving = Serving(
            settings,
            intake,
            ledger,
            office_of(KeyDesk(store, clock, keys.forget), LedgerDesk(ledger), pool, exclusions),
            dispatch,
            deciding,
            remembering.sessions,
            rescues,
            showing.watchers,
            self.readiness,
        )
        self._renewed = renewed
        self._actions = self._serving.actions(sources)
        self._rpc = showing.rpc_server(intake)
        self._server = HttpServer(
            self._serving.table(self._actions, sources.catalog, showing.explanations)
        )
        if exclusions is not None:
            exclusions.on_change = self._readopt

    def adopt(self, edition: Edition[CommonSettings], routing: RoutingSettings) -> TakeOver:
        """Return what makes later requests use an edition; those that run keep theirs.

        Raises:
            ConfigError: the settings name what is not there.
        """
        if self._renewed is None:
            raise ConfigError("this gateway keeps the configuration that it began with")
        newer, catalog = self._renewed(edition, routing), edition.catalog
        serving = self._serving.under(routing)
        actions = serving.actions(newer.sources)
        table = serving.table(actions, catalog, newer.explanations)

        def take_over() -> None:
            self._serving = serving
            self._actions = actions
            self._server.use(table)
            newer.take_over()

        return take_over

    def _readopt(self, edition: Edition[CommonSettings], routing: RoutingSettings) -> None:
        """Use the same edition under another list of excluded models."""
        self.adopt(edition, routing)()
        _log.info("automatic_exclusions_changed")

    @property
    def port(self) -> int:
        """The port it listens on, once started."""
        return self._server.port

    @property
    def rpc_port(self) -> int:
        """The port of RouterService, once started; 0: it is not served."""
        return self._rpc.port

    async def start(self) -> None:
        """Open the store, listen, see that there is a key and watch credentials.

        Raises:
            DatabaseError: the store cannot be used.
            OSError: the address cannot be bound; the message names it.
        """
        await self._store.start()
        if self._exclusions is not None:
            await self._exclusions.refresh()
        # Listen first: a start that fails for its address must not have used up the first key.
        # Answer last: a token that is looked up before its key is stored is refused for a minute.
        await self._server.start(self._settings.listen)
        await self._rpc.start()
        await self._ledger.start()
        await self._remembering.start()
        installation_id = await self._store.default_installation()
        self.first_key = await ensure_first_key(
            self._store,
            installation_id,
            self._clock,
            bootstrap_key=self._settings.bootstrap_key.get_secret_value(),
            database=self._settings.database,
        )
        for each in self._background:
            each.start()
        self._is_started = True
        self._server.open()
        self._rpc.open()

    def readiness(self) -> Mapping[str, bool]:
        """Return the states of what it needs, by name."""
        own = {"gateway": self._is_started and not self._server.is_draining}
        return {**own, **{probe.name: probe.is_up for probe in self._probes if probe.is_needed}}

    async def drain(self, lame_duck_s: float, drain_s: float) -> None:
        """Be not ready, listen on for ``lame_duck_s``, then let running actions end.

        Those that still run after ``drain_s`` are cut with an error frame in their dialect.
        """
        self._server.is_draining = True
        await self._rpc.stop_serving()
        await asyncio.sleep(lame_duck_s)
        await self._server.stop_listening()
        await self._rpc.stop(min(drain_s, _CUT_S))
        if not await self._server.wait_idle(drain_s):
            await self._cut()

    async def aclose(self) -> None:
        """End what still runs and close the store; bounded."""
        await self._rpc.stop(0.0)
        await self._server.stop_listening()
        await self._cut()
        await self._server.aclose()
        for each in self._background:
            await each.aclose()
        await self._remembering.aclose()
        await self._ledger.aclose()
        await self._store.aclose()

    async def _cut(self) -> None:
        self._actions.end_running()
        await self._server.wait_idle(_CUT_S)


def build(
    settings: GatewaySettings,
    routing: RoutingSettings,
    common: CommonSettings,
    *,
    catalog: Catalog,
    clock: Clock,
    channel_to: ChannelTo,
) -> Gateway:
    """Return the gateway, not yet started; nothing is opened here."""
    peers = {name: channel_to(name) for name in peers_of(routing)}
    needed = frozenset(PEERS[routing.strategy])
    credentials = CredentialsClient(peers["credentials"], clock)
    store = open_key_store(settings, clock)
    policy = policy_of(routing, common, catalog)
    exclusions = Exclusions(store, clock, Resting(Edition(common, catalog), routing, policy))
    if routing.is_sub_agent_pair_halved:
        _log.warning("sub_agent_pin_ignored", fix="set sub_agent_model and sub_agent_provider both")
    sources = Sources(credentials, policy, catalog, clock)
    showing = showing_of(sources, settings, routing, peers)
    ledger = open_ledger(settings, catalog, clock, showing.feed.settled)

    def renewed(edition: Edition[CommonSettings], asked: RoutingSettings) -> Renewed:
        newer = edition.catalog
        own = policy_of(asked, edition.settings, newer, exclusions.stored)
        others = Sources(credentials, own, newer, clock)
        rehearsal_of, shadow_of = rehearsals_of(others, asked, peers)
        explanations = showing.on(others, rehearsal_of)

        def take_over() -> None:
            ledger.use(newer)
            exclusions.rest_on(Resting(edition, asked, own))
            showing.use(explanations, shadow_of)

        return Renewed(others, explanations, take_over)

    return Gateway(
        settings,
        sources,
        store=store,
        ledger=ledger,
        dispatch=DispatchClient(peers["dispatch"], credentials.give_back),
        remembering=open_sessions(settings, clock),
        showing=showing,
        background=(credentials,),
        probes=[
            PeerProbe(name, channel, clock, is_needed=name in needed - SOFT_PEERS)
            for name, channel in peers.items()
        ],
        deciding=_deciding(routing, peers),
        rescues=routing.rescue_rules,
        pool=PoolClient(peers["credentials"]),
        exclusions=exclusions,
        renewed=renewed,
    )


def _deciding(routing: RoutingSettings, peers: Mapping[str, Channel]) -> Deciding | None:
    """Return what the strategy needs besides; None: the client names the model."""
    if routing.strategy is Strategy.REQUESTED:
        return None
    return Deciding(
        scorer=ScorerClient(peers["scorer"], routing.strategy.value),
        planner=PlannerClient(peers["planner"]),
        handover=HandoverClient(peers["handover"]),
        rules=routing.rules,
    )
