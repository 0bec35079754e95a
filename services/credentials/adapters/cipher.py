"""AES-256-GCM under a list of keys: the first encrypts, all decrypt."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import os
from typing import TYPE_CHECKING

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from services.credentials.adapters.keys import KEY_BYTES, read_or_make_key
from services.credentials.model import Sealed, Secrets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NONCE_BYTES = 12
_FIELDS = frozenset(field.name for field in dataclasses.fields(Secrets))


class AesGcmCipher:
    """Seals with a random nonce per text; the row's identity is authenticated beside it."""

    def __init__(self, keys: Sequence[bytes], key_file: Path | None = None) -> None:
        self._keys = tuple(keys)
        self._key_file = key_file
        self._ciphers: dict[str, AESGCM] = {}
        self._first = ""

    async def start(self) -> None:
        """Make the keys ready: those given, else the one of the key file, else a passing one.

        Raises:
            OSError: the key file cannot be read or made.
            ConfigError: it holds no key.
        """
        keys = self._keys
        if not keys:
            file = self._key_file
            keys = (os.urandom(KEY_BYTES) if file is None else await _file_key(file),)
        self._ciphers = {key_id_of(key): AESGCM(key) for key in keys}
        self._first = key_id_of(keys[0])

    def __repr__(self) -> str:
        return f"AesGcmCipher({len(self._ciphers)} keys)"

    @property
    def key_id(self) -> str:
        """Return the public name of the first key."""
        return self._first

    def seal(self, plain: bytes, context: str) -> Sealed:
        """Return ``plain`` encrypted under the first key, bound to ``context``."""
        nonce = os.urandom(NONCE_BYTES)
        text = self._ciphers[self._first].encrypt(nonce, plain, context.encode())
        return Sealed(self._first, nonce + text)

    def open(self, sealed: Sealed, context: str) -> bytes | None:
        """Return what was sealed; None: no key opens it, or it is another context's."""
        cipher = self._ciphers.get(sealed.key_id)
        nonce, text = sealed.ciphertext[:NONCE_BYTES], sealed.ciphertext[NONCE_BYTES:]
        if cipher is None or len(text) < 16:
            return None
        try:
            return cipher.decrypt(nonce, text, context.encode())
        except InvalidTag:
            return None

    def seal_secrets(self, secrets: Secrets, credential_id: str, provider: str) -> Sealed:
        """Return the secrets of one credential, sealed for its row."""
        return self.seal(orjson.dumps(dataclasses.asdict(secrets)), f"{credential_id}\0{provider}")

    def open_secrets(self, sealed: Sealed, credential_id: str, provider: str) -> Secrets | None:
        """Return the secrets of one credential; None: they cannot be read."""
        plain = self.open(sealed, f"{credential_id}\0{provider}")
        if plain is None:
            return None
        try:
            fields = orjson.loads(plain)
            headers = tuple((str(name), str(value)) for name, value in fields.pop("headers"))
            # What a newer program added is not for this one.
            known = {name: value for name, value in fields.items() if name in _FIELDS}
            return Secrets(**known, headers=headers)
        except (orjson.JSONDecodeError, TypeError, KeyError, ValueError, AttributeError):
            return None


async def _file_key(path: Path) -> bytes:
    return await asyncio.to_thread(read_or_make_key, path)


def key_id_of(key: bytes) -> str:
    """Return the public name of a key; the key itself cannot be told from it."""
    return hashlib.sha256(b"pointsman key id\0" + key).hexdigest()[:16]
