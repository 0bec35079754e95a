"""The store on SQLite and on PostgreSQL, through one set of statements."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from services.credentials.adapters import leases, rows, tables
from services.credentials.model import Sealed, Stored, version_conflict
from services.runtime import database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

    from services.credentials.model import AuditEntry, Credential, Lease, Record

SCHEMA = "credentials"
SCRIPTS = Path(__file__).parent / "migrations"
REMEMBERED_REVISIONS = 10_000
"""How far back removals are remembered; who is further behind loads everything."""


class SqlStore:
    """Keeps everything in one database; every write is one transaction."""

    def __init__(self, url: str) -> None:
        self._engine = database.open_engine(url, schema=SCHEMA)
        self._reader = database.read_only(self._engine)
        self._is_sqlite = self._engine.dialect.name == "sqlite"

    async def start(self) -> None:
        """Make sure that the tables are there: SQLite migrates by itself, PostgreSQL is checked.

        SQLite belongs to one process: leases that are left there are those of one that died.
        """
        await database.prepare(self._engine, SCRIPTS, SCHEMA)
        if self._is_sqlite:
            with database.store_errors():
                async with self._engine.begin() as connection:
                    await leases.lapse_all(connection)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._engine.dispose()

    async def load(self) -> Stored:
        """Return everything; a row that cannot be read comes as a quarantined credential."""
        with database.store_errors():
            async with self._reading() as connection:
                revision = await _revision(connection)
                records = await _records(connection, sa.true())
        return Stored(revision, records)

    async def changes(self, since: int) -> Stored | None:
        """Return what was written or removed after a revision; None: that is forgotten."""
        gone, table = tables.removals, tables.credentials
        with database.store_errors():
            async with self._reading() as connection:
                revision = await _revision(connection)
                if not revision - REMEMBERED_REVISIONS < since <= revision:
                    return None
                removed = await connection.execute(
                    sa.select(gone.c.credential_id).where(gone.c.revision > since)
                )
                ids = tuple(str(row[0]) for row in removed)
                records = await _records(connection, table.c.change_revision > since)
        return Stored(revision, records, ids)

    async def revision(self) -> int:
        """Return the number of writes so far."""
        with database.store_errors():
            async with self._reader.connect() as connection:
                return await _revision(connection)

    async def now_unix_s(self) -> float:
        """Return the time by the store's own clock, by which leases end."""
        with database.store_errors():
            async with self._reader.connect() as connection:
                return float(
                    (await connection.execute(sa.select(leases.now_of(connection)))).scalar_one()
                )

    async def insert(self, records: Sequence[Record], audit: AuditEntry | None) -> int | None:
        """Store new credentials in one step; None: an id or an idempotency key is taken."""
        values = [rows.row_of(record) for record in records]
        marks = [row for record in records for row in rows.mark_rows(record.credential)]
        try:
            with database.store_errors():
                async with self._engine.begin() as connection:
                    await connection.execute(sa.insert(tables.credentials), values)
                    if marks:
                        await connection.execute(sa.insert(tables.marks), marks)
                    ids = [record.credential.id for record in records]
                    await _write_audit(connection, ids, audit)
                    return await _next_revision(connection, ids)
        except IntegrityError:
            return None

    async def replace(
        self, record: Record, expected_state_version: int, audit: AuditEntry | None
    ) -> int:
        """Store the whole record in place of the expected version."""
        table, credential = tables.credentials, record.credential
        with database.store_errors():
            async with self._engine.begin() as connection:
                done = await connection.execute(
                    sa.update(table)
                    .where(
                        table.c.id == credential.id,
                        table.c.state_version == expected_state_version,
                    )
                    .values(rows.row_of(record))
                )
                if done.rowcount != 1:
                    raise version_conflict()
                await _write_marks(connection, credential)
                await _write_audit(connection, [credential.id], audit)
                return await _next_revision(connection, [credential.id])

    async def delete(
        self, credential_id: str, expected_state_version: int, audit: AuditEntry | None
    ) -> int | None:
        """Remove a credential with its marks; None: it was not there."""
        table = tables.credentials
        found = table.c.id == credential_id
        wanted = found
        if expected_state_version:
            wanted = sa.and_(found, table.c.state_version == expected_state_version)
        with database.store_errors():
            async with self._engine.begin() as connection:
                done = await connection.execute(sa.delete(table).where(wanted))
                if done.rowcount != 1:
                    other = await connection.execute(sa.select(table.c.id).where(found))
                    if other.first() is not None:
                        raise version_conflict()
                    return None
                await _write_audit(connection, [credential_id], audit)
                revision = await _next_revision(connection, ())
                await _note_removal(connection, credential_id, revision)
                return revision

    @contextlib.asynccontextmanager
    async def _reading(self) -> AsyncIterator[AsyncConnection]:
        """Give a connection whose reads are all of one moment."""
        async with self._reader.connect() as connection:
            if not self._is_sqlite:
                await connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    async def deployment_key(self, name: str, fresh: Sealed) -> Sealed:
        """Return the sealed key of that name; ``fresh`` becomes it when there is none yet."""
        table = tables.deployment_keys
        wanted = sa.select(table).where(table.c.name == name)
        values = {"name": name, "key_id": fresh.key_id, "ciphertext": fresh.ciphertext}
        with database.store_errors():
            async with self._reader.connect() as connection:
                row = (await connection.execute(wanted)).first()
            if row is None:
                try:
                    async with self._engine.begin() as connection:
                        await connection.execute(sa.insert(table).values(values))
                except IntegrityError:
                    pass  # another replica was faster: its key is everybody's
                async with self._reader.connect() as connection:
                    row = (await connection.execute(wanted)).one()
        return Sealed(row.key_id, row.ciphertext)

    async def replace_deployment_key(self, name: str, expected: Sealed, fresh: Sealed) -> None:
        """Store a deployment's key sealed anew; where another one is stored that stays."""
        table = tables.deployment_keys
        ours = sa.and_(table.c.name == name, table.c.ciphertext == expected.ciphertext)
        values = {"key_id": fresh.key_id, "ciphertext": fresh.ciphertext}
        with database.store_errors():
            async with self._engine.begin() as connection:
                await connection.execute(sa.update(table).where(ours).values(values))

    async def take_lease(self, credential_id: str, ttl_s: float) -> Lease | None:
        """Return the right to refresh a credential; None: another process has it."""
        try:
            with database.store_errors():
                async with self._engine.begin() as connection:
                    return await leases.take(connection, credential_id, ttl_s)
        except IntegrityError:
            return None  # the credential is gone

    async def extend_lease(self, lease: Lease, ttl_s: float) -> bool:
        """Return whether a lease is still held, and now lasts for so long from now."""
        with database.store_errors():
            async with self._engine.begin() as connection:
                return await leases.extend(connection, lease, ttl_s)

    async def free_lease(self, lease: Lease, *, is_doubtful: bool = False) -> None:
        """Give a lease back; one that lapsed frees nothing that was given since."""
        with database.store_errors():
            async with self._engine.begin() as connection:
                await leases.free(connection, lease, is_doubtful=is_doubtful)


