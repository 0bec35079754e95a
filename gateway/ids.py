"""Ids of what the router itself says."""

from __future__ import annotations

from services.runtime.randomness import random_bytes


def new_id(prefix: str) -> str:
    """Return a fresh id with that prefix."""
    return prefix + random_bytes().hex()
