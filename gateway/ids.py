"""Ids of actions, and of what the router itself says."""

from __future__ import annotations

from gateway.model import ActionId
from services.runtime.randomness import random_bytes


def new_id(prefix: str) -> str:
    """Return a fresh id with that prefix."""
    return prefix + random_bytes().hex()


def new_action_id() -> ActionId:
    """Return an id that is unique for ever."""
    return ActionId(new_id("act_"))
