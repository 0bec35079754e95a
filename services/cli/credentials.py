"""The commands ``pointsman credentials …``: what they take; the work is done elsewhere."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

from services.cli.options import AsJson, ConfigFile, Server
from services.domain.vocab import CredentialKind

credentials = typer.Typer(help="Keep upstream credentials, at a running router or in the store.")


class Overage(enum.StrEnum):
    """Names what becomes of a credential whose plan runs into paid overage."""

    LAST_RESORT = "last_resort"
    DENY = "deny"
    ALLOW = "allow"


class Cooling(enum.StrEnum):
    """Names whether quota rejections block a credential."""

    INHERIT = "inherit"
    ON = "on"
    OFF = "off"


Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Id, fingerprint or label from `credentials list`.")
]
Label = Annotated[str | None, typer.Option(help="Name for people; never logged.")]
Account = Annotated[str | None, typer.Option(help="Account id beside the token.")]
Priority = Annotated[
    int | None, typer.Option(help="Higher serves first; an early warning outranks it.")
]
Weight = Annotated[int | None, typer.Option(help="Share under strategy `weighted`.")]
Models = Annotated[list[str] | None, typer.Option(help="A model it may serve; else all.")]
ExcludedModels = Annotated[
    list[str] | None, typer.Option(help="A model it may not serve; `*` at either end.")
]
Aliases = Annotated[list[str] | None, typer.Option(help="MODEL=NAME: the name at its endpoint.")]
Prefix = Annotated[str | None, typer.Option(help="Namespace of its models.")]
BaseUrl = Annotated[str | None, typer.Option(help="Its endpoint; else the provider's.")]
MaxInFlight = Annotated[int | None, typer.Option(min=0, help="Most attempts at once; 0: any.")]
OveragePolicy = Annotated[
    Overage | None, typer.Option(help="In paid overage: last_resort (if unset), deny or allow.")
]
CoolingPolicy = Annotated[
    Cooling | None, typer.Option(help="Whether rejections block it: inherit (if unset), on or off.")
]
ExpiresAt = Annotated[str, typer.Option(help="Expiry of the access token, RFC 3339.")]
RefreshEnv = Annotated[str, typer.Option(help="Variable that holds the refresh token.")]


@credentials.command("list")
def list_all(config: ConfigFile = None, server: Server = None, *, json: AsJson = False) -> None:
    """List all credentials with their state and marks, without secrets."""
    from services.cli import credentials_work as work

    work.list_all(work.Reach(config, server), as_json=json)


@credentials.command("show")
def show(
    name: Name, config: ConfigFile = None, server: Server = None, *, json: AsJson = False
) -> None:
    """Show one credential."""
    from services.cli import credentials_work as work

    work.show(work.Reach(config, server), name, as_json=json)


@credentials.command("add")
def add(
    provider: Annotated[str, typer.Argument(help="Provider that it belongs to.")],
    kind: Annotated[
        CredentialKind, typer.Option(help="How it authenticates.")
    ] = CredentialKind.API_KEY,
    label: Label = None,
    account: Account = None,
    priority: Priority = None,
    weight: Weight = None,
    model: Models = None,
    exclude_model: ExcludedModels = None,
    alias: Aliases = None,
    model_prefix: Prefix = None,
    base_url: BaseUrl = None,
    max_in_flight: MaxInFlight = None,
    overage: OveragePolicy = None,
    cooling: CoolingPolicy = None,
    installation: Annotated[
        str | None, typer.Option(help="Tenant that owns it; none: all.")
    ] = None,
    expires_at: ExpiresAt = "",
    secret_env: Annotated[
        str, typer.Option(help="Variable that holds the secret; else it is asked for, or read.")
    ] = "",
    refresh_token_env: RefreshEnv = "",
    config: ConfigFile = None,
    server: Server = None,
    *,
    json: AsJson = False,
) -> None:
    """Store a credential; its secret is read from a variable, the terminal or the input."""
    from services.cli import credentials_work as work

    stated = {
        "provider": provider,
        "kind": kind,
        "installation": installation,
        "label": label,
        "account": account,
        "priority": priority,
        "weight": weight,
        "models": model or None,
        "excluded_models": exclude_model or None,
        "aliases": alias or None,
        "model_prefix": model_prefix,
        "base_url": base_url,
        "max_in_flight": max_in_flight,
        "overage": overage,
        "cooling": cooling,
    }
    sources = work.Sources(secret_env, refresh_token_env, expires_at)
    work.add(work.Reach(config, server), kind, stated, sources, as_json=json)


@credentials.command("set")
def change(
    name: Name,
    label: Label = None,
    account: Account = None,
    priority: Priority = None,
    weight: Weight = None,
    model: Models = None,
    exclude_model: ExcludedModels = None,
    alias: Aliases = None,
    model_prefix: Prefix = None,
    base_url: BaseUrl = None,
    max_in_flight: MaxInFlight = None,
    overage: OveragePolicy = None,
    cooling: CoolingPolicy = None,
    expires_at: ExpiresAt = "",
    secret_env: Annotated[str, typer.Option(help="Variable that holds its new secret.")] = "",
    refresh_token_env: RefreshEnv = "",
    config: ConfigFile = None,
    server: Server = None,
    *,
    json: AsJson = False,
) -> None:
    """Change what is named of a credential; its marks are kept, but for a new secret's."""
    from services.cli import credentials_work as work

    stated = {
        "label": label,
        "account": account,
        "priority": priority,
        "weight": weight,
        "models": model or None,
        "excluded_models": exclude_model or None,
        "aliases": alias or None,
        "model_prefix": model_prefix,
        "base_url": base_url,
        "max_in_flight": max_in_flight,
        "overage": overage,
        "cooling": cooling,
    }
    sources = work.Sources(secret_env, refresh_token_env, expires_at)
    work.change(work.Reach(config, server), name, stated, sources, as_json=json)


@credentials.command("enable")
def enable(
    name: Name, config: ConfigFile = None, server: Server = None, *, json: AsJson = False
) -> None:
    """Let a credential serve again."""
    from services.cli import credentials_work as work

    work.switch(work.Reach(config, server), name, is_enabled=True, as_json=json)


@credentials.command("disable")
def disable(
    name: Name, config: ConfigFile = None, server: Server = None, *, json: AsJson = False
) -> None:
    """Take a credential out; its marks and tokens are kept."""
    from services.cli import credentials_work as work

    work.switch(work.Reach(config, server), name, is_enabled=False, as_json=json)


@credentials.command("reset")
def reset(
    name: Name,
    model: Annotated[str, typer.Option(help="Only the marks of this model.")] = "",
    config: ConfigFile = None,
    server: Server = None,
    *,
    json: AsJson = False,
) -> None:
    """Clear what upstreams said about a credential's quota."""
    from services.cli import credentials_work as work

    work.reset(work.Reach(config, server), name, model, as_json=json)


@credentials.command("reencrypt")
def reencrypt(config: ConfigFile = None, server: Server = None, *, json: AsJson = False) -> None:
    """Seal every secret anew under the first of `encryption_keys`; servers may run meanwhile."""
    from services.cli import credentials_work as work

    work.reencrypt(work.Reach(config, server), as_json=json)


@credentials.command("remove")
def remove(
    name: Name, config: ConfigFile = None, server: Server = None, *, json: AsJson = False
) -> None:
    """Remove a credential with its marks and secrets."""
    from services.cli import credentials_work as work

    work.remove(work.Reach(config, server), name, as_json=json)
