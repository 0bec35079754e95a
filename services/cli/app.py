"""The tree of commands; each command's work is in a module of its own and imported when used."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from services.cli import credentials, explaining, ledgering, output, scoring, simulating
from services.cli.demo import command

app = typer.Typer(
    help="Pointsman: every action to the right model, warm, and through provider faults.",
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=False,
)
migrate = typer.Typer(help="Bring databases to the tables that this program needs.")
config = typer.Typer(help="Check and show the configuration.")
keys = typer.Typer(help="Make and end router keys, in the store of the configuration.")
app.add_typer(migrate, name="migrate")
app.add_typer(config, name="config")
app.add_typer(keys, name="keys")
app.add_typer(credentials.credentials, name="credentials")
app.add_typer(simulating.simulate, name="simulate")
app.add_typer(scoring.scorer, name="scorer")
app.add_typer(ledgering.ledger, name="ledger")

app.command()(explaining.route)
app.command()(command.demo)

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="TOML file; else POINTSMAN_CONFIG, else ./pointsman.toml, else defaults.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Installation = Annotated[str, typer.Option(help="Id of an installation; empty: the default one.")]


class Part(enum.StrEnum):
    """Names what can be served alone."""

    GATEWAY = "gateway"
    SCORER = "scorer"
    PLANNER = "planner"
    HANDOVER = "handover"
    CREDENTIALS = "credentials"
    DISPATCH = "dispatch"


class KeyScope(enum.StrEnum):
    """Names what a router key is good for."""

    ROUTING = "routing"
    ANALYTICS_READ = "analytics_read"


@app.command()
def serve(
    part: Annotated[Part | None, typer.Argument(help="One part alone; none: all of it.")] = None,
    config: ConfigFile = None,
) -> None:
    """Run everything in one process, or one part of it."""
    from services.cli import serving

    raise typer.Exit(serving.serve(part.value if part is not None else "", config))


@app.command()
def version(*, json: AsJson = False) -> None:
    """Print the version of the product and of its contract."""
    from services.runtime import host

    facts = {"version": host.VERSION, "proto_digest": host.proto_digest()}
    output.facts(facts, as_json=json)


@migrate.command("up")
def migrate_up(config: ConfigFile = None, *, json: AsJson = False) -> None:
    """Migrate every database of the configuration."""
    from services.cli import migrating

    migrating.up(config, as_json=json)


@migrate.command("status")
def migrate_status(config: ConfigFile = None, *, json: AsJson = False) -> None:
    """Show the revision of every database beside the one that is needed."""
    from services.cli import migrating

    migrating.status(config, as_json=json)


@config.command("check")
def config_check(config: ConfigFile = None) -> None:
    """Say whether the configuration can be used; exit 2 when it cannot."""
    from services.cli import configuring

    configuring.check(config)


@config.command("show")
def config_show(
    config: ConfigFile = None,
    *,
    origin: Annotated[bool, typer.Option("--origin", help="Say where each value is from.")] = False,
    json: AsJson = False,
) -> None:
    """Show every effective setting, secrets masked."""
    from services.cli import configuring

    configuring.show(config, with_origin=origin, as_json=json)


@keys.command("create")
def keys_create(
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    scope: Annotated[KeyScope, typer.Option(help="What it is good for.")] = KeyScope.ROUTING,
    expires_in_seconds: Annotated[
        float, typer.Option(min=0, help="Its life; 0: it does not expire.")
    ] = 0,
    installation: Installation = "",
    config: ConfigFile = None,
    *,
    json: AsJson = False,
) -> None:
    """Make a key; its token is printed once and not kept."""
    from services.cli import keyring

    order = keyring.NewKey(name, scope.value, expires_in_seconds)
    keyring.create(config, installation, order, as_json=json)


@keys.command("list")
def keys_list(
    installation: Installation = "", config: ConfigFile = None, *, json: AsJson = False
) -> None:
    """List the keys of an installation, ended ones too."""
    from services.cli import keyring

    keyring.list_keys(config, installation, as_json=json)


@keys.command("revoke")
def keys_revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="Id from `keys list`.")],
    installation: Installation = "",
    config: ConfigFile = None,
    *,
    json: AsJson = False,
) -> None:
    """End a key at once."""
    from services.cli import keyring

    keyring.revoke(config, installation, key_id, as_json=json)


@keys.command("rotate")
def keys_rotate(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="Id from `keys list`.")],
    grace_seconds: Annotated[
        int, typer.Option(min=0, max=86_400, help="How long the old token works besides.")
    ] = 0,
    installation: Installation = "",
    config: ConfigFile = None,
    *,
    json: AsJson = False,
) -> None:
    """Replace a key by a new one of the same name and scope."""
    from services.cli import keyring

    keyring.rotate(config, installation, key_id, grace_seconds, as_json=json)
