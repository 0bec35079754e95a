"""The first router key: given by the operator, or made once and shown once."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.keys import key_of, new_token
from services.runtime.database import sqlite_path
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from gateway.model import InstallationId
    from gateway.ports import KeyStore
    from services.runtime.clock import Clock

FILE_NAME = "first-router-key"
DEFAULT_FOLDER = Path("~/.pointsman")

_log = get_logger("gateway")


@dataclass(frozen=True, slots=True)
class FirstKey:
    """A key that was just made; ``file`` is where it was written, None: shown on the terminal."""

    token: str
    file: Path | None

    def __repr__(self) -> str:
        """Show no token."""
        return f"FirstKey(file={self.file})"


async def ensure_first_key(
    store: KeyStore,
    installation_id: InstallationId,
    clock: Clock,
    *,
    bootstrap_key: str,
    database: str,
) -> FirstKey | None:
    """Make sure that there is a router key; returns one that was made here.

    The operator's bootstrap key is stored when it is not there yet. Without one, and without any
    key, a key is made: shown on a terminal, else written to a file that only its owner can read.
    """
    now_unix_s = clock.now_unix_s()
    if bootstrap_key:
        key = key_of(bootstrap_key, installation_id, name="bootstrap", now_unix_s=now_unix_s)
        await store.add(key)
        return None
    if await store.has_keys():
        return None
    token = new_token()
    file = None if sys.stdout.isatty() else _write_private(_folder(database), token)
    await store.add(key_of(token, installation_id, name="first", now_unix_s=now_unix_s))
    if file is None:
        sys.stdout.write(f"router key (shown once): {token}\n")
    else:
        _log.info("first_router_key_written", file=str(file))
    return FirstKey(token, file)


def _folder(database: str) -> Path:
    path = sqlite_path(database) if database.startswith("sqlite") or "://" not in database else None
    return path.parent if path is not None else DEFAULT_FOLDER.expanduser()


def _write_private(folder: Path, token: str) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / FILE_NAME
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as out:
        os.fchmod(out.fileno(), 0o600)
        out.write(f"{token}\n")
    return file
