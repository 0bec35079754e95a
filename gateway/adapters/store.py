"""Installations and router keys in SQLite or PostgreSQL, through one set of statements."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy import exc

from gateway.model import InstallationId, RouterKey, Scope
from services.runtime.database import (
    changing,
    open_engine,
    prepare,
    read_only,
    reading,
    store_errors,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.runtime.clock import Clock

SCHEMA = "gateway"
SCRIPTS = Path(__file__).parent.parent / "migrations"
DEFAULT_INSTALLATION = "default"

_tables = sa.MetaData()

INSTALLATIONS = sa.Table(
    "installations",
    _tables,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("name", sa.String(128)),
    sa.Column("created_unix_s", sa.Float(53)),
)
KEYS = sa.Table(
    "router_keys",
    _tables,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("installation_id", sa.String(36)),
    sa.Column("name", sa.String(128)),
    sa.Column("scope", sa.String(32)),
    sa.Column("digest", sa.String(64)),
    sa.Column("display_prefix", sa.String(8)),
    sa.Column("display_suffix", sa.String(4)),
    sa.Column("created_unix_s", sa.Float(53)),
    sa.Column("expires_unix_s", sa.Float(53)),
    sa.Column("revoked_unix_s", sa.Float(53)),
    sa.Column("successor_id", sa.String(36)),
)
SPEND = sa.table("key_spend", sa.column("key_id"), sa.column("spent_micros"))
"""Written by the ledger."""
EXCLUSIONS = sa.Table(
    "automatic_exclusions",
    _tables,
    sa.Column("model", sa.String(128), primary_key=True),
    sa.Column("reason", sa.String(200)),
    sa.Column("place", sa.Integer),
)


class SqlKeyStore:
    """Installations and keys in one database, and what operators listed."""

    def __init__(self, url: str, clock: Clock) -> None:
        self._engine = open_engine(url, schema=SCHEMA)
        self._reader = read_only(self._engine)
        self._clock = clock

    async def start(self) -> None:
        """Open the store; SQLite is migrated, PostgreSQL is checked."""
        await prepare(self._engine, SCRIPTS, SCHEMA)

    async def aclose(self) -> None:
        """Close the store."""
        await self._engine.dispose()

    async def default_installation(self) -> InstallationId:
        """Return the installation ``default``, made on the first call ever."""
        wanted = sa.select(INSTALLATIONS.c.id).where(INSTALLATIONS.c.name == DEFAULT_INSTALLATION)
        with store_errors():
            try:
                async with self._engine.begin() as connection:
                    found = (await connection.execute(wanted)).scalar_one_or_none()
                    if found is None:
                        found = str(uuid.uuid4())
                        await connection.execute(
                            INSTALLATIONS.insert().values(
                                id=found,
                                name=DEFAULT_INSTALLATION,
                                created_unix_s=self._clock.now_unix_s(),
                            )
                        )
            except exc.IntegrityError:  # another gateway was quicker
                async with self._reader.connect() as connection:
                    found = (await connection.execute(wanted)).scalar_one()
        return InstallationId(str(found))

    async def has_installation(self, installation_id: InstallationId) -> bool:
        """Return whether there is such an installation."""
        if not installation_id.isprintable():
            # No row holds such an id, and PostgreSQL cannot be asked for one.
            return False
        wanted = sa.select(INSTALLATIONS.c.id).where(INSTALLATIONS.c.id == installation_id)
        async with reading(self._reader) as connection:
            return (await connection.execute(wanted)).first() is not None

    async def find(self, digest: str) -> RouterKey | None:
        """Return the key of a token's digest, live or not."""
        async with reading(self._reader) as connection:
            rows = await connection.execute(sa.select(KEYS).where(KEYS.c.digest == digest))
            row = rows.one_or_none()
        return _key(row) if row is not None else None

    async def has_keys(self) -> bool:
        """Return whether any key was ever made."""
        async with reading(self._reader) as connection:
            rows = await connection.execute(sa.select(KEYS.c.id).limit(1))
            return rows.first() is not None

    async def add(self, key: RouterKey) -> bool:
        """Store a key; returns false when its digest is stored already."""
        with store_errors():
            try:
                async with self._engine.begin() as connection:
                    await connection.execute(KEYS.insert().values(_row(key)))
            except exc.IntegrityError:
                return False
        return True

    async def list_keys(self, installation_id: InstallationId) -> Sequence[RouterKey]:
        """Return all keys of an installation, oldest first."""
        wanted = (
            sa.select(KEYS)
            .where(KEYS.c.installation_id == installation_id)
            .order_by(KEYS.c.created_unix_s, KEYS.c.id)
        )
        async with reading(self._reader) as connection:
            return [_key(row) for row in await connection.execute(wanted)]

    async def spent(self, installation_id: InstallationId) -> Mapping[str, int]:
        """Return what keys of an installation were charged, in micro-USD by id; others: nothing."""
        wanted = (
            sa.select(SPEND.c.key_id, SPEND.c.spent_micros)
            .join(KEYS, KEYS.c.id == SPEND.c.key_id)
            .where(KEYS.c.installation_id == installation_id)
        )
        async with reading(self._reader) as connection:
            return {key_id: int(micros) for key_id, micros in await connection.execute(wanted)}

    async def revoke(self, installation_id: InstallationId, key_id: str, now_unix_s: float) -> bool:
        """End a live key at once, one in its grace too; returns false when there is none."""
        ending = (
            KEYS.update()
            .where(_is_live(installation_id, key_id, now_unix_s))
            .values(revoked_unix_s=now_unix_s)
        )
        async with changing(self._engine) as connection:
            return (await connection.execute(ending)).rowcount == 1

    async def rotate(
        self,
        installation_id: InstallationId,
        key_id: str,
        successor: RouterKey,
        *,
        retire_unix_s: float,
        now_unix_s: float,
    ) -> RouterKey | None:
        """Replace a live key in one transaction; None when it is gone or was replaced."""
        retiring = (
            KEYS.update()
            .where(
                _is_live(installation_id, key_id, now_unix_s),
                KEYS.c.successor_id == "",
            )
            .values(revoked_unix_s=retire_unix_s, successor_id=successor.id)
        )
        wanted = sa.select(KEYS.c.name, KEYS.c.scope).where(KEYS.c.id == key_id)
        async with changing(self._engine) as connection:
            if (await connection.execute(retiring)).rowcount != 1:
                return None
            old = (await connection.execute(wanted)).one()
            row = {**_row(successor), "name": old.name, "scope": old.scope}
            await connection.execute(KEYS.insert().values(row))
            stored = await connection.execute(sa.select(KEYS).where(KEYS.c.id == successor.id))
            return _key(stored.one())

    async def automatic_exclusions(self) -> Sequence[tuple[str, str]]:
        """Return models with the reasons against them, in order."""
        wanted = sa.select(EXCLUSIONS.c.model, EXCLUSIONS.c.reason).order_by(EXCLUSIONS.c.place)
        async with reading(self._reader) as connection:
            rows = await connection.execute(wanted)
            return [(str(row.model), str(row.reason)) for row in rows]

    async def put_automatic_exclusions(self, rows: Sequence[tuple[str, str]]) -> None:
        """Put another list in the place of the stored one, in one transaction."""
        made = [
            {"model": model, "reason": reason, "place": place}
            for place, (model, reason) in enumerate(rows)
        ]
        async with changing(self._engine) as connection:
            await connection.execute(EXCLUSIONS.delete())
            if made:
                await connection.execute(EXCLUSIONS.insert(), made)


