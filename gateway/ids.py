"""Ids of what the router itself says."""

from __future__ import annotations

import secrets


def new_id(prefix: str) -> str:
    """Return a fresh id with that prefix."""
    return prefix + secrets.token_hex(12)
