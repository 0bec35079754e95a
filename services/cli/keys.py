"""The commands ``pointsman keys …``: what they take; the work is done elsewhere."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from services.cli.options import AsJson, ConfigFile, Installation, Server

keys = typer.Typer(help="Make and end router keys, at a running router or in the store.")

KeyId = Annotated[str, typer.Argument(metavar="ID", help="Id from `keys list`.")]


class KeyScope(enum.StrEnum):
    """Names what a router key is good for."""

    ROUTING = "routing"
    ANALYTICS_READ = "analytics_read"


@keys.command("create")
def create(
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    scope: Annotated[KeyScope, typer.Option(help="What it is good for.")] = KeyScope.ROUTING,
    expires_in_seconds: Annotated[
        float, typer.Option(min=0, help="Its life; 0: it does not expire.")
    ] = 0,
    installation: Installation = "",
    config: ConfigFile = None,
    server: Server = None,
    *,
    json: AsJson = False,
) -> None:
    """Make a key; its token is printed once and not kept."""
    from services.cli import keyring
    from services.cli.desks import Reach

    life_s = expires_in_seconds
    keyring.create(Reach(config, server), installation, name, scope.value, life_s, as_json=json)


@keys.command("list")
def list_all(
    installation: Installation = "",
    config: ConfigFile = None,
    server: Server = None,
    *,
    json: AsJson = False,
) -> None:
    """List the keys of an installation, ended ones too."""
    from services.cli import keyring
    from services.cli.desks import Reach

    keyring.list_keys(Reach(config, server), installation, as_json=json)


@keys.command("revoke")
def revoke(
    key_id: KeyId,
    installation: Installation = "",
    config: ConfigFile = None,
    server: Server = None,
    *,
    json: AsJson = False,
) -> None:
    """End a key at once."""
    from services.cli import keyring
    from services.cli.desks import Reach

    keyring.revoke(Reach(config, server), installation, key_id, as_json=json)


@keys.command("rotate")
def rotate(
    key_id: KeyId,
    grace_seconds: Annotated[
        int, typer.Option(min=0, max=86_400, help="How long the old token works besides.")
    ] = 0,
    installation: Installation = "",
    config: ConfigFile = None,
    server: Server = None,
    *,
    json: AsJson = False,
) -> None:
    """Replace a key by a new one of the same name and scope."""
    from services.cli import keyring
    from services.cli.desks import Reach

    keyring.rotate(Reach(config, server), installation, key_id, grace_seconds, as_json=json)
