"""Builds the gateway: the only place that picks its concrete parts."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from gateway.action import Actions, Peers
from gateway.adapters.credentials import CredentialsClient
from gateway.adapters.dispatch import DispatchClient
from gateway.adapters.ledger import SqlLedgerStore
from gateway.adapters.probe import PeerProbe
from gateway.adapters.store import SqlKeyStore
from gateway.app import HttpServer
from gateway.auth import KeyRing
from gateway.eligibility import Policy
from gateway.first_key import FirstKey, ensure_first_key
from gateway.ledger.book import Book
from gateway.ledger.journal import Journal
from gateway.requests import Intake
from gateway.routes import chat, messages
from gateway.routes.health import Health
from gateway.routes.models import PREFIX, Models
from gateway.routes.table import RouteTable
from services.runtime.config import ConfigError
from services.runtime.database import is_sqlite, sqlite_path
from services.runtime.providers import providers_of
from services.runtime.schema import hint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gateway.ports import Background, Credentials, Dispatch, KeyStore, Ledger
    from gateway.settings import GatewaySettings, RoutingSettings
    from services.domain.catalog import Catalog
    from services.runtime.channel import ChannelTo
    from services.runtime.clock import Clock
    from services.runtime.settings import CommonSettings

LEDGER_FOLDER = "~/.pointsman/ledger"
_CUT_S = 2.0
"""Time for cut answers to end with an error frame."""


class Gateway:
    """The HTTP edge, built and not yet started."""

    def __init__(
        self,
        settings: GatewaySettings,
        policy: Policy,
        catalog: Catalog,
        clock: Clock,
        *,
        store: KeyStore,
        ledger: Ledger,
        credentials: Credentials,
        dispatch: Dispatch,
        background: Sequence[Background] = (),
        probes: Sequence[PeerProbe] = (),
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._store = store
        self._ledger = ledger
        self._background = (*background, *probes)
        self._probes = tuple(probes)
        self._is_started = False
        self.first_key: FirstKey | None = None
        """A router key made by :meth:`start`; None: there was one."""
        keys = KeyRing(store, clock)
        intake = Intake(keys, clock, settings.max_body_bytes)
        self._actions = Actions(
            Peers(credentials, dispatch),
            policy,
            catalog,
            clock,
            ledger=ledger,
            budget_s=settings.action_budget_seconds,
        )
        health = Health(self.readiness)
        models = Models(intake, catalog)
        self._server = HttpServer(
            RouteTable(
                exact={
                    **messages.routes(intake, self._actions, dispatch, settings),
                    **chat.routes(intake, self._actions, settings),
                    "/v1/models": {"GET": models.list},
                    "/": {"GET": health.root},
                    "/health": {"GET": health.health},
                    "/readyz": {"GET": health.ready},
                    "/v1/version": {"GET": health.version},
                },
                prefixes={PREFIX: {"GET": models.one}},
            )
        )

    @property
    def port(self) -> int:
        """The port it listens on, once started."""
        return self._server.port

    async def start(self) -> None:
        """Open the store, listen, see that there is a key and watch credentials.

        Raises:
            DatabaseError: the store cannot be used.
            OSError: the address cannot be bound; the message names it.
        """
        await self._store.start()
        # Listen first: a start that fails for its address must not have used up the first key.
        # Answer last: a token that is looked up before its key is stored is refused for a minute.
        await self._server.start(self._settings.listen)
        await self._ledger.start()
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

    def readiness(self) -> Mapping[str, bool]:
        """Return the states of what it needs, by name."""
        own = {"gateway": self._is_started and not self._server.is_draining}
        return {**own, **{probe.name: probe.is_up for probe in self._probes}}

    async def drain(self, lame_duck_s: float, drain_s: float) -> None:
        """Be not ready, listen on for ``lame_duck_s``, then let running actions end.

        Those that still run after ``drain_s`` are cut with an error frame in their dialect.
        """
        self._server.is_draining = True
        await asyncio.sleep(lame_duck_s)
        await self._server.stop_listening()
        if not await self._server.wait_idle(drain_s):
            await self._cut()

    async def aclose(self) -> None:
        """End what still runs and close the store; bounded."""
        await self._server.stop_listening()
        await self._cut()
        await self._server.aclose()
        for each in self._background:
            await each.aclose()
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
    peers = {name: channel_to(name) for name in ("credentials", "dispatch")}
    credentials = CredentialsClient(peers["credentials"], clock)
    return Gateway(
        settings,
        policy_of(routing, common, catalog),
        catalog,
        clock,
        store=open_key_store(settings, clock),
        ledger=open_ledger(settings, catalog, clock),
        credentials=credentials,
        dispatch=DispatchClient(peers["dispatch"]),
        background=(credentials,),
        probes=[PeerProbe(name, channel, clock) for name, channel in peers.items()],
    )


def open_key_store(settings: GatewaySettings, clock: Clock) -> SqlKeyStore:
    """Return the store of router keys, not yet started."""
    return SqlKeyStore(settings.database, clock)


def open_ledger(settings: GatewaySettings, catalog: Catalog, clock: Clock) -> Book:
    """Return the ledger, not yet started."""
    journal = Journal(journal_folder(settings), max_bytes=settings.ledger_journal_max_bytes)
    return Book(SqlLedgerStore(settings.database), journal, catalog, clock)


def journal_folder(settings: GatewaySettings) -> Path:
    """Return the folder of the ledger's journal."""
    if settings.ledger_journal:
        return Path(settings.ledger_journal).expanduser()
    file = sqlite_path(settings.database) if is_sqlite(settings.database) else None
    return file.with_suffix(".ledger") if file is not None else Path(LEDGER_FOLDER).expanduser()


def policy_of(routing: RoutingSettings, common: CommonSettings, catalog: Catalog) -> Policy:
    """Return what the deployment fixes for every action.

    Raises:
        ConfigError: a list of the operator names a model or a provider that is not there.
    """
    known = sorted(providers_of(common))
    for index, provider in enumerate(routing.excluded_providers):
        if provider not in known:
            fix = hint(provider, known)
            raise ConfigError(
                f"routing.excluded_providers.{index}: no provider {provider!r}; {fix}"
            )
    digest = hashlib.sha256(
        orjson.dumps(routing.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)
    )
    return Policy(
        config_version=digest.hexdigest()[:16],
        configured_providers=_configured(common),
        known_providers=tuple(known),
        excluded_models=_excluded_models(routing, catalog),
        excluded_providers=frozenset(routing.excluded_providers),
        closed_to_presented=frozenset(
            name for name, provider in common.providers.items() if not provider.takes_presented
        ),
        override_reason=routing.override_reason
        if routing.excluded_models or routing.excluded_providers
        else "",
    )


def _excluded_models(routing: RoutingSettings, catalog: Catalog) -> frozenset[str]:
    """Return the catalog ids that the operator excludes."""
    excluded: set[str] = set()
    for index, name in enumerate(routing.excluded_models):
        model = catalog.resolve(name)
        if model is None:
            fix = hint(name, catalog.models)
            raise ConfigError(f"routing.excluded_models.{index}: no model {name!r}; {fix}")
        excluded.add(model.id)
    return frozenset(excluded)


def _configured(common: CommonSettings) -> tuple[str, ...]:
    """Return the providers that have a key, need none, or have a pool credential."""
    known = providers_of(common)
    keyed = {
        name
        for name, provider in common.providers.items()
        if provider.api_key.get_secret_value() or not known[name].is_vendor
    }
    pooled = {row.provider for row in common.credentials if row.enabled}
    return tuple(sorted(keyed | pooled))
