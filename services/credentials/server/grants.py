"""Grants that live, and the slots that they hold."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from services.credentials.model import InFlight, Selected
from services.credentials.server.line import Line
from services.domain.errors import Reason, RouterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from services.credentials.model import Grant, Slot
    from services.runtime.clock import Clock


K = TypeVar("K")


@dataclass(slots=True)
class _Held:
    selected: Selected
    key: tuple[str, str]
    model_id: str
    expire_s: float
    """Monotonic instant at which it lapses unless it is renewed."""
    has_slot: bool
    is_limited: bool
    forget_s: float = 0.0


class Grants:
    """Keeps each grant until it lapses, and for one lifetime more as lapsed.

    ``on_room`` is called whenever a limited credential gains or loses room.
    """

    def __init__(self, ttl_s: float, clock: Clock, on_room: Callable[[], None]) -> None:
        self._ttl_s = ttl_s
        self._clock = clock
        self._on_room = on_room
        self._held: dict[str, _Held] = {}
        self._by_key: dict[tuple[str, str], str] = {}
        self._due: list[tuple[float, str]] = []
        self._by_credential: dict[str, int] = {}
        self._by_model: dict[tuple[str, str], int] = {}
        self.line = Line()
        """Those who wait for a slot."""
        self.in_flight = InFlight(self._by_credential, self._by_model)
        """Live counts, for reading only."""

    def open(
        self, selected: Selected, key: tuple[str, str], model_id: str, *, slot: bool, limited: bool
    ) -> None:
        """Keep a grant; with ``slot`` it counts as an attempt in flight."""
        grant = selected.grant
        expire_s = self._clock.monotonic_s() + self._ttl_s
        held = _Held(selected, key, model_id, expire_s, slot, limited)
        self._held[grant.id] = held
        self._by_key[key] = grant.id
        heapq.heappush(self._due, (expire_s, grant.id))
        if slot:
            self._count(held, 1)

    def by_key(self, key: tuple[str, str]) -> Selected | None:
        """Return the live grant that a selection key was answered with."""
        self.expire_due()
        held = self._held.get(self._by_key.get(key, ""))
        return held.selected if held is not None and not held.forget_s else None

    def get(self, grant_id: str) -> Selected:
        """Return a live grant.

        Raises:
            RouterError: GRANT_UNKNOWN or GRANT_EXPIRED.
        """
        self.expire_due()
        held = self._held.get(grant_id)
        if held is None:
            raise RouterError(Reason.GRANT_UNKNOWN, "no such grant: select anew")
        if held.forget_s:
            raise RouterError(Reason.GRANT_EXPIRED, "the grant has lapsed: select anew")
        return held.selected

    def credential_of(self, grant_id: str) -> str | None:
        """Return the credential of a grant that is remembered; None: it is not."""
        held = self._held.get(grant_id)
        return None if held is None else held.selected.grant.credential_id

    def holders(self) -> Iterator[Grant]:
        """Yield the grants that hold a slot, each as of the moment when it is asked for."""
        self.expire_due()
        for held in tuple(self._held.values()):
            if held.has_slot:
                yield held.selected.grant

    def renew(self, grant_id: str) -> bool:
        """Let a live grant last one more lifetime from now; false: there is none."""
        self.expire_due()
        held = self._held.get(grant_id)
        if held is None or held.forget_s:
            return False
        held.expire_s = self._clock.monotonic_s() + self._ttl_s
        return True

    def release(self, grant_id: str) -> bool:
        """Free the slot of a grant, once; false: the grant is not known."""
        self.expire_due()
        held = self._held.get(grant_id)
        if held is None or held.forget_s:
            return False
        self._free(held)
        return True

    def drop(self, grant_id: str) -> None:
        """Forget a grant that nobody was told of."""
        if grant_id in self._held:
            self._forget(grant_id)

    def drop_credential(self, credential_id: str) -> int:
        """Forget all grants of a credential and return how many were live."""
        gone = [
            grant_id
            for grant_id, held in self._held.items()
            if held.selected.grant.credential_id == credential_id
        ]
        live = sum(not self._held[grant_id].forget_s for grant_id in gone)
        for grant_id in gone:
            self._forget(grant_id)
        return live

    def count(self, credential_id: str) -> int:
        """Return the attempts in flight on a credential."""
        self.expire_due()
        return self._by_credential.get(credential_id, 0)

    def is_full(self, slot: Slot) -> bool:
        """Return whether this replica alone uses all that a slot's limits allow."""
        used = self._by_credential.get(slot.credential_id, 0)
        used_by_model = self._by_model.get((slot.credential_id, slot.model_id), 0)
        return 0 < slot.limit <= used or 0 < slot.model_limit <= used_by_model

    def expire_due(self) -> None:
        """Free the slots of grants whose time has come; forget those that lapsed long ago."""
        now_s = self._clock.monotonic_s()
        while self._due and self._due[0][0] <= now_s:
            _, grant_id = heapq.heappop(self._due)
            held = self._held.get(grant_id)
            if held is None:
                continue
            if held.forget_s:
                self._forget(grant_id)
            elif held.expire_s > now_s:
                heapq.heappush(self._due, (held.expire_s, grant_id))
            else:
                self._free(held)
                held.forget_s = now_s + self._ttl_s
                heapq.heappush(self._due, (held.forget_s, grant_id))

    def next_due_s(self) -> float | None:
        """Return the monotonic instant at which the next grant may lapse; None: there is none."""
        return self._due[0][0] if self._due else None

    def _forget(self, grant_id: str) -> None:
        held = self._held.pop(grant_id)
        self._free(held)
        if self._by_key.get(held.key) == grant_id:
            del self._by_key[held.key]

    def _free(self, held: _Held) -> None:
        if held.has_slot:
            held.has_slot = False
            self._count(held, -1)
            self.line.wake(held.selected.grant.credential_id)

    def _count(self, held: _Held, change: int) -> None:
        credential_id = held.selected.grant.credential_id
        _add(self._by_credential, credential_id, change)
        _add(self._by_model, (credential_id, held.model_id), change)
        if held.is_limited:
            self._on_room()


def _add(counts: dict[K, int], key: K, change: int) -> None:
    count = counts.get(key, 0) + change
    if count > 0:
        counts[key] = count
    else:
        counts.pop(key, None)
