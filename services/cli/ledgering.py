"""Audits the ledger, through a router or in the store."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import typer

from services.cli import output
from services.cli.options import AsJson, ConfigFile, Server
from services.runtime import launch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from gateway.ledger.ports import LedgerStore
    from gateway.ledger.verify import Audit
    from gateway.model.record import LedgerRow
    from gateway.office.desk import Office
    from services.cli.desks import Desk, Reach
    from services.runtime.config import Document

ledger = typer.Typer(help="Look after the ledger, at a running router or in the store.")


@ledger.callback()
def _ledger() -> None:
    """Look after the ledger, at a running router or in the store."""


@ledger.command("verify")
def ledger_verify(
    config: ConfigFile = None, server: Server = None, *, json: AsJson = False
) -> None:
    """Recompute every row and every counter; exit 1 and name what drifted."""
    from services.cli.desks import Reach
    from services.cli.keyring import rows_of

    audit = _audited(Reach(config, server))
    drifts = rows_of(audit, "drifts")
    if json:
        output.as_json_text(dict(audit))
    else:
        facts = {"rows": audit["row_count"], "charged_micros": audit["charged_micros"]}
        output.facts({**facts, "drifts": len(drifts)}, as_json=False)
        for drift in drifts:
            print(_line(drift))
    if drifts:
        raise typer.Exit(launch.EXIT_FAILED)


def _audited(reach: Reach) -> Mapping[str, object]:
    from services.cli.desks import Store, at_desk
    from services.cli.keyring import database_of

    async def work(desk: Desk) -> Mapping[str, object]:
        return await desk.ask("GET", "ledger", "audit")

    return at_desk(reach, Store(database_of, _opened), work)


@contextlib.asynccontextmanager
async def _opened(document: Document) -> AsyncIterator[Office]:
    from gateway.office.desk import Office
    from gateway.office.ledger import LedgerDesk
    from gateway.settings import GatewaySettings
    from gateway.stores import open_ledger_store

    store = open_ledger_store(document.section(GatewaySettings, "gateway"))
    try:
        await store.start()
        yield Office(LedgerDesk(_Stored(store)).operations)
    finally:
        await store.aclose()


class _Stored:
    """The ledger of a store that no router runs on here."""

    def __init__(self, store: LedgerStore) -> None:
        self._store = store

    async def page(self, after: int, limit: int) -> Sequence[tuple[int, LedgerRow]]:
        return await self._store.page(after, limit)

    async def audit(self) -> Audit:
        from gateway.ledger.verify import verify

        return await verify(self._store)


def _line(drift: Mapping[str, object]) -> str:
    place = f"{drift['what']} {drift['id']}: {drift['field']}"
    return f"{place} is {drift['stored']}, should be {drift['expected']}"
