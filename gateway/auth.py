"""Who a token belongs to, remembered for a while: live keys 5 min, refused tokens 60 s."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

from gateway.errors import auth_unavailable, key_refused
from gateway.keys import digest_of, is_token
from gateway.model import Denial
from services.domain.errors import Reason, RouterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.model import RouterKey, Scope
    from gateway.ports import KeyStore
    from services.runtime.clock import Clock

LIVE_FOR_S = 300.0
REFUSED_FOR_S = 60.0
MOST_LIVE = 10_000
MOST_REFUSED = 50_000

V = TypeVar("V")


class Expiring(Generic[V]):
    """A bounded memory whose entries lapse; the oldest goes first when it is full."""

    def __init__(self, most: int, lifetime_s: float, now_s: Callable[[], float]) -> None:
        self._most = most
        self._lifetime_s = lifetime_s
        self._now_s = now_s
        self._entries: OrderedDict[str, tuple[float, V]] = OrderedDict()

    def get(self, key: str) -> V | None:
        """Return what is remembered under ``key`` and has not lapsed."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if entry[0] <= self._now_s():
            del self._entries[key]
            return None
        return entry[1]

    def put(self, key: str, value: V) -> None:
        """Remember ``value`` under ``key``."""
        self._entries[key] = (self._now_s() + self._lifetime_s, value)
        self._entries.move_to_end(key)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def drop(self, key: str) -> None:
        """Forget what is remembered under ``key``."""
        self._entries.pop(key, None)

    def __len__(self) -> int:
        return len(self._entries)


class KeyRing:
    """Authenticates tokens against the store, through a memory of both verdicts."""

    def __init__(self, store: KeyStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._live: Expiring[RouterKey] = Expiring(MOST_LIVE, LIVE_FOR_S, clock.monotonic_s)
        self._refused: Expiring[str] = Expiring(MOST_REFUSED, REFUSED_FOR_S, clock.monotonic_s)
        self._forgotten = 0

    def forget(self, digest: str) -> None:
        """Look a key up anew that was changed, also where that is being done just now."""
        self._forgotten += 1
        self._live.drop(digest)

    async def authenticate(self, token: str, scope: Scope) -> RouterKey:
        """Return the live key of ``token``; a key of another scope is as bad as none.

        Raises:
            RouterError: ROUTER_KEY_INVALID, or STORE_UNAVAILABLE when it cannot be looked up.
        """
        if not is_token(token):
            raise key_refused(Denial.INVALID)
        digest = digest_of(token)
        if self._refused.get(digest) is not None:
            raise key_refused(Denial.INVALID)
        key = self._live.get(digest) or await self._looked_up(digest)
        if key is None or key.scope is not scope:
            raise key_refused(Denial.INVALID)
        denial = key.denial_at(self._clock.now_unix_s())
        if denial is not None:
            raise key_refused(denial)
        return key

    async def _looked_up(self, digest: str) -> RouterKey | None:
        forgotten = self._forgotten
        try:
            key = await self._store.find(digest)
        except RouterError as error:
            if error.reason is Reason.STORE_UNAVAILABLE:
                raise auth_unavailable() from error
            raise
        if key is None:
            self._refused.put(digest, Denial.INVALID)
        elif forgotten == self._forgotten:
            self._live.put(digest, key)
        return key
