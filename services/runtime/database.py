"""Databases of the services: engines for SQLite and PostgreSQL, and their migrations.

The tree of errors::

    DatabaseError               it cannot be opened or used; the message names it and the fix
    └── NotMigratedError        its tables are older or newer than this program

SQLite belongs to one process: it migrates by itself when :func:`prepare` opens it. PostgreSQL is
migrated by an operator only, under a lock, each owner in a schema of its own. Nothing here is
opened before the first connection, so an engine can be built without I/O.
"""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import column, exc, inspect, select, table
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.util import greenlet_spawn

from services.domain.errors import RouterError
from services.runtime.launch import StartError
from services.runtime.postgres import connection_errors, postgres_engine, unavailable
from services.runtime.sqlite import READ_ONLY, sqlite_engine

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from sqlalchemy.engine import Connection
    from sqlalchemy.ext.asyncio import AsyncConnection

T = TypeVar("T")

MEMORY_URL = "sqlite:///:memory:"
"""A database that lives as long as its engine; for tests."""

VERSION_TABLE = "alembic_version"


class DatabaseError(StartError):
    """A database cannot be opened or used; the message is one line for the operator."""


class NotMigratedError(DatabaseError):
    """The tables are not those that this program needs."""


@dataclass(frozen=True, slots=True)
class MigrationStatus:
    """Which revision a database has and which one this program needs. Empty: none."""

    schema: str
    current: str
    head: str

    @property
    def is_current(self) -> bool:
        """Whether nothing needs to be migrated."""
        return self.current == self.head


def is_sqlite(url: str) -> bool:
    """Return whether ``url`` (or a bare path) names an SQLite database."""
    return "://" not in url or url.startswith("sqlite")


def sqlite_path(url: str) -> Path | None:
    """Return the file of an SQLite URL or bare path; None for a database in memory."""
    name = url.partition(":///")[2] if "://" in url else url
    return None if name in ("", ":memory:") else Path(name).expanduser()


def display_name(url: str) -> str:
    """Return ``url`` without its password, fit for messages."""
    if is_sqlite(url):
        return str(sqlite_path(url) or "in memory")
    return make_url(url).render_as_string(hide_password=True)


def open_engine(url: str, *, schema: str = "", is_autocommit: bool = False) -> AsyncEngine:
    """Return an engine for ``url``; nothing is opened before its first connection.

    ``schema`` is where the tables of one owner live on PostgreSQL; SQLite has a file per owner.
    On SQLite a transaction takes the write lock at its start (a late one would fail at once
    instead of waiting); use :func:`read_only` where nothing is written.

    ``is_autocommit`` makes every statement on PostgreSQL a transaction of its own, which saves two
    round trips; for owners that never need two statements to hold together.

    Raises:
        DatabaseError: the URL cannot be read.
    """
    if is_sqlite(url):
        return sqlite_engine(sqlite_path(url))
    try:
        parsed = make_url(url)
    except exc.ArgumentError:
        raise DatabaseError("the database URL cannot be read: check [...] database") from None
    if not parsed.drivername.startswith("postgres"):
        raise DatabaseError(
            f"databases of kind {parsed.drivername!r} are not supported: use sqlite:///FILE or"
            " postgresql://…"
        )
    return postgres_engine(parsed, schema, is_autocommit=is_autocommit)


def read_only(engine: AsyncEngine) -> AsyncEngine:
    """Return ``engine`` for transactions that only read; on SQLite they wait for no writer."""
    return engine.execution_options(**{READ_ONLY: True})


async def at_once(engine: AsyncEngine, work: Callable[[Connection], T]) -> T:
    """Return what ``work`` returns, in a transaction of its own; for statements of a hot path.

    It switches once between the loop and the driver where :class:`AsyncEngine` does for every step.
    """

    def run() -> T:
        with engine.sync_engine.begin() as connection:
            return work(connection)

    return await greenlet_spawn(run)


@contextlib.contextmanager
def store_errors() -> Iterator[None]:
    """Turn a database that is down, locked or late into the error that callers act on.

    Broken constraints pass as they are: the store knows what they mean.

    Raises:
        RouterError: STORE_UNAVAILABLE.
    """
    try:
        yield
    except (exc.IntegrityError, RouterError):
        raise
    except (exc.DBAPIError, exc.TimeoutError, DatabaseError) as error:
        raise unavailable(error) from error
    except exc.InvalidRequestError as error:
        if not _is_of_lost_connection(error):
            raise
        raise unavailable(error) from error
    except connection_errors() as error:
        raise unavailable(error) from error


