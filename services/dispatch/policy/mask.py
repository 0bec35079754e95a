"""Upstream bodies without keys: everything else keeps its bytes."""

from __future__ import annotations

import re

_KEY_SHAPED = re.compile(
    rb"\b(?:sk|rk|pk|gsk|xai)[-_][A-Za-z0-9_-]{12,}"
    rb"|\bAIza[A-Za-z0-9_-]{20,}"
    rb"|\bya29\.[A-Za-z0-9_.-]{8,}"
    rb"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*"
    rb"|(?i:(?<=bearer ))[^\s\"',;\\]{8,}"
)
MASK = b"***"


def masked_body(body: bytes) -> bytes:
    """Return ``body`` with key-shaped text replaced."""
    return _KEY_SHAPED.sub(MASK, body) if body else b""


_SHORTEST_SECRET_BYTES = 8
"""Shorter ones may be parts of ordinary words."""


def maskable(secret: str) -> bytes:
    """Return what :func:`without_secret` looks for; empty: the secret is too short to be told."""
    key = secret.encode()
    return key if len(key) >= _SHORTEST_SECRET_BYTES else b""


def without_secret(data: bytes, key: bytes) -> bytes:
    """Return ``data`` without the very secret that an upstream was asked with and echoes.

    Finds it whatever its shape. One that is cut by the end of ``data`` is not found.
    """
    return data.replace(key, MASK) if key and key in data else data


def shown(message: str, key: bytes) -> str:
    """Return a message without the secret, as it may be shown."""
    return without_secret(message.encode(), key).decode()
