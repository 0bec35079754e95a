"""Sessions in SQLite or PostgreSQL, through one set of statements.

A row is a document and the columns that statements look at. Nobody locks: a writer names the
version that it read and stores nothing when that is not the stored one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy import exc

from gateway.adapters.store import SCHEMA, SCRIPTS
from gateway.model import InstallationId
from gateway.sessions.document import DocumentError, decode, encode
from gateway.sessions.model import Address, Session
from services.domain.copying import replace
from services.runtime.database import (
    at_once,
    changing,
    is_sqlite,
    open_engine,
    prepare,
    read_only,
    reading,
    store_errors,
)
from services.runtime.log import get_logger
from services.runtime.postgres_pool import PostgresPool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection

    from gateway.sessions.ports import Place

    _Row = sa.Row[str, str, str, int, bytes]

_log = get_logger("gateway")

SESSIONS = sa.Table(
    "sessions",
    sa.MetaData(),
    sa.Column("session_key", sa.String(32), primary_key=True),
    sa.Column("role", sa.String(64), primary_key=True),
    sa.Column("installation_id", sa.String(36)),
    sa.Column("version", sa.BigInteger),
    sa.Column("expires_unix_s", sa.Float(53)),
    sa.Column("document", sa.LargeBinary),
)
_READ = (
    SESSIONS.c.session_key,
    SESSIONS.c.role,
    SESSIONS.c.installation_id,
    SESSIONS.c.version,
    SESSIONS.c.document,
)
_IS_AT = sa.and_(
    SESSIONS.c.session_key == sa.bindparam("at_key"), SESSIONS.c.role == sa.bindparam("at_role")
)
_LOADING = sa.select(*_READ).where(_IS_AT)
_ADDING = SESSIONS.insert()
_CHANGING = (
    SESSIONS.update()
    .where(_IS_AT, SESSIONS.c.version == sa.bindparam("at_version"))
    .values({name: sa.bindparam(name) for name in ("version", "expires_unix_s", "document")})
)
_TAKING = (
    SESSIONS.delete()
    .where(_IS_AT, SESSIONS.c.expires_unix_s > sa.bindparam("now_unix_s"))
    .returning(*_READ)
)
"""Statements by parameters: they are made once, and one call can carry many rows."""

_FAST_LOADING = (
    "SELECT session_key, role, installation_id, version, document FROM sessions"
    " WHERE session_key = $1 AND role = $2"
)
_FAST_ADDING = (
    "INSERT INTO sessions (session_key, role, installation_id, version, expires_unix_s, document)"
    " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING"
)
_FAST_CHANGING = (
    "UPDATE sessions SET version = $4, expires_unix_s = $5, document = $6"
    " WHERE session_key = $1 AND role = $2 AND version = $3"
)
"""The same for PostgreSQL by its driver: what each action needs."""


class SqlSessionStore:
    """Sessions in the gateway's database."""

    def __init__(self, url: str) -> None:
        self._engine = open_engine(url, schema=SCHEMA, is_autocommit=True)
        self._reader = read_only(self._engine)
        self._pool = None if is_sqlite(url) else PostgresPool(url, SCHEMA)
        self._together = (
            self._engine
            if self._pool is None
            else self._engine.execution_options(isolation_level="READ COMMITTED")
        )

    async def start(self) -> None:
        """Open the store; SQLite is migrated, PostgreSQL is checked."""
        await prepare(self._engine, SCRIPTS, SCHEMA)

    async def aclose(self) -> None:
        """Close the store."""
        if self._pool is not None:
            await self._pool.aclose()
        await self._engine.dispose()

    async def load(self, address: Address, known: Session | None = None) -> Session | None:
        """Return the session, ``known`` where that is its version; None: it was never stored."""
        if self._pool is not None:
            row = await self._pool.fetch_one(_FAST_LOADING, address.key.hex(), address.role)
        else:
            row = await self._row(_place(address))
        if row is None:
            return None
        return known if known is not None and row[3] == known.version else _session(*row)

    async def _row(self, place: dict[str, object]) -> _Row | None:
        with store_errors():
            return await at_once(self._reader, lambda one: one.execute(_LOADING, place).first())

    async def save(self, session: Session) -> Session | None:
        """Store a session over its own version; None: another version is stored."""
        stored = replace(session, version=session.version + 1)
        if self._pool is not None:
            return stored if await _saved(self._pool, stored) else None
        writing = _CHANGING if session.version else _ADDING
        values = _change(stored) if session.version else _row(stored)

        def save(connection: Connection) -> int:
            return connection.execute(writing, values).rowcount

        with store_errors():
            try:
                changed = await at_once(self._engine, save)
            except exc.IntegrityError:
                return None
        return stored if changed == 1 else None

    async def save_all(self, sessions: Sequence[Session]) -> Sequence[Session] | None:
        """Store each of several sessions over its own version, all or none of them."""
        stored = [replace(session, version=session.version + 1) for session in sessions]
        new = [_row(session) for session in stored if session.version == 1]
        changed = [_change(session) for session in stored if session.version > 1]

        def save(connection: Connection) -> bool:
            if new:
                connection.execute(_ADDING, new)
            if changed and _changed_rows(connection, changed) != len(changed):
                connection.rollback()
                return False
            return True

        with store_errors():
            try:
                is_stored = await at_once(self._together, save)
            except exc.IntegrityError:
                return None
        return stored if is_stored else None

    async def consume(self, address: Address, now_unix_s: float) -> Session | None:
        """Remove and return a session that is not over yet."""
        asked = {**_place(address), "now_unix_s": now_unix_s}
        async with changing(self._engine) as connection:
            row = (await connection.execute(_TAKING, asked)).one_or_none()
        return _session(*row) if row is not None else None

    async def recent(self, ended_after_unix_s: float, limit: int) -> Sequence[Session]:
        """Return sessions that end or ended after then, the last to end first."""
        wanted = (
            sa.select(*_READ)
            .where(SESSIONS.c.expires_unix_s > ended_after_unix_s)
            .order_by(SESSIONS.c.expires_unix_s.desc())
            .limit(limit)
        )
        async with reading(self._reader) as connection:
            rows = (await connection.execute(wanted)).all()
        return [_session(*row) for row in rows]

    async def places(self, limit: int) -> Sequence[Place]:
        """Return where sessions are stored; their documents need not be looked at."""
        wanted = sa.select(SESSIONS.c.session_key, SESSIONS.c.role).limit(limit)
        async with reading(self._reader) as connection:
            return [(bytes.fromhex(key), role) for key, role in await connection.execute(wanted)]

    async def sweep(self, before_unix_s: float) -> int:
        """Remove the sessions that were over before then."""
        ending = SESSIONS.delete().where(SESSIONS.c.expires_unix_s < before_unix_s)
        async with changing(self._engine) as connection:
            return (await connection.execute(ending)).rowcount


