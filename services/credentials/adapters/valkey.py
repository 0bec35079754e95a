"""Valkey or Redis between replicas: news of writes, slots in use, bindings of sessions.

Everything here may be lost. When the server does not answer, calls come back at once as if there
were nobody to share with, and it is tried again a little later.
"""

from __future__ import annotations

import asyncio
import functools
import secrets
import time
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from services.runtime.log import get_logger
from services.runtime.valkey import connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from services.credentials.model import Slot

CALL_TIMEOUT_S = 0.15
PAUSE_S = 1.0
"""How long it is left alone after a failure."""
SPACE = "pointsman:credentials:"

_TAKE = """
local now = redis.call('TIME')
local at = now[1] * 1000 + math.floor(now[2] / 1000)
for i = 1, #KEYS do
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', at)
  local limit = tonumber(ARGV[2 + i])
  if limit > 0 and not redis.call('ZSCORE', KEYS[i], ARGV[1])
    and redis.call('ZCARD', KEYS[i]) >= limit then
    return 0
  end
end
for i = 1, #KEYS do
  redis.call('ZADD', KEYS[i], at + ARGV[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[i], ARGV[2] * 2)
end
return 1
"""
_FREE = """
for i = 1, #KEYS do redis.call('ZREM', KEYS[i], ARGV[1]) end
return 1
"""

_MEET = """
local now = redis.call('TIME')
local at = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', at)
local added = redis.call('ZADD', KEYS[1], at + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {added, redis.call('ZCARD', KEYS[1])}
"""
ABSENT_S = 15.0
"""How long a silent replica is counted."""

_log = get_logger("credentials")


class ValkeyShared:
    """Shares through one server."""

    def __init__(self, url: str, call_timeout_s: float = CALL_TIMEOUT_S) -> None:
        self._call_timeout_s = call_timeout_s
        self._client = connect(url, call_timeout_s)
        self._take = self._client.register_script(_TAKE)
        self._free = self._client.register_script(_FREE)
        self._meet = self._client.register_script(_MEET)
        self._name = secrets.token_hex(8)
        self.replica_count = 0
        self._space = SPACE
        self._down_until_s = 0.0
        self._was_down = False

    @property
    def is_alone(self) -> bool:
        """Whether it was found down a moment ago."""
        return time.monotonic() < self._down_until_s

    async def meet(self) -> bool:
        """Tell the others that this replica is there, and count them; return whether slots that it
        took may not be known any more."""
        keys = [f"{self._space}replicas"]
        arguments: list[str | int] = [self._name, _ms(ABSENT_S)]
        found = await self._ask(lambda: self._meet(keys=keys, args=arguments), None)
        if not isinstance(found, list):
            return False
        is_new, count = bool(found[0]), int(found[1])
        # A server that lost everything is met by the others one by one.
        self.replica_count = max(self.replica_count, count) if is_new else count
        may_lack, self._was_down = is_new or self._was_down, False
        return may_lack

    async def start(self, space: str) -> None:
        """Name everything within the deployment's own space, and open the first connection."""
        self._space = f"{SPACE}{space}:"
        for script in (_TAKE, _FREE, _MEET):
            await self._ask(functools.partial(self._client.script_load, script), None)
        await self.meet()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def announce(self, revision: int) -> bool:
        """Tell the others that the store was written; false: they were not told."""
        name = f"{self._space}changes"
        return await self._ask(lambda: self._client.publish(name, revision), None) is not None

    async def announcements(self) -> AsyncIterator[int]:
        """Yield revisions as others announce them; connects again after a loss, and then yields 0,
        since something may have been missed."""
        while True:
            try:
                async with self._client.pubsub() as listener:
                    await listener.subscribe(f"{self._space}changes")
                    self._down_until_s = 0.0
                    yield 0
                    async for message in listener.listen():
                        if message["type"] == "message":
                            yield int(message["data"])
            except (RedisError, OSError, ValueError) as error:
                self._note_down(error)
            await asyncio.sleep(PAUSE_S)

    async def bound(self, key: str, credential_id: str, ttl_s: float) -> str:
        """Return the credential that a session is bound to; the given one where it had none."""
        name = f"{self._space}session:{key}"
        before = await self._ask(
            lambda: self._client.set(name, credential_id, nx=True, get=True, px=_ms(ttl_s)), None
        )
        return str(before) if before else credential_id

    async def rebind(self, key: str, credential_id: str, ttl_s: float) -> None:
        """Bind a session anew, or for longer."""
        name = f"{self._space}session:{key}"
        await self._ask(lambda: self._client.set(name, credential_id, px=_ms(ttl_s)), None)

    async def take(self, slot: Slot, ttl_s: float) -> bool:
        """Return whether a slot was free over all replicas; true where nobody can tell."""
        arguments: list[str | int] = [slot.grant_id, _ms(ttl_s), slot.limit, slot.model_limit]
        return bool(await self._ask(lambda: self._take(keys=self._keys(slot), args=arguments), 1))

    async def renew(self, slot: Slot, ttl_s: float) -> None:
        """Count a slot of an attempt that runs, however full it is, and also where it was lost."""
        await self.take(slot.without_limits(), ttl_s)

    async def free(self, slot: Slot) -> None:
        """Give a slot back."""
        await self._ask(lambda: self._free(keys=self._keys(slot), args=[slot.grant_id]), 1)

    def _keys(self, slot: Slot) -> list[str]:
        own = f"{self._space}slots:{{{slot.credential_id}}}"
        return [own, f"{own}:{slot.model_id}"]

    async def _ask(self, call: Callable[[], Awaitable[object]], otherwise: object) -> object:
        """Return the answer, or ``otherwise`` where none comes in time."""
        if self.is_alone:
            return otherwise
        try:
            async with asyncio.timeout(self._call_timeout_s):
                return await call()
        except (RedisError, OSError, TimeoutError) as error:
            self._note_down(error)
            return otherwise

    def _note_down(self, error: Exception) -> None:
        if not self.is_alone:
            _log.warning("shared_unavailable", error=type(error).__name__)
        self._was_down = True
        self._down_until_s = time.monotonic() + PAUSE_S


def _ms(seconds: float) -> int:
    return max(1, round(seconds * 1_000))
