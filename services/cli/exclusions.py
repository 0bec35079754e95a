"""Models that are not to be picked by themselves, kept through a router or in the store."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli import output
from services.cli.options import AsJson, ConfigFile, Server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from gateway.office.desk import Office
    from services.cli.desks import Desk, Reach
    from services.runtime.config import Document

    Facts = Mapping[str, object]

exclusions = typer.Typer(
    help="Keep models from being picked by themselves, at a running router or in the store."
)

PATH = "automatic-exclusions"


@exclusions.command("list")
def list_all(config: ConfigFile = None, server: Server = None, *, json: AsJson = False) -> None:
    """List the models that serve only where they are named or nothing else is left."""
    from services.cli.desks import Reach

    _print(_ask(Reach(config, server), "GET", None), as_json=json)


@exclusions.command("set")
def replace(
    models: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MODEL[=REASON]]...", help="The whole list; none: nothing is."),
    ] = None,
    config: ConfigFile = None,
    server: Server = None,
    *,
    json: AsJson = False,
) -> None:
    """Put another list in the place of the stored one."""
    from services.cli.desks import Reach

    body = {"excluded": [_entry(text) for text in models or ()]}
    _print(_ask(Reach(config, server), "PUT", body), as_json=json)


def _entry(text: str) -> Mapping[str, str]:
    model, _, reason = text.partition("=")
    return {"model": model, "reason": reason}


def _ask(reach: Reach, method: str, body: Facts | None) -> Facts:
    from services.cli.desks import Store, at_desk
    from services.cli.keyring import database_of

    async def work(desk: Desk) -> Facts:
        return await desk.ask(method, PATH, body=body)

    return at_desk(reach, Store(database_of, _opened), work)


def _print(found: Facts, *, as_json: bool) -> None:
    from services.cli.keyring import rows_of

    rows: Sequence[Facts] = rows_of(found, "excluded")
    if as_json:
        output.as_json_text(dict(found))
    else:
        output.rows(rows, as_json=False)


@contextlib.asynccontextmanager
async def _opened(document: Document) -> AsyncIterator[Office]:
    from gateway.exclusions import Exclusions, Resting
    from gateway.office.desk import Office
    from gateway.office.exclusions import ExclusionDesk
    from gateway.policy import policy_of
    from gateway.stores import open_key_store
    from services.embedded.host import catalog_of
    from services.embedded.settings import Settings
    from services.runtime.clock import SystemClock
    from services.runtime.reloading import Edition

    settings, clock = document.section(Settings), SystemClock()
    catalog, routing = catalog_of(document, settings, is_sandboxed=False), settings.routing
    store = open_key_store(settings.gateway, clock)
    try:
        await store.start()
        edition = Edition(settings, catalog)
        first = Resting(edition, routing, policy_of(routing, settings, catalog))
        known = Exclusions(store, clock, first)

        def changed(*_: object) -> None:
            policy = policy_of(routing, settings, catalog, known.stored)
            known.rest_on(Resting(edition, routing, policy))

        known.on_change = changed
        await known.load()
        yield Office(ExclusionDesk(known).operations)
    finally:
        await store.aclose()
