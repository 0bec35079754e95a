"""What upstreams say about credentials, and what it does to their marks."""

from __future__ import annotations

from services.credentials.policy.evidence.classes import Effect, effect_of, is_stale
from services.credentials.policy.evidence.rules import Rules, Seen, Step
from services.credentials.policy.evidence.step import (
    blocked_by_token,
    cleared_by_operator,
    cleared_by_secret,
    observe,
    reviewed,
    swept,
)

__all__ = [
    "Effect",
    "Rules",
    "Seen",
    "Step",
    "blocked_by_token",
    "cleared_by_operator",
    "cleared_by_secret",
    "effect_of",
    "is_stale",
    "observe",
    "reviewed",
    "swept",
]
