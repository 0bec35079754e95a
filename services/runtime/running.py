"""Lets commands find a router that runs on this machine: a file beside its database.

The file is locked for as long as the process lives, whatever ends it, and says where it listens.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import TYPE_CHECKING

import orjson

from services.runtime.database import is_sqlite, sqlite_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIX = ".running"
_MOST_BYTES = 4_096


def mark_of(database: str) -> Path | None:
    """Return the file that says who runs on a database; None: its users are not on one machine."""
    path = sqlite_path(database) if is_sqlite(database) else None
    return None if path is None else path.with_name(path.name + SUFFIX)


@contextlib.contextmanager
def marked(database: str, url: str) -> Iterator[bool]:
    """Say for the length of a block that a router at ``url`` runs on a database.

    Gives whether it could be said: not where another router said so first, or the database is not
    a file, or its folder takes no other.
    """
    mark = mark_of(database)
    try:
        descriptor = None if mark is None else os.open(mark, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        descriptor = None
    if descriptor is None:
        yield False
        return
    try:
        is_ours = _is_locked(descriptor, fcntl.LOCK_EX)
        if is_ours:
            _write(descriptor, orjson.dumps({"url": url}))
        try:
            yield is_ours
        finally:
            if is_ours:
                _write(descriptor, b"")
    finally:
        os.close(descriptor)


def found(database: str) -> str:
    """Return where a router listens that runs on a database; empty: none does, or none is told."""
    mark = mark_of(database)
    try:
        descriptor = None if mark is None else os.open(mark, os.O_RDONLY)
    except OSError:
        descriptor = None
    if descriptor is None:
        return ""
    try:
        if _is_locked(descriptor, fcntl.LOCK_SH):
            return ""
        raw = os.pread(descriptor, _MOST_BYTES, 0)
    finally:
        os.close(descriptor)
    try:
        said = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return ""
    url = said.get("url") if isinstance(said, dict) else None
    return url if isinstance(url, str) else ""


def _is_locked(descriptor: int, how: int) -> bool:
    """Return whether the lock could be had, which nobody else holds then."""
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _write(descriptor: int, text: bytes) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text, 0)
