"""Where the encryption keys come from: settings, or a private file beside the database."""

from __future__ import annotations

import base64
import binascii
import os
from typing import TYPE_CHECKING

from services.runtime.config import ConfigError, SettingError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

KEY_BYTES = 32
FIX = "must be 32 bytes in base64 or 64 hex digits; make one with `openssl rand -base64 32`"


def parse_keys(texts: Sequence[str]) -> tuple[bytes, ...]:
    """Return the keys of the setting.

    Raises:
        SettingError: a key is malformed; names its place, never its text.
    """
    return tuple(_of_setting(text, index) for index, text in enumerate(texts))


def _of_setting(text: str, index: int) -> bytes:
    key = _decoded(text)
    if key is None:
        raise SettingError(f"services.credentials.encryption_keys.{index}", FIX)
    return key


def _decoded(text: str) -> bytes | None:
    """Return the key that ``text`` spells; None: it is malformed."""
    bare = text.strip()
    try:
        if len(bare) == 2 * KEY_BYTES:
            return bytes.fromhex(bare)
        key = base64.b64decode(bare.replace("-", "+").replace("_", "/"), validate=True)
    except (ValueError, binascii.Error):
        return None
    return key if len(key) == KEY_BYTES else None


def key_file_of(database: Path) -> Path:
    """Return the place of the key that belongs to an SQLite file."""
    return database.with_suffix(".key")


def read_or_make_key(path: Path) -> bytes:
    """Return the key in a file that only its owner may read; it is made when there is none.

    Raises:
        OSError: the file cannot be read or made.
        ConfigError: it holds something else than a key.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        found = _decoded(path.read_text())
        if found is None:
            raise ConfigError(f"{path}: {FIX}") from None
        return found
    key = os.urandom(KEY_BYTES)
    with os.fdopen(handle, "wb") as file:
        file.write(base64.b64encode(key) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return key