@contextlib.asynccontextmanager
async def reading(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Give a connection; its faults are those of :func:`store_errors`."""
    with store_errors():
        async with engine.connect() as connection:
            yield connection


@contextlib.asynccontextmanager
async def changing(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Give a transaction, committed at the end; its faults are those of :func:`store_errors`."""
    with store_errors():
        async with engine.begin() as connection:
            yield connection


def _is_of_lost_connection(error: exc.InvalidRequestError) -> bool:
    """Return whether a request is invalid only because its connection went away under it."""
    is_closed = isinstance(error, exc.ResourceClosedError | exc.PendingRollbackError)
    return is_closed or "connection is closed" in str(error)


async def prepare(engine: AsyncEngine, scripts: Path, schema: str) -> None:
    """Make sure that the tables fit: migrates SQLite, checks PostgreSQL.

    Raises:
        NotMigratedError: PostgreSQL has other tables; the message names the command.
        DatabaseError: the database cannot be opened or written.
    """
    if engine.dialect.name == "sqlite":
        await migrate(engine, scripts, schema)
        return
    status = await migration_status(engine, scripts, schema)
    if not status.is_current:
        raise NotMigratedError(
            f"{_engine_name(engine)}: schema {schema!r} is at revision"
            f" {status.current or 'none'}, this program needs {status.head}:"
            " run `pointsman migrate up`"
        )


async def migrate(database: AsyncEngine | str, scripts: Path, schema: str) -> MigrationStatus:
    """Bring the tables of one owner to the newest revision; one migrator at a time.

    ``scripts`` is a folder with ``versions/``; names begin with their revision, in order.

    Raises:
        NotMigratedError: the database is newer than this program.
        DatabaseError: the database cannot be opened or written.
    """
    async with _borrowed(database, schema) as engine:
        with _named_errors(engine):
            async with engine.begin() as connection:
                done: MigrationStatus = await connection.run_sync(_upgrade, scripts, schema)
                return done


async def migration_status(
    database: AsyncEngine | str, scripts: Path, schema: str
) -> MigrationStatus:
    """Return the revision of one owner's tables beside the one that is needed.

    Raises:
        DatabaseError: the database cannot be opened.
    """
    async with _borrowed(database, schema) as engine:
        with _named_errors(engine):
            async with read_only(engine).connect() as connection:
                status: MigrationStatus = await connection.run_sync(_status, scripts, schema)
                return status


@contextlib.asynccontextmanager
async def _borrowed(database: AsyncEngine | str, schema: str) -> AsyncIterator[AsyncEngine]:
    if isinstance(database, AsyncEngine):
        yield database
        return
    engine = open_engine(database, schema=schema)
    try:
        yield engine
    finally:
        await engine.dispose()


@contextlib.contextmanager
def _named_errors(engine: AsyncEngine) -> Iterator[None]:
    try:
        yield
    except (exc.DBAPIError, OSError, TimeoutError, sqlite3.Error) as error:
        cause = getattr(error, "orig", None) or error
        said = getattr(cause, "strerror", None) or str(cause).partition("\n")[0]
        raise DatabaseError(
            f"database {_engine_name(engine)} cannot be used: {said or type(cause).__name__};"
            " check its path, rights and the database setting"
        ) from error


def _engine_name(engine: AsyncEngine) -> str:
    if engine.dialect.name == "sqlite":
        return engine.url.database or "in memory"
    return engine.url.set(drivername="postgresql").render_as_string(hide_password=True)


def _upgrade(connection: Connection, scripts: Path, schema: str) -> MigrationStatus:
    status = _status(connection, scripts, schema)
    if status.is_current:
        return status
    from services.runtime import migration  # slow to import, seldom needed

    migration.upgrade(connection, scripts, schema)
    return _status(connection, scripts, schema)


def _status(connection: Connection, scripts: Path, schema: str) -> MigrationStatus:
    versions = table(VERSION_TABLE, column("version_num"), schema=table_schema(connection, schema))
    current = ""
    if inspect(connection).has_table(VERSION_TABLE, versions.schema):
        current = connection.execute(select(versions.c.version_num)).scalar() or ""
    return MigrationStatus(schema=schema, current=current, head=head_of(scripts))


def head_of(scripts: Path) -> str:
    """Return the newest revision of a folder of migrations."""
    names = (found.name for found in (scripts / "versions").glob("[0-9]*.py"))
    return max((name.partition("_")[0] for name in names), default="")


def table_schema(connection: Connection, schema: str) -> str | None:
    """Return where an owner's tables are; None: SQLite has no schemas."""
    return schema if connection.dialect.name == "postgresql" else None
