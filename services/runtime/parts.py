"""Runs one part of the product apart from the others: its settings, its peers, its server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from services.runtime import channel, launch, log
from services.runtime.catalog import catalog_files, load_catalog
from services.runtime.clock import Clock, SystemClock
from services.runtime.config import Document, SettingError, read_document
from services.runtime.host import Bundle, ServerOptions, serve
from services.runtime.lasting import effective, waiting_keys
from services.runtime.providers import providers_of
from services.runtime.reloading import EVERY_S, SETTLED_S, ConfigWatch, Edition, Loaded
from services.runtime.settings import CommonSettings, ServiceSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from pydantic import BaseModel

    from services.domain.catalog import Catalog
    from services.runtime.channel import Channel, ChannelTo
    from services.runtime.reloading import TakeOver

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

C = TypeVar("C", bound=CommonSettings)
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
    if int(port) > 65_535 - OPS_PORT_OFFSET:
        raise SettingError(
            f"services.{name}.listen",
            f"must be host:port with a port below {65_536 - OPS_PORT_OFFSET}, or set ops_listen"
            " besides",
        )
    return f"{host}:{int(port) + OPS_PORT_OFFSET if int(port) else 0}"


def watch_of(
    document: Document,
    first: Edition[C],
    adopters: Iterable[Callable[[Edition[C]], TakeOver] | None],
    *,
    read: Callable[[Document], C],
    lasting: Callable[[Document], Mapping[str, BaseModel]] = lambda _: {},
    models: Iterable[Mapping[str, object]] = (),
    every_s: float = EVERY_S,
    settled_s: float = SETTLED_S,
) -> ConfigWatch[C]:
    """Return what brings newer editions than ``first`` to those that take one over.

    ``read`` returns the settings of a document, ``lasting`` what a process reads besides, by its
    place; ``models`` are documents of the catalog that no file holds.
    """
    more = tuple(models)
    at_start = lasting(document)

    def loaded(newer: Document, edition: Edition[C], waiting: Iterable[str] = ()) -> Loaded[C]:
        own = (newer.file,) if newer.file is not None else ()
        files = (*own, *catalog_files(edition.settings.catalog, newer.base))
        return Loaded(edition, newer, files, tuple(waiting))

    def load() -> Loaded[C]:
        newer = document if document.file is None else read_document(document.file, warn=_silent)
        stated = read(newer)
        settings = effective(first.settings, stated)
        waiting = waiting_keys(first.settings, stated)
        for place, section in lasting(newer).items():
            waiting += waiting_keys(at_start[place], section, place)
        with newer.naming_sources():
            known = providers_of(settings)
        catalog = load_catalog(settings.catalog, newer.base, more, providers=known)
        return loaded(newer, Edition(settings, catalog), waiting)

    wanted = [adopt for adopt in adopters if adopt is not None]
    opened = loaded(document, first)
    return ConfigWatch(load, opened, wanted, every_s=every_s, settled_s=settled_s)


def common_of(document: Document) -> CommonSettings:
    """Return what every process reads.

    Raises:
        ConfigError: a key is unknown or a value unusable.
    """
    return document.section(CommonSettings, without=TABLES_OF_PARTS)


def _silent(_: str) -> None:
    """Say nothing of unknown variables: the start did."""


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
        common = common_of(document)
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
        place = f"services.{name}"
        watch = watch_of(
            document,
            Edition(common, catalog),
            [bundle.adopt],
            read=common_of,
            lasting=lambda newer: {place: newer.section(schema, place)},
        )
        try:
            await serve((bundle,), options, watch)
        finally:
            await peers.aclose()

    return launch.run(run)
