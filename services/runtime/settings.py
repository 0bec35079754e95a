"""Sections of the configuration that more than one service reads, as frozen values.

A service's own section lives in its ``settings.py`` and derives from :class:`ServiceSettings`.
Units stand in the names. Empty or absent texts mean "not set".
"""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from services.domain.addresses import ADDRESS, PLAIN_ADDRESS, is_http, is_plain_http
from services.domain.vocab import CredentialKind, WireFamily

PositiveSeconds = Annotated[float, Field(gt=0)]
Seconds = Annotated[float, Field(ge=0)]
_MOST_INT32 = 2**31 - 1
_UnixSeconds = Annotated[float, Field(ge=0, lt=253_402_300_800)]
"""Up to the year 9999: no message holds a later moment."""


def _known_database(url: str) -> str:
    scheme, mark, _ = url.partition("://")
    if mark and not scheme.startswith(("sqlite", "postgres")):
        raise ValueError("must be sqlite:///FILE or postgresql://…")
    return url


MAX_PORT = 65_535


def _known_address(text: str) -> str:
    _, colon, port = text.rpartition(":")
    if not (colon and port.isdecimal() and int(port) <= MAX_PORT):
        raise ValueError("must be host:port, such as 127.0.0.1:8080")
    return text


ListenAddress = Annotated[str, AfterValidator(_known_address)]
"""Where a server listens, `host:port`."""
OptionalListenAddress = Annotated[
    str, AfterValidator(lambda text: _known_address(text) if text else text)
]
"""The same; empty: nowhere, or at an address that it has of itself."""
ServerAddress = Annotated[
    str,
    AfterValidator(
        lambda text: text if text.startswith("unix:") or not text else _known_address(text)
    ),
]
"""Where a gRPC server listens, `host:port` or `unix:path`; empty: at an address of its own."""
DatabaseUrl = Annotated[str, AfterValidator(_known_database)]
"""An SQLite URL or file, or a PostgreSQL URL."""


def _plain_http(text: str) -> str:
    if text and not is_plain_http(text):
        raise ValueError(PLAIN_ADDRESS)
    return text


def _http(secret: SecretStr) -> SecretStr:
    text = secret.get_secret_value().strip()
    if text and not is_http(text):
        raise ValueError(ADDRESS)
    return secret


class Section(BaseModel):
    """A table of the configuration: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ServiceSettings(Section):
    """What every service has when it runs apart."""

    listen: ServerAddress = ""
    """Address of its gRPC server (`host:port` or `unix:path`). Empty: a port of its own on
    loopback; unused in one process."""
    ops_listen: OptionalListenAddress = ""
    """Address of `/livez`, `/readyz` and `/metrics`. Empty: the port of `listen` plus 1000 on the
    same host."""
    target: str = ""
    """What the others dial (`dns:///host:port` or `unix:path`). Empty: the loopback default."""
    max_concurrent: int = Field(default=0, ge=0)
    """Most calls at once, watches aside; more are told to come back. 0: no limit."""
    drain_seconds: Seconds = 660.0
    """How long running calls may go on after the lame-duck period."""
    lame_duck_seconds: Seconds = 5.0
    """How long calls are still taken after SIGTERM, while callers learn of it."""
    reflection: bool = True
    """Whether tools may ask the server for its methods."""
    allow_plaintext_secrets: bool = False
    """Whether secrets may come from another machine without TLS."""


class ProviderSettings(Section):
    """One provider. Built-in names know their family and base address."""

    family: WireFamily | None = None
    base_url: str = ""
    api_key: SecretStr = SecretStr("")
    takes_presented: bool = True
    """Whether a request that brings a credential of its own may be served here."""


class CredentialSettings(Section):
    """One credential of the declarative pool."""

    provider: str
    label: str = ""
    kind: CredentialKind = CredentialKind.API_KEY
    secret: SecretStr = SecretStr("")
    refresh_token: SecretStr = SecretStr("")
    expires_at: dt.datetime | _UnixSeconds | None = None
    account: str = ""
    priority: int | None = Field(default=None, ge=-_MOST_INT32, le=_MOST_INT32)
    weight: int = Field(default=1, ge=0, le=1_000_000)
    models: tuple[str, ...] = ()
    excluded_models: tuple[str, ...] = ()
    enabled: bool = True
    max_in_flight: int = Field(default=0, ge=0, le=_MOST_INT32)
    overage: Literal["last_resort", "deny", "allow"] = "last_resort"
    base_url: Annotated[str, AfterValidator(_plain_http)] = ""
    aliases: dict[str, str] = Field(default_factory=dict)
    installation: str = ""
    model_prefix: str = Field(default="", pattern="^[^/]*$")
    model_max_in_flight: int = Field(default=0, ge=0, le=_MOST_INT32)
    cooling: Literal["inherit", "on", "off"] = "inherit"
    window_scope: dict[Literal["7d_oi"], Literal["all", "family"]] = Field(default_factory=dict)
    unified_headers: bool = False
    proxy: Annotated[SecretStr, AfterValidator(_http)] = SecretStr("")
    headers: dict[str, SecretStr] = Field(default_factory=dict)


class CatalogSettings(Section):
    """More catalog files, relative to the configuration file; later ones win."""

    extend: tuple[str, ...] = ()


class LogSettings(Section):
    """What is logged and how."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "json", "console"] = "auto"


class SharedSettings(Section):
    """What may be lost and is shared by replicas: a Valkey or Redis address."""

    valkey_url: SecretStr = SecretStr("")


class CommonSettings(Section):
    """The sections that every process reads, whichever services it hosts."""

    providers: dict[str, ProviderSettings] = Field(default_factory=dict)
    credentials: tuple[CredentialSettings, ...] = ()
    catalog: CatalogSettings = CatalogSettings()
    log: LogSettings = LogSettings()
    shared: SharedSettings = SharedSettings()
