"""Where the encryption keys come from: settings, or a private file beside the database."""

from __future__ import annotations

import base64
import binascii
import os
from typing import TYPE_CHECKING

from services.runtime.config import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

KEY_BYTES = 32
FORMAT = "32 bytes in base64 or 64 hex digits"


def parse_keys(texts: Sequence[str]) -> tuple[bytes, ...]:
    """Return the keys of a setting.

    Raises:
        ConfigError: a key is malformed; names its place, never its text.
    """
    return tuple(
        parse_key(text, f"services.credentials.encryption_keys.{index}")
        for index, text in enumerate(texts)
    )


def parse_key(text: str, place: str) -> bytes:
    """Return one key.

    Raises:
        ConfigError: it is malformed.
    """
    bare = text.strip()
    try:
        if len(bare) == 2 * KEY_BYTES:
            return bytes.fromhex(bare)
        key = base64.b64decode(bare.replace("-", "+").replace("_", "/"), validate=True)
    except (ValueError, binascii.Error):
        key = b""
    if len(key) != KEY_BYTES:
        raise ConfigError(f"{place}: must be {FORMAT}; make one with `openssl rand -base64 32`")
    return key


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
        return parse_key(path.read_text(), str(path))
    key = os.urandom(KEY_BYTES)
    with os.fdopen(handle, "wb") as file:
        file.write(base64.b64encode(key) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return key
