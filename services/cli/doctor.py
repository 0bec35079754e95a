"""The command ``pointsman doctor``: what it takes; the work is done elsewhere."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer

from services.cli import output
from services.cli.options import AsJson, ConfigFile
from services.cli.reaching import DEFAULT_SERVER
from services.runtime.launch import EXIT_FAILED
from services.runtime.sources import SERVER_VARIABLE


def doctor(
    server: Annotated[
        str, typer.Option(envvar=SERVER_VARIABLE, help="Address of the router.")
    ] = DEFAULT_SERVER,
    config: ConfigFile = None,
    *,
    json: AsJson = False,
) -> None:
    """Look at configuration, router, key, dialects and client programs; exit 1 names each fault.

    The router key is that in POINTSMAN_KEY. Nothing is sent to a provider.
    """
    from services.cli.examining import examined

    found = asyncio.run(examined(server, config))
    rows = [asdict(each) for each in found]
    if json:
        output.as_json_text(rows)
    else:
        output.table(rows)
    if not all(each.ok for each in found):
        raise typer.Exit(EXIT_FAILED)
