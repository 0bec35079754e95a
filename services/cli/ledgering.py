"""Audits the ledger in the store of the configuration."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli import output
from services.runtime import launch

if TYPE_CHECKING:
    from gateway.ledger.verify import Audit, Drift

ledger = typer.Typer(help="Look after the ledger, in the store of the configuration.")


@ledger.callback()
def _ledger() -> None:
    """Look after the ledger, in the store of the configuration."""


@ledger.command("verify")
def ledger_verify(
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            help="TOML file; else POINTSMAN_CONFIG, else ./pointsman.toml, else defaults.",
        ),
    ] = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Recompute every row and every counter; exit 1 and name what drifted."""
    audit = asyncio.run(_audited(config))
    if json:
        output.as_json_text(dataclasses.asdict(audit))
    else:
        facts = {"rows": audit.row_count, "charged_micros": audit.charged_micros}
        output.facts({**facts, "drifts": len(audit.drifts)}, as_json=False)
        for drift in audit.drifts:
            print(_line(drift))
    if audit.drifts:
        raise typer.Exit(launch.EXIT_FAILED)


async def _audited(file: Path | None) -> Audit:
    from gateway.ledger.verify import verify
    from gateway.settings import GatewaySettings
    from gateway.stores import open_ledger_store
    from services.runtime.config import read_document

    store = open_ledger_store(read_document(file).section(GatewaySettings, "gateway"))
    try:
        await store.start()
        return await verify(store)
    finally:
        await store.aclose()


def _line(drift: Drift) -> str:
    return f"{drift.what} {drift.id}: {drift.field} is {drift.stored}, should be {drift.expected}"
