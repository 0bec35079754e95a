"""The session that an explained action is decided in: empty, or one with an assumed pin. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.deciding.pinned import Memory
from gateway.sessions.model import (
    TTL_S,
    BindingUse,
    CacheState,
    Choice,
    Pin,
    Session,
    TokenCounts,
)
from gateway.sessions.usage import SHORT_CACHE_TTL_S

if TYPE_CHECKING:
    from gateway.model.explained import AssumedPin
    from gateway.sessions.model import Address

_SOME = TokenCounts(cache_read=1)
"""Stands for a prefix of unknown size."""


def assumed_memory(
    address: Address, assumed: AssumedPin | None, strategy: str, now_unix_s: float
) -> Memory:
    """Return what would be remembered if the session were as the caller says."""
    if assumed is None:
        return Memory(Session(address))
    choice = Choice(assumed.model_id, assumed.provider, strategy, reason="assumed")
    pin = Pin(choice, until_unix_s=now_unix_s + TTL_S, first_unix_s=now_unix_s)
    if not assumed.has_completed_action:
        return Memory(Session(address, pin=pin))
    is_cold, is_broken = assumed.cache is CacheState.COLD, assumed.cache is CacheState.BROKEN
    use = BindingUse(
        model_id=assumed.model_id,
        provider=assumed.provider,
        fingerprint="",
        tokens=_SOME,
        started_unix_s=now_unix_s - (SHORT_CACHE_TTL_S if is_cold else 0.0),
        ended_unix_s=now_unix_s,
        cache_ttl_s=SHORT_CACHE_TTL_S,
    )
    return Memory(Session(address, pin=pin, uses=(use,), history_epoch=int(is_broken)))
