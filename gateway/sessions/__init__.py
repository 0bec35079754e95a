"""What is remembered of a session: values, pure transitions, and the memory in front of a store."""

from __future__ import annotations

from gateway.sessions.memory import Recall, Sessions
from gateway.sessions.model import (
    Address,
    BindingUse,
    CacheState,
    Choice,
    Pin,
    Session,
    Strike,
    TokenCounts,
)
from gateway.sessions.ports import SessionStore

__all__ = [
    "Address",
    "BindingUse",
    "CacheState",
    "Choice",
    "Pin",
    "Recall",
    "Session",
    "SessionStore",
    "Sessions",
    "Strike",
    "TokenCounts",
]
