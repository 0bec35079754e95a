"""Knows which marks lapse next, without looking at every mark each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.model import SystemState
from services.credentials.policy.standing import NEVER

if TYPE_CHECKING:
    from services.credentials.model import Credential, Pool


class Lapses:
    """Remembers for each credential when its next mark lapses."""

    def __init__(self) -> None:
        self._pool: Pool | None = None
        self._next: dict[str, tuple[Credential, float]] = {}

    def due(self, pool: Pool, now_unix_s: float) -> list[Credential]:
        """Return the credentials of which a mark has lapsed that nobody has noted yet."""
        self._read(pool)
        return [credential for credential, at in self._next.values() if at <= now_unix_s]

    def next_unix_s(self, pool: Pool, now_unix_s: float) -> float | None:
        """Return when the next mark lapses by itself; None: none will."""
        self._read(pool)
        ends = (at for _, at in self._next.values() if now_unix_s < at < NEVER)
        return min(ends, default=None)

    def _read(self, pool: Pool) -> None:
        if pool is self._pool:
            return
        before, self._pool = self._next, pool
        self._next = {}
        for identity, credential in pool.by_id.items():
            known = before.get(identity)
            if known is None or known[0] is not credential:
                known = (credential, _next_lapse(credential))
            self._next[identity] = known


def _next_lapse(credential: Credential) -> float:
    if credential.system_state is SystemState.QUARANTINED:
        return NEVER  # nothing is noted about what cannot be read
    return min(
        (
            mark.expire_unix_s
            for mark in credential.marks
            if mark.end_unix_s is None and mark.expire_unix_s is not None
        ),
        default=NEVER,
    )
