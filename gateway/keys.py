"""Router keys: their tokens, digests and display parts. Pure but for the drawing of tokens.

A token is ``rk_`` (routing) or ``ra_`` (analytics) and 24 base62 characters. Only its SHA-256 is
stored; of a token with 24 characters or more its first eight and last four are kept for display.
"""

from __future__ import annotations

import hashlib
import secrets
import string
import uuid

from gateway.model import InstallationId, RouterKey, Scope

BODY_CHARS = 24
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
PREFIXES = {Scope.ROUTING: "rk_", Scope.ANALYTICS_READ: "ra_"}
MAX_TOKEN_CHARS = 256
MIN_SHOWN_CHARS = 24
"""Shortest token of which anything is shown."""


def new_token(scope: Scope = Scope.ROUTING) -> str:
    """Return a token that nobody has seen; ``secrets`` draws without bias."""
    return PREFIXES[scope] + "".join(secrets.choice(ALPHABET) for _ in range(BODY_CHARS))


def digest_of(token: str) -> str:
    """Return the SHA-256 of a token in hex: all that is stored of it."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def is_token(token: str) -> bool:
    """Return whether a text has the form of a token of ours; anything else is never looked up."""
    return token.startswith(tuple(PREFIXES.values())) and len(token) <= MAX_TOKEN_CHARS


def key_of(
    token: str,
    installation_id: InstallationId,
    *,
    name: str,
    now_unix_s: float,
    scope: Scope = Scope.ROUTING,
    expires_unix_s: float | None = None,
) -> RouterKey:
    """Return the key to store for a new token."""
    is_shown = len(token) >= MIN_SHOWN_CHARS
    return RouterKey(
        id=str(uuid.uuid4()),
        installation_id=installation_id,
        name=name,
        scope=scope,
        digest=digest_of(token),
        display_prefix=token[:8] if is_shown else "",
        display_suffix=token[-4:] if is_shown else "",
        created_unix_s=now_unix_s,
        expires_unix_s=expires_unix_s,
    )
