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
from services.runtime.settings import CommonSettings

if TYPE_CHECKING:
    from pathlib import Path

    from services.runtime.edge import Listening

ENVELOPE_BYTES = 1024 * 1024
"""What a message may hold besides the body of a request."""


def main(file: Path | None = None) -> int:
    """Run the gateway until it is asked to stop and return the exit code."""

    async def run() -> None:
        document = read_document(file)
        common = document.section(CommonSettings, without=TABLES_OF_PARTS)
        own = document.section(GatewaySettings, "gateway")
        log.configure(common.log.level, common.log.format)
        largest = own.max_body_bytes + ENVELOPE_BYTES
        peers = Peers(document, "gateway", {"dispatch": largest, "handover": largest})
        routing = document.section(RoutingSettings, "routing")
        with document.naming_sources():
            catalog = load_catalog(common.catalog, document.base, providers=providers_of(common))
            edge = gateway.build.build(
                own,
                routing,
                common,
                catalog=catalog,
                clock=SystemClock(),
                channel_to=peers.channel,
            )
        options = EdgeOptions(own.ops_listen, own.lame_duck_seconds, own.drain_seconds)
        try:
            watch = watch_of(document, common, catalog, [edge.adopt])
            with contextlib.ExitStack() as stack:

                async def announce(listening: Listening) -> None:
                    stack.enter_context(finding.marked(own, own.database, listening.port))

                await serve_edge(edge, options, announce=announce, watch=watch)
        finally:
            await peers.aclose()

    return launch.run(run)