def _is_live(
    installation_id: InstallationId, key_id: str, now_unix_s: float
) -> sa.ColumnElement[bool]:
    return sa.and_(
        KEYS.c.id == key_id,
        KEYS.c.installation_id == installation_id,
        sa.or_(KEYS.c.revoked_unix_s.is_(None), KEYS.c.revoked_unix_s > now_unix_s),
    )


def _row(key: RouterKey) -> dict[str, object]:
    return {
        "id": key.id,
        "installation_id": key.installation_id,
        "name": key.name,
        "scope": key.scope.value,
        "digest": key.digest,
        "display_prefix": key.display_prefix,
        "display_suffix": key.display_suffix,
        "created_unix_s": key.created_unix_s,
        "expires_unix_s": key.expires_unix_s,
        "revoked_unix_s": key.revoked_unix_s,
        "successor_id": key.successor_id,
    }


def _key(row: sa.Row[tuple[object, ...]]) -> RouterKey:
    found = row._mapping  # noqa: SLF001 - SQLAlchemy's public name for a row by columns
    return RouterKey(
        id=found["id"],
        installation_id=InstallationId(found["installation_id"]),
        name=found["name"],
        scope=Scope(found["scope"]),
        digest=found["digest"],
        display_prefix=found["display_prefix"],
        display_suffix=found["display_suffix"],
        created_unix_s=found["created_unix_s"],
        expires_unix_s=found["expires_unix_s"],
        revoked_unix_s=found["revoked_unix_s"],
        successor_id=found["successor_id"],
    )
