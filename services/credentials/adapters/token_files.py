"""New tokens in files of their own until the store has them; nothing in them can be read.

A token that was replaced is of no use any more, so the answer that carries the new one must outlive
the process that asked for it. One file per account, for its owner alone, written whole or not.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from services.credentials.model import Kept, Sealed
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SUFFIX = ".pair"

_log = get_logger("credentials")


class TokenFiles:
    """Keeps sealed pairs in one directory, which is made for the first of them.

    ``sync`` returns when what was written to a file or directory outlives a loss of power.
    """

    def __init__(self, directory: Path, sync: Callable[[int], None] = os.fsync) -> None:
        self._directory = directory
        self._sync = sync

    async def keep(self, kept: Kept) -> None:
        """Keep a pair, on the disk when this returns; an earlier one of the account goes.

        Raises:
            OSError: it cannot be written.
        """
        await asyncio.to_thread(self._write, kept)

    async def kept(self) -> tuple[Kept, ...]:
        """Return what is kept; a file that is no pair, or cannot be read, is passed over.

        Raises:
            OSError: the directory cannot be read.
        """
        return await asyncio.to_thread(lambda: tuple(self._read()))

    async def drop(self, credential_id: str) -> None:
        """Forget the pair of an account.

        Raises:
            OSError: the file cannot be removed.
        """
        await asyncio.to_thread(self._path(credential_id).unlink, missing_ok=True)

    def _path(self, credential_id: str) -> Path:
        name = hashlib.sha256(credential_id.encode()).hexdigest()[:32]
        return self._directory / f"{name}{SUFFIX}"

    def _write(self, kept: Kept) -> None:
        absent = [one for one in (self._directory, *self._directory.parents) if not one.is_dir()]
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for made in absent:
            self._sync_names_in(made.parent)
        path = self._path(kept.credential_id)
        # By chance: processes in containers that share the directory may have one number.
        fresh = path.with_suffix(f".{secrets.token_hex(8)}.new")
        try:
            handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(_text_of(kept))
                file.flush()
                self._sync(file.fileno())
            fresh.replace(path)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise
        self._sync_names_in(self._directory)

    def _sync_names_in(self, directory: Path) -> None:
        folder = os.open(directory, os.O_RDONLY)
        try:
            self._sync(folder)
        finally:
            os.close(folder)

    def _read(self) -> Iterator[Kept]:
        if not self._directory.is_dir():
            return
        for path in sorted(self._directory.glob(f"*{SUFFIX}")):
            try:
                found = _kept_of(path.read_bytes())
            except FileNotFoundError:  # another process has just stored it
                continue
            except OSError as error:
                _log.error("token_file_unreadable", file=path.name, error=type(error).__name__)
                continue
            if found is not None:
                yield found


class NoTokenFiles:
    """Keeps nothing: the store is gone with the process as well."""

    async def keep(self, kept: Kept) -> None:
        """Do nothing."""

    async def kept(self) -> tuple[Kept, ...]:
        """Return nothing."""
        return ()

    async def drop(self, credential_id: str) -> None:
        """Do nothing."""


def _text_of(kept: Kept) -> bytes:
    return orjson.dumps(
        {
            "credential_id": kept.credential_id,
            "version": kept.version,
            "deployment": kept.deployment,
            "key_id": kept.sealed.key_id,
            "ciphertext": base64.b64encode(kept.sealed.ciphertext).decode(),
        }
    )


def _kept_of(text: bytes) -> Kept | None:
    try:
        found = orjson.loads(text)
        ciphertext = base64.b64decode(found["ciphertext"], validate=True)
        sealed = Sealed(str(found["key_id"]), ciphertext)
        deployment = str(found.get("deployment", ""))
        return Kept(str(found["credential_id"]), int(found["version"]), sealed, deployment)
    except (orjson.JSONDecodeError, binascii.Error, KeyError, TypeError, ValueError):
        return None