async def _saved(pool: PostgresPool, stored: Session) -> bool:
    """Return whether a session was stored over the version before it."""
    place, before = (stored.address.key.hex(), stored.address.role), stored.version - 1
    values = (stored.version, stored.expires_unix_s, encode(stored))
    if before:
        return await pool.change(_FAST_CHANGING, *place, before, *values) == 1
    owner = stored.address.installation_id
    return await pool.change(_FAST_ADDING, *place, owner, *values) == 1


def _values(stored: Session) -> dict[str, object]:
    return {
        "version": stored.version,
        "expires_unix_s": stored.expires_unix_s,
        "document": encode(stored),
    }


def _row(stored: Session) -> dict[str, object]:
    address = stored.address
    return {
        "session_key": address.key.hex(),
        "role": address.role,
        "installation_id": address.installation_id,
        **_values(stored),
    }


def _place(address: Address) -> dict[str, object]:
    return {"at_key": address.key.hex(), "at_role": address.role}


def _change(stored: Session) -> dict[str, object]:
    return {
        **_place(stored.address),
        "at_version": stored.version - 1,
        **_values(stored),
    }


def _changed_rows(connection: Connection, changes: list[dict[str, object]]) -> int:
    """Change rows and return how many were; a driver that cannot count many is asked one by one."""
    if connection.dialect.supports_sane_multi_rowcount:
        return connection.execute(_CHANGING, changes).rowcount
    return sum(connection.execute(_CHANGING, change).rowcount for change in changes)


def _session(key: str, role: str, installation_id: str, version: int, document: bytes) -> Session:
    """Return the session of a row; a damaged one is empty, and is written over by its version."""
    address = Address(bytes.fromhex(key), role, InstallationId(installation_id))
    try:
        return decode(document, address, version)
    except DocumentError:
        _log.warning("session_unreadable", session_hash=key[:16])
        return Session(address, version)
