"""Runs the gateway alone; the services are reached at their targets."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import gateway.build
from gateway.settings import GatewaySettings, RoutingSettings
from services.embedded import finding
from services.runtime import launch, log
from services.runtime.catalog import load_catalog
from services.runtime.clock import SystemClock
from services.runtime.config import read_document
from services.runtime.edge import EdgeOptions, serve_edge
from services.runtime.parts import TABLES_OF_PARTS, Peers, watch_of
from services.runtime.providers import providers_of
from services.runtime.reloading import Edition
from services.runtime.settings import CommonSettings

if TYPE_CHECKING:
    from pathlib import Path

    from services.runtime.config import Document
    from services.runtime.edge import Listening

ENVELOPE_BYTES = 1024 * 1024
"""What a message may hold besides the body of a request."""


class EdgeSettings(CommonSettings):
    """What a gateway reads and takes over anew."""

    routing: RoutingSettings = RoutingSettings()


def _settings_of(document: Document) -> EdgeSettings:
    return document.section(EdgeSettings, without=TABLES_OF_PARTS - {"routing"})


def main(file: Path | None = None) -> int:
    """Run the gateway until it is asked to stop and return the exit code."""

    async def run() -> None:
        document = read_document(file)
        settings = _settings_of(document)
        own = document.section(GatewaySettings, "gateway")
        log.configure(settings.log.level, settings.log.format)
        largest = own.max_body_bytes + ENVELOPE_BYTES
        peers = Peers(document, "gateway", {"dispatch": largest, "handover": largest})
        with document.naming_sources():
            known = providers_of(settings)
            catalog = load_catalog(settings.catalog, document.base, providers=known)
            edge = gateway.build.build(
                own,
                settings.routing,
                settings,
                catalog=catalog,
                clock=SystemClock(),
                channel_to=peers.channel,
            )
        options = EdgeOptions(own.ops_listen, own.lame_duck_seconds, own.drain_seconds)
        try:
            watch = watch_of(
                document,
                Edition(settings, catalog),
                [lambda edition: edge.adopt(edition, edition.settings.routing)],
                read=_settings_of,
                lasting=lambda newer: {"gateway": newer.section(GatewaySettings, "gateway")},
            )
            with contextlib.ExitStack() as stack:

                async def announce(listening: Listening) -> None:
                    stack.enter_context(finding.marked(own, own.database, listening.port))

                await serve_edge(edge, options, announce=announce, watch=watch)
        finally:
            await peers.aclose()

    return launch.run(run)
