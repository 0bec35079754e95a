"""Runs the whole product in one process: services called directly, the gateway on top."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import gateway.build
from gateway.peers import peers_of
from gateway.settings import is_loopback
from services.embedded import finding, staged, welcome
from services.embedded.sandbox import catalog as sandbox_catalog
from services.embedded.sandbox.server import Sandbox
from services.embedded.settings import Settings
from services.runtime import host, launch, log, parts
from services.runtime.catalog import load_catalog
from services.runtime.clock import SystemClock
from services.runtime.config import ConfigError, read_document
from services.runtime.edge import EdgeOptions, Listening, serve_edge
from services.runtime.providers import BASE_URLS, providers_of
from services.runtime.reloading import Edition

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from services.domain.catalog import Catalog
    from services.runtime.channel import Channel, ChannelTo
    from services.runtime.config import Document
    from services.runtime.host import Bundle
    from services.runtime.inprocess import InProcessServer
    from services.runtime.reloading import TakeOver
    from services.runtime.settings import ServiceSettings

DRAIN_S = 10.0
LAME_DUCK_S = 0.0
"""Where the configuration says nothing: nobody balances load over a laptop."""


def main(file: Path | None = None) -> int:
    """Run everything until it is asked to stop and return the exit code."""

    async def run() -> None:
        document = read_document(file)
        settings = document.section(Settings)
        with document.naming_sources():
            providers_of(settings)
        log.configure(settings.log.level, settings.log.format)
        await run_embedded(document, settings)

    return launch.run(run)


async def run_embedded(document: Document, settings: Settings) -> None:
    """Run everything until SIGTERM or SIGINT.

    Raises:
        ConfigError: the configuration is unusable.
        OSError: an address cannot be bound.
        StartError: a store cannot be used.
    """
    async with contextlib.AsyncExitStack() as stack:
        is_sandboxed = wants_sandbox(settings)
        sandbox = Sandbox() if is_sandboxed else None
        if sandbox is not None:
            stack.push_async_callback(sandbox.aclose)
            await sandbox.start()
            settings = with_sandbox(settings, sandbox.url)
        catalog = catalog_of(document, settings, is_sandboxed=is_sandboxed)
        with document.naming_sources():
            stage = Stage(settings, catalog)
            sockets = [
                (bundle, parts.server_options(bundle.short_name, own))
                for bundle, own in zip(stage.bundles, stage.settings, strict=True)
                if own.listen
            ]

        async def announce(listening: Listening) -> None:
            welcome.write(
                settings,
                catalog,
                listening,
                first_key=stage.edge.first_key,
                is_sandboxed=is_sandboxed,
            )
            own = settings.gateway
            for database in (own.database, settings.services.credentials.database):
                stack.enter_context(finding.marked(own, database, listening.port))

        await serve_edge(
            stage.edge,
            edge_options(settings),
            bundles=stage.bundles,
            sockets=sockets,
            announce=announce,
            watch=parts.watch_of(
                document,
                Edition(settings, catalog),
                [*(bundle.adopt for bundle in stage.bundles), stage.adopt],
                read=lambda newer: _read_again(newer, sandbox),
                models=sandbox_documents(is_sandboxed=is_sandboxed),
            ),
        )


class Stage:
    """All parts, built and joined by in-process channels; nothing runs yet."""

    def __init__(self, settings: Settings, catalog: Catalog) -> None:
        self._servers: dict[str, InProcessServer] = {}
        clock = SystemClock()
        built: list[tuple[Bundle, ServiceSettings]] = []
        wanted = peers_of(settings.routing)
        for name in (each for each in staged.ORDER if each in wanted):
            part = staged.part(name, settings)
            bundle = part.build(catalog=catalog, clock=clock, channel_to=self._channels(name))
            self._servers[name] = host.in_process(bundle)
            built.append((bundle, part.settings))
        self.bundles = tuple(bundle for bundle, _ in built)
        self.settings = tuple(own for _, own in built)
        self.edge = gateway.build.build(
            settings.gateway,
            settings.routing,
            settings,
            catalog=catalog,
            clock=clock,
            channel_to=self._channels("gateway"),
        )

    def adopt(self, edition: Edition[Settings]) -> TakeOver:
        """Return what makes the gateway use an edition.

        Raises:
            ConfigError: it names what is not there.
        """
        return self.edge.adopt(edition, edition.settings.routing)

    def _channels(self, caller: str) -> ChannelTo:
        def channel_to(name: str) -> Channel:
            return self._servers[name].channel(caller)

        return channel_to


def _read_again(document: Document, sandbox: Sandbox | None) -> Settings:
    """Return the settings of a configuration that changed.

    Raises:
        ConfigError: it is unusable, or the sandbox would have to come or go.
    """
    settings = document.section(Settings)
    if wants_sandbox(settings) != (sandbox is not None):
        what = "goes" if sandbox is not None else "comes"
        raise ConfigError(f"providers: the sandbox {what} with a restart only")
    return settings if sandbox is None else with_sandbox(settings, sandbox.url)


def with_sandbox(settings: Settings, url: str) -> Settings:
    """Return the settings with the sandbox at ``url`` among the providers."""
    added = sandbox_catalog.providers(url)
    return settings.model_copy(update={"providers": {**settings.providers, **added}})


def catalog_of(document: Document, settings: Settings, *, is_sandboxed: bool) -> Catalog:
    """Return the catalog, with the models of the sandbox where that runs.

    Raises:
        ConfigError: a file of the configuration is unusable.
    """
    extra = sandbox_documents(is_sandboxed=is_sandboxed)
    known = providers_of(settings)
    return load_catalog(settings.catalog, document.base, extra, providers=known)


def sandbox_documents(*, is_sandboxed: bool) -> tuple[Mapping[str, object], ...]:
    """Return the models of the sandbox, where that runs."""
    return (sandbox_catalog.document(),) if is_sandboxed else ()


def wants_sandbox(settings: Settings) -> bool:
    """Return whether nothing can serve and only this machine could ask."""
    has_key = any(p.api_key.get_secret_value() for p in settings.providers.values())
    has_custom = any(name not in BASE_URLS for name in settings.providers)
    is_configured = has_key or has_custom or bool(settings.credentials)
    return is_loopback(settings.gateway.listen) and not is_configured


def edge_options(settings: Settings) -> EdgeOptions:
    """Return how the process listens and drains."""
    own, named = settings.gateway, settings.gateway.model_fields_set
    return EdgeOptions(
        ops_listen=own.ops_listen,
        lame_duck_s=own.lame_duck_seconds if "lame_duck_seconds" in named else LAME_DUCK_S,
        drain_s=own.drain_seconds if "drain_seconds" in named else DRAIN_S,
    )
