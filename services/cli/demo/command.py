"""The command ``pointsman demo``."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from services.cli import output
from services.cli.reaching import DEFAULT_RPC, KEY_VARIABLE


def demo(
    server: Annotated[
        str, typer.Option(help="Address of a running router; empty: one of the demo's own.")
    ] = "",
    rpc: Annotated[str, typer.Option(help="Address of its RouterService.")] = DEFAULT_RPC,
    key: Annotated[
        str, typer.Option(envvar=KEY_VARIABLE, show_default=False, help="A router key of it.")
    ] = "",
    model: Annotated[
        str, typer.Option(help="Model to ask for; empty: the dearest that can serve.")
    ] = "",
    strategy: Annotated[str, typer.Option(help="Strategy of the demo's own router.")] = "cluster",
    *,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Play sample sessions and show what was routed where, and what that saved.

    With a key in POINTSMAN_KEY a router at the default address is used, where it runs; real
    providers behind it are paid for some ten short requests.
    """
    from services.cli.demo import playing, report

    wanted = playing.Wanted(server, rpc, key, model, strategy)
    played = asyncio.run(playing.played(wanted))
    total = report.total_of(played)
    rows = [report.row_of(each) for each in played]
    if json:
        output.as_json_text({"requests": rows, "total": dict(total)})
        return
    output.table([report.line_of(row) for row in rows])
    print()
    output.facts(report.summary_of(total), as_json=False)
