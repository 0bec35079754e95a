"""Runs one part of the product apart from the others: its settings, its peers, its server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from services.runtime import channel, launch, log
from services.runtime.catalog import catalog_files, load_catalog
from services.runtime.clock import Clock, SystemClock
from services.runtime.config import Document, SettingError, read_document
from services.runtime.host import Bundle, ServerOptions, serve
from services.runtime.providers import providers_of
from services.runtime.reloading import CatalogWatch
from services.runtime.settings import CommonSettings, ServiceSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from services.domain.catalog import Catalog
    from services.runtime.channel import Channel, ChannelTo
    from services.runtime.reloading import Adopt

PORTS: Mapping[str, int] = {
    "scorer": 50051,
    "planner": 50052,
    "handover": 50053,
    "credentials": 50054,
    "dispatch": 50055,
}
"""Default ports of the services, by short name."""
OPS_PORT_OFFSET = 1000
TABLES_OF_PARTS = frozenset({"gateway", "routing", "services", "tls"})
"""Tables that belong to one part each; everything else is common."""

S = TypeVar("S", bound=ServiceSettings)
S_contra = TypeVar("S_contra", bound=ServiceSettings, contravariant=True)


class Build(Protocol[S_contra]):
    """Builds one service; does no I/O."""

    def __call__(
        self,
        settings: S_contra,
        common: CommonSettings,
        *,
        catalog: Catalog,
        clock: Clock,
        channel_to: ChannelTo,
    ) -> Bundle:
        """Return the service, not yet started."""
        ...


class Peers:
    """Channels to the services that run apart, opened when first asked for."""

    def __init__(
        self, document: Document, caller: str, max_message_bytes: Mapping[str, int] | None = None
    ) -> None:
        self._document = document
        self._caller = caller
        self._sizes = max_message_bytes or {}
        self._open: dict[str, Channel] = {}

    def channel(self, name: str) -> Channel:
        """Return the channel to the service ``name``."""
        if name not in self._open:
            self._open[name] = channel.connect(
                target_of(self._document, name),
                caller=self._caller,
                service=full_name(name),
                max_message_bytes=self._sizes.get(name, channel.DEFAULT_MAX_MESSAGE_BYTES),
            )
        return self._open[name]

    async def aclose(self) -> None:
        """Close every channel."""
        for opened in self._open.values():
            await opened.aclose()


def full_name(name: str) -> str:
    """Return the full name of a service: ``pointsman.dispatch.v1.DispatchService``."""
    return f"pointsman.{name}.v1.{name.capitalize()}Service"


def target_of(document: Document, name: str) -> str:
    """Return what is dialled to reach a service; its default port on loopback where not set."""
    return document.text(f"services.{name}.target") or f"127.0.0.1:{PORTS[name]}"


def server_options(name: str, settings: ServiceSettings) -> ServerOptions:
    """Return how a service that runs apart listens and drains."""
    listen = settings.listen or f"127.0.0.1:{PORTS[name]}"
    return ServerOptions(
        listen=listen,
        ops_listen=settings.ops_listen or _ops_listen(name, listen),
        max_concurrent=settings.max_concurrent,
        lame_duck_s=settings.lame_duck_seconds,
        drain_s=settings.drain_seconds,
        is_reflection_on=settings.reflection,
        is_plaintext_secret_allowed=settings.allow_plaintext_secrets,
    )


def _ops_listen(name: str, listen: str) -> str:
    if listen.startswith("unix:"):
        return f"127.0.0.1:{PORTS[name] + OPS_PORT_OFFSET}"
    host, _, port = listen.rpartition(":")
    if not port.isdigit() or int(port) > 65_535 - OPS_PORT_OFFSET:
        raise SettingError(
            f"services.{name}.listen",
            f"must be host:port with a port below {65_536 - OPS_PORT_OFFSET}, or set ops_listen"
            " besides",
        )
    return f"{host}:{int(port) + OPS_PORT_OFFSET if int(port) else 0}"


def watch_of(
    document: Document,
    common: CommonSettings,
    catalog: Catalog,
    adopters: Iterable[Adopt | None],
    extra: Iterable[Mapping[str, object]] = (),
) -> CatalogWatch:
    """Return what brings newer catalogs than ``catalog`` to those that take one over."""
    known = providers_of(common)
    documents = tuple(extra)

    def load() -> Catalog:
        return load_catalog(common.catalog, document.base, documents, providers=known)

    files = catalog_files(common.catalog, document.base)
    return CatalogWatch(load, files, catalog, [adopt for adopt in adopters if adopt is not None])


def main(
    name: str,
    schema: type[S],
    build: Build[S],
    file: Path | None = None,
    *,
    peer_sizes: Callable[[S], Mapping[str, int]] | None = None,
) -> int:
    """Run the service ``name`` until it is asked to stop and return the exit code.

    ``peer_sizes`` gives the largest message in bytes for peers that take more than the default.
    """

    async def run() -> None:
        document = read_document(file)
        common = document.section(CommonSettings, without=TABLES_OF_PARTS)
        settings = document.section(schema, f"services.{name}")
        log.configure(common.log.level, common.log.format)
        peers = Peers(document, name, peer_sizes(settings) if peer_sizes else None)
        with document.naming_sources():
            options = server_options(name, settings)
            catalog = load_catalog(common.catalog, document.base, providers=providers_of(common))
            bundle = build(
                settings,
                common,
                catalog=catalog,
                clock=SystemClock(),
                channel_to=peers.channel,
            )
        try:
            await serve((bundle,), options, watch_of(document, common, catalog, [bundle.adopt]))
        finally:
            await peers.aclose()

    return launch.run(run)