async def _revision(connection: AsyncConnection) -> int:
    value = (await connection.execute(sa.select(tables.revision.c.value))).scalar_one()
    return int(value)


async def _next_revision(connection: AsyncConnection, changed: Sequence[str]) -> int:
    """Raise the revision, as the last step of a write: its row is locked until the commit.

    So revisions become visible in order, and what is at or below one is complete.
    """
    table = tables.revision
    await connection.execute(sa.update(table).values(value=table.c.value + 1))
    value = await _revision(connection)
    table = tables.credentials
    if changed:
        await connection.execute(
            sa.update(table).where(table.c.id.in_(changed)).values(change_revision=value)
        )
    return value


async def _note_removal(connection: AsyncConnection, credential_id: str, revision: int) -> None:
    table = tables.removals
    forgotten = table.c.revision <= revision - REMEMBERED_REVISIONS
    same = table.c.credential_id == credential_id
    await connection.execute(sa.delete(table).where(sa.or_(forgotten, same)))
    await connection.execute(
        sa.insert(table), {"credential_id": credential_id, "revision": revision}
    )


async def _records(
    connection: AsyncConnection, wanted: sa.ColumnElement[bool]
) -> tuple[Record, ...]:
    table, marks = tables.credentials, tables.marks
    found_rows = (await connection.execute(sa.select(table).where(wanted))).mappings().all()
    of_these = sa.select(table.c.id).where(wanted)
    kept = await connection.execute(sa.select(marks).where(marks.c.credential_id.in_(of_these)))
    found: dict[str, list[dict[str, object]]] = {}
    for mark in kept.mappings():
        found.setdefault(str(mark["credential_id"]), []).append(dict(mark))
    return tuple(rows.record_of(dict(row), found.get(str(row["id"]), ())) for row in found_rows)


async def _write_marks(connection: AsyncConnection, credential: Credential) -> None:
    table = tables.marks
    await connection.execute(sa.delete(table).where(table.c.credential_id == credential.id))
    kept = rows.mark_rows(credential)
    if kept:
        await connection.execute(sa.insert(table), kept)


async def _write_audit(
    connection: AsyncConnection, credential_ids: Sequence[str], entry: AuditEntry | None
) -> None:
    if entry is None:
        return
    common = {
        "time_unix_s": entry.time_unix_s,
        "actor": entry.actor,
        "action": entry.action,
        "detail": entry.detail,
    }
    await connection.execute(
        sa.insert(tables.audit), [{**common, "credential_id": one} for one in credential_ids]
    )
