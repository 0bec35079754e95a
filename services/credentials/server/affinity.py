"""Which credential a session is on: a prompt cache belongs to an account."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.model import Purpose
from services.credentials.server.bounded import Bounded

if TYPE_CHECKING:
    from services.credentials.model import BindingRef, Query, Subject
    from services.credentials.policy.hashing import Hasher
    from services.credentials.ports import Shared
    from services.runtime.clock import Clock

MAX_AFFINITIES = 65_536

Key = tuple[str, str, bytes, str]
"""Tenant, provider, session, canonical model."""


class Affinities:
    """Remembers bindings here and among replicas; one slides on as long as it is used."""

    def __init__(self, shared: Shared, ttl_s: float, clock: Clock, *, is_on: bool) -> None:
        self._shared = shared
        self._ttl_s = ttl_s
        self._clock = clock
        self._is_on = is_on
        self._bound: Bounded[Key, str] = Bounded(MAX_AFFINITIES, ttl_s)
        self._told: Bounded[Key, bool] = Bounded(MAX_AFFINITIES, ttl_s / 2)

    def key(self, query: Query, binding: BindingRef, subject: Subject) -> Key | None:
        """Return what a binding is kept under; calls of our own have none."""
        if not (self._is_on and query.session_key and query.purpose is Purpose.SERVE):
            return None
        return (query.installation_id, binding.provider, query.session_key, subject.model_id)

    def bound_id(self, key: Key | None) -> str:
        """Return the credential that a session is on, as far as this replica knows; empty: none."""
        return "" if key is None else self._bound.get(key, self._clock.monotonic_s()) or ""

    async def first_bound_id(self, key: Key, picked_id: str, hasher: Hasher) -> str:
        """Return the credential that the first replica bound a new session to; the picked one
        where this is the first."""
        if self._shared.is_alone:
            return picked_id
        return await self._shared.bound(_name(key, hasher), picked_id, self._ttl_s)

    def bind(self, key: Key, credential_id: str) -> bool:
        """Note which credential a session is on now; return whether the others must be told."""
        now_s = self._clock.monotonic_s()
        is_same = self._bound.get(key, now_s) == credential_id
        self._bound.put(key, credential_id, now_s)
        return not (self._shared.is_alone or (is_same and self._told.get(key, now_s)))

    async def tell(self, key: Key, credential_id: str, hasher: Hasher) -> None:
        """Tell the other replicas which credential a session is on."""
        self._told.put(key, value=True, now_s=self._clock.monotonic_s())
        await self._shared.rebind(_name(key, hasher), credential_id, self._ttl_s)

    def leave(self, credential_id: str) -> None:
        """Forget the bindings to a credential that can serve no more."""
        for key, bound_id in self._bound.live(self._clock.monotonic_s()):
            if bound_id == credential_id:
                self._bound.drop(key)


def _name(key: Key, hasher: Hasher) -> str:
    installation_id, provider, session, model_id = key
    return hasher.shared(installation_id, provider, session.hex(), model_id)
