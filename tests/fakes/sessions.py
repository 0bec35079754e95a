"""A session store in memory that can be slow, down or interfered with."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from gateway.sessions.model import Address, Session
from services.domain.errors import Reason, RouterError


class MemorySessionStore:
    """Sessions in a dict; counts what it is asked."""

    def __init__(self) -> None:
        self.rows: dict[tuple[bytes, str], Session] = {}
        self.loads = 0
        self.saves = 0
        self.is_down = False
        self.delay_s = 0.0

    async def start(self) -> None:
        """Do nothing: a dict is always open."""

    async def aclose(self) -> None:
        """Do nothing."""

    async def load(self, address: Address, known: Session | None = None) -> Session | None:
        self.loads += 1
        await self._answer()
        found = self.rows.get((address.key, address.role))
        if found is not None and known is not None and found.version == known.version:
            return known
        return found

    async def save(self, session: Session) -> Session | None:
        self.saves += 1
        await self._answer()
        place = (session.address.key, session.address.role)
        old = self.rows.get(place)
        if (old.version if old else 0) != session.version:
            return None
        address = old.address if old else session.address
        stored = replace(session, address=address, version=session.version + 1)
        self.rows[place] = stored
        return replace(stored, address=session.address)

    async def save_all(self, sessions: Sequence[Session]) -> Sequence[Session] | None:
        self.saves += 1
        await self._answer()
        places = [(session.address.key, session.address.role) for session in sessions]
        olds = [self.rows.get(place) for place in places]
        versions = [old.version if old else 0 for old in olds]
        if versions != [session.version for session in sessions]:
            return None
        for place, old, session in zip(places, olds, sessions, strict=True):
            address = old.address if old else session.address
            self.rows[place] = replace(session, address=address, version=session.version + 1)
        return [replace(session, version=session.version + 1) for session in sessions]

    async def consume(self, address: Address, now_unix_s: float) -> Session | None:
        await self._answer()
        place = (address.key, address.role)
        found = self.rows.get(place)
        if found is None or found.expires_unix_s <= now_unix_s:
            return None
        return self.rows.pop(place)

    async def recent(self, ended_after_unix_s: float, limit: int) -> Sequence[Session]:
        await self._answer()
        live = [row for row in self.rows.values() if row.expires_unix_s > ended_after_unix_s]
        return sorted(live, key=lambda row: row.expires_unix_s, reverse=True)[:limit]

    async def places(self, limit: int) -> Sequence[tuple[bytes, str]]:
        await self._answer()
        return list(self.rows)[:limit]

    async def sweep(self, before_unix_s: float) -> int:
        await self._answer()
        over = [at for at, row in self.rows.items() if row.expires_unix_s < before_unix_s]
        for place in over:
            del self.rows[place]
        return len(over)

    async def _answer(self) -> None:
        await asyncio.sleep(self.delay_s)
        if self.is_down:
            raise RouterError(Reason.STORE_UNAVAILABLE, "the store does not answer")
