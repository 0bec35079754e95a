"""The commands ``pointsman client …``."""

from __future__ import annotations

import asyncio
import enum
import os
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli import output
from services.cli.options import AsJson
from services.cli.reaching import DEFAULT_SERVER, KEY_VARIABLE, checked_key
from services.runtime.launch import StartError
from services.runtime.sources import SERVER_VARIABLE

if TYPE_CHECKING:
    from services.cli.clients.model import Program, Wiring

client = typer.Typer(help="Wire client programs to a router, in their own files, and take it back.")


class ClientName(enum.StrEnum):
    """Names the programs whose files are known."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    GEMINI_CLI = "gemini-cli"
    OPENCODE = "opencode"


Named = Annotated[ClientName, typer.Argument(metavar="PROGRAM", help=", ".join(ClientName) + ".")]


@client.command("install")
def install(
    program: Named,
    server: Annotated[
        str, typer.Option(envvar=SERVER_VARIABLE, help="Address of the router.")
    ] = DEFAULT_SERVER,
    *,
    json: AsJson = False,
) -> None:
    """Let a program ask a router, with the key in POINTSMAN_KEY, else the one that it has.

    The router is asked first; nothing is written where it does not take the key.
    """
    from services.cli.clients import wiring

    found = wiring.named(program)
    before = wiring.wiring_of(found)
    key = os.environ.get(KEY_VARIABLE) or (before.key if before else "")
    made = asyncio.run(_surveyed(server, checked_key(key)))
    wiring.wire(found, made)
    output.facts({**_facts(found, made), "next": found.hint}, as_json=json)


@client.command("status")
def status(
    program: Annotated[
        ClientName | None, typer.Argument(metavar="PROGRAM", help="One of them; none: all.")
    ] = None,
    *,
    json: AsJson = False,
) -> None:
    """Show which programs ask a router, and where that is written."""
    from services.cli.clients import wiring

    shown = wiring.PROGRAMS if program is None else (wiring.named(program),)
    rows = [_state(each) for each in shown]
    if json:
        output.as_json_text(rows)
    else:
        output.table(rows)


@client.command("uninstall")
def uninstall(program: Named, *, json: AsJson = False) -> None:
    """Take our lines out of a program's file; what you wrote there stays."""
    from services.cli.clients import wiring

    found = wiring.named(program)
    if wiring.wiring_of(found) is not None:
        wiring.unwire(found)
    output.facts(_facts(found, None), as_json=json)


def _state(program: Program) -> dict[str, object]:
    from services.cli.clients import wiring

    try:
        return {**_facts(program, wiring.wiring_of(program)), "fault": None}
    except (StartError, OSError) as error:
        return {**_facts(program, None), "installed": None, "fault": str(error)}


async def _surveyed(server: str, key: str) -> Wiring:
    from services.cli.asking import asking
    from services.cli.clients.model import Wiring
    from services.cli.surveying import served_models

    async with asking(server, key) as asker:
        return Wiring(asker.server, key, await served_models(asker))


def _facts(program: Program, found: Wiring | None) -> dict[str, object]:
    from services.cli.clients import wiring

    return {
        "program": program.name,
        "installed": found is not None,
        "router": found.address if found else None,
        "key": f"{found.key[:8]}…{found.key[-4:]}" if found else None,
        "file": str(wiring.file_of(program)),
    }
