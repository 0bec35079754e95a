"""Engines for SQLite: one file of one process, readable by its owner alone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING, Any

from sqlalchemy import event
from sqlalchemy.engine import URL
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import StaticPool
from sqlalchemy.util import await_only

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy.engine import Connection

    # What drivers hand to event listeners is untyped: Any in this module's listeners.

BUSY_TIMEOUT_MS = 5_000
PAUSE_MS = 20
WRITE_AHEAD = "PRAGMA journal_mode = WAL"
READ_ONLY = "pointsman_read_only"
"""Option of connections that write nothing."""


def sqlite_engine(path: Path | None) -> AsyncEngine:
    """Return an engine for a file, or one in memory; nothing is opened before its first connection.

    Its transactions take the write lock at their start, those that are :data:`READ_ONLY` do not.
    """
    if path is None:
        engine = create_async_engine("sqlite+aiosqlite://", poolclass=StaticPool)
    else:
        engine = create_async_engine(URL.create("sqlite+aiosqlite", database=str(path)))
    sync = engine.sync_engine

    @event.listens_for(sync, "do_connect")
    def make_file(*_: Any) -> None:
        if path is not None:
            _make_private(path)

    @event.listens_for(sync, "connect")
    def set_up(connection: Any, _: Any) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        _use_write_ahead_log(cursor)
        cursor.execute("PRAGMA synchronous = NORMAL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @event.listens_for(sync, "begin")
    def begin(connection: Connection) -> None:
        is_reader = connection.get_execution_options().get(READ_ONLY, False)
        connection.exec_driver_sql("BEGIN" if is_reader else "BEGIN IMMEDIATE")

    return engine


def _use_write_ahead_log(cursor: Any) -> None:
    """Change the journal's mode; SQLite refuses it at once while others open the file, too."""
    for _ in range(BUSY_TIMEOUT_MS // PAUSE_MS):
        try:
            cursor.execute(WRITE_AHEAD)
        except sqlite3.OperationalError:
            await_only(asyncio.sleep(PAUSE_MS / 1000))
        else:
            return
    cursor.execute(WRITE_AHEAD)


def _make_private(path: Path) -> None:
    """Create the file for its owner alone; SQLite gives its side files the same mode.

    A file that is there is not opened: closing it would drop the locks that this process holds on
    it through other connections, and a reader outside could then take the write-ahead log away.
    Source: https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
