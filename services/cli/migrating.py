"""Migrates the databases of the configuration, and shows where they stand."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import gateway
import services.credentials.adapters
from services.cli import output
from services.embedded.settings import Settings
from services.runtime import database
from services.runtime.config import read_document

if TYPE_CHECKING:
    from services.runtime.database import MigrationStatus


@dataclass(frozen=True, slots=True)
class Owner:
    """One owner of tables."""

    schema: str
    url: str
    scripts: Path


def up(file: Path | None, *, as_json: bool) -> None:
    """Migrate every owner's tables and print where they stand.

    Raises:
        ConfigError: the configuration cannot be used.
        DatabaseError: a database cannot be used.
    """

    async def migrate_all() -> list[tuple[Owner, MigrationStatus]]:
        return [(o, await database.migrate(o.url, o.scripts, o.schema)) for o in owners(file)]

    _print(asyncio.run(migrate_all()), as_json=as_json)


def status(file: Path | None, *, as_json: bool) -> None:
    """Print where every owner's tables stand.

    Raises:
        ConfigError: the configuration cannot be used.
        DatabaseError: a database cannot be used.
    """

    async def ask_all() -> list[tuple[Owner, MigrationStatus]]:
        return [
            (o, await database.migration_status(o.url, o.scripts, o.schema)) for o in owners(file)
        ]

    _print(asyncio.run(ask_all()), as_json=as_json)


def owners(file: Path | None) -> tuple[Owner, ...]:
    """Return all owners of tables, each with its database and its migrations."""
    settings = read_document(file).section(Settings)
    return (
        Owner("gateway", settings.gateway.database, _folder(gateway) / "migrations"),
        Owner(
            "credentials",
            settings.services.credentials.database,
            _folder(services.credentials.adapters) / "migrations",
        ),
    )


def _folder(package: object) -> Path:
    return Path(str(getattr(package, "__file__", ""))).parent


def _print(found: list[tuple[Owner, MigrationStatus]], *, as_json: bool) -> None:
    output.rows(
        [
            {
                "schema": owner.schema,
                "database": database.display_name(owner.url),
                "revision": status.current or "none",
                "needed": status.head,
                "current": status.is_current,
            }
            for owner, status in found
        ],
        as_json=as_json,
    )
