"""Options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from services.runtime.sources import SERVER_VARIABLE

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="TOML file; else POINTSMAN_CONFIG, else ./pointsman.toml, else defaults.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Server = Annotated[
    str | None,
    typer.Option(
        envvar=SERVER_VARIABLE,
        show_default=False,
        help="Router to ask, with the admin token; none: one that runs on the same store, else the"
        " store itself; empty: the store in any case.",
    ),
]
Installation = Annotated[str, typer.Option(help="Id of an installation; empty: the default one.")]


def is_text(given: str) -> bool:
    """Return whether what the shell gave is text in UTF-8."""
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return True
