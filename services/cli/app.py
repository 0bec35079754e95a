"""The tree of commands; each command's work is in a module of its own and imported when used."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from services.cli import (
    credentials,
    doctor,
    exclusions,
    explaining,
    keys,
    ledgering,
    output,
    scoring,
    simulating,
)
from services.cli.clients.command import client
from services.cli.demo import command
from services.cli.options import AsJson, ConfigFile

app = typer.Typer(
    help="Pointsman: every action to the right model, warm, and through provider faults.",
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=False,
)
migrate = typer.Typer(help="Bring databases to the tables that this program needs.")
config = typer.Typer(help="Check and show the configuration.")
app.add_typer(migrate, name="migrate")
app.add_typer(config, name="config")
app.add_typer(keys.keys, name="keys")
app.add_typer(credentials.credentials, name="credentials")
app.add_typer(simulating.simulate, name="simulate")
app.add_typer(scoring.scorer, name="scorer")
app.add_typer(ledgering.ledger, name="ledger")
app.add_typer(exclusions.exclusions, name="exclusions")

app.add_typer(client, name="client")

app.command()(explaining.route)
app.command()(command.demo)
app.command()(doctor.doctor)


class Part(enum.StrEnum):
    """Names what can be served alone."""

    GATEWAY = "gateway"
    SCORER = "scorer"
    PLANNER = "planner"
    HANDOVER = "handover"
    CREDENTIALS = "credentials"
    DISPATCH = "dispatch"


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
