"""The commands ``pointsman credentials …``: what they take; the work is done elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from services.domain.vocab import CredentialKind

credentials = typer.Typer(help="Keep upstream credentials, in the store of the configuration.")

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="TOML file; else POINTSMAN_CONFIG, else ./pointsman.toml, else defaults.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Id, fingerprint or label from `credentials list`.")
]


@dataclass(frozen=True, slots=True)
class NewCredential:
    """What is wanted of a new credential; its secrets come by other ways than arguments."""

    provider: str
    kind: CredentialKind
    label: str = ""
    account: str = ""
    priority: int | None = None
    weight: int | None = None
    models: tuple[str, ...] = ()
    excluded_models: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    model_prefix: str = ""
    base_url: str = ""
    max_in_flight: int = 0
    overage: str = "last_resort"
    cooling: str = "inherit"
    installation: str = ""
    expires_at: str = ""
    secret_env: str = ""
    refresh_token_env: str = ""


@credentials.command("list")
def list_all(config: ConfigFile = None, *, json: AsJson = False) -> None:
    """List all credentials with their state and marks, without secrets."""
    from services.cli import credentials_work

    credentials_work.list_all(config, as_json=json)


@credentials.command("show")
def show(name: Name, config: ConfigFile = None, *, json: AsJson = False) -> None:
    """Show one credential."""
    from services.cli import credentials_work

    credentials_work.show(config, name, as_json=json)


@credentials.command("add")
def add(
    provider: Annotated[str, typer.Argument(help="Provider that it belongs to.")],
    kind: Annotated[
        CredentialKind, typer.Option(help="How it authenticates.")
    ] = CredentialKind.API_KEY,
    label: Annotated[str, typer.Option(help="Name for people; never logged.")] = "",
    account: Annotated[str, typer.Option(help="Account id beside the token.")] = "",
    priority: Annotated[
        int | None,
        typer.Option(help="Higher serves first; an early warning outranks it."),
    ] = None,
    weight: Annotated[int | None, typer.Option(help="Share under strategy `weighted`.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="A model it may serve; else all.")] = None,
    exclude_model: Annotated[
        list[str] | None, typer.Option(help="A model it may not serve; `*` at either end.")
    ] = None,
    alias: Annotated[
        list[str] | None, typer.Option(help="MODEL=NAME: the name at its endpoint.")
    ] = None,
    model_prefix: Annotated[str, typer.Option(help="Namespace of its models.")] = "",
    base_url: Annotated[str, typer.Option(help="Its endpoint; else the provider's.")] = "",
    max_in_flight: Annotated[int, typer.Option(min=0, help="Most attempts at once; 0: any.")] = 0,
    overage: Annotated[str, typer.Option(help="last_resort, deny or allow.")] = "last_resort",
    cooling: Annotated[str, typer.Option(help="inherit, on or off.")] = "inherit",
    installation: Annotated[str, typer.Option(help="Tenant that owns it; empty: all.")] = "",
    expires_at: Annotated[str, typer.Option(help="Expiry of the access token, RFC 3339.")] = "",
    secret_env: Annotated[
        str, typer.Option(help="Variable that holds the secret; else it is asked for, or read.")
    ] = "",
    refresh_token_env: Annotated[
        str, typer.Option(help="Variable that holds the refresh token.")
    ] = "",
    config: ConfigFile = None,
    *,
    json: AsJson = False,
) -> None:
    """Store a credential; its secret is read from a variable, the terminal or the input."""
    from services.cli import credentials_work

    order = NewCredential(
        provider=provider,
        kind=kind,
        label=label,
        account=account,
        priority=priority,
        weight=weight,
        models=tuple(model or ()),
        excluded_models=tuple(exclude_model or ()),
        aliases=tuple(alias or ()),
        model_prefix=model_prefix,
        base_url=base_url,
        max_in_flight=max_in_flight,
        overage=overage,
        cooling=cooling,
        installation=installation,
        expires_at=expires_at,
        secret_env=secret_env,
        refresh_token_env=refresh_token_env,
    )
    credentials_work.add(config, order, as_json=json)


@credentials.command("enable")
def enable(name: Name, config: ConfigFile = None, *, json: AsJson = False) -> None:
    """Let a credential serve again."""
    from services.cli import credentials_work

    credentials_work.switch(config, name, is_enabled=True, as_json=json)


@credentials.command("disable")
def disable(name: Name, config: ConfigFile = None, *, json: AsJson = False) -> None:
    """Take a credential out; its marks and tokens are kept."""
    from services.cli import credentials_work

    credentials_work.switch(config, name, is_enabled=False, as_json=json)


@credentials.command("reset")
def reset(
    name: Name,
    model: Annotated[str, typer.Option(help="Only the marks of this model.")] = "",
    config: ConfigFile = None,
    *,
    json: AsJson = False,
) -> None:
    """Clear what upstreams said about a credential's quota."""
    from services.cli import credentials_work

    credentials_work.reset(config, name, model, as_json=json)


@credentials.command("reencrypt")
def reencrypt(config: ConfigFile = None, *, json: AsJson = False) -> None:
    """Seal every secret anew under the first of `encryption_keys`; servers may run meanwhile."""
    from services.cli import credentials_work

    credentials_work.reencrypt(config, as_json=json)


@credentials.command("remove")
def remove(name: Name, config: ConfigFile = None, *, json: AsJson = False) -> None:
    """Remove a credential with its marks and secrets."""
    from services.cli import credentials_work

    credentials_work.remove(config, name, as_json=json)
