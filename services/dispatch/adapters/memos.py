"""Valkey or Redis between replicas: what one of them learned of an endpoint, the others know.

Everything here may be lost. Nobody waits for it: what is learned goes out in the background, what
others learned comes in by news, and whole at every start and after every loss of the connection.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import TYPE_CHECKING

import orjson
from redis.exceptions import RedisError

from services.dispatch.ports import Memo
from services.runtime.background import ended, in_background
from services.runtime.log import get_logger
from services.runtime.valkey import connect

if TYPE_CHECKING:
    from collections.abc import Callable

CALL_TIMEOUT_S = 1.0
PAUSE_S = 1.0
"""How long it is left alone after a failure."""
MAX_SHARED = 4096
MAX_UNSENT = 256
SPACE = "pointsman:dispatch:memos"
NEWS = f"{SPACE}:news"

_LEARN = """
local now = redis.call('TIME')
local at = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', at)
redis.call('ZADD', KEYS[1], at + ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2] * 2)
redis.call('PUBLISH', KEYS[2], cjson.encode({ARGV[1], tonumber(ARGV[2])}))
return 1
"""
_KNOWN = """
local now = redis.call('TIME')
local at = now[1] * 1000 + math.floor(now[2] / 1000)
local rows = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. at, '+inf', 'WITHSCORES')
local told = {}
for i = 1, #rows, 2 do told[#told + 1] = cjson.encode({rows[i], rows[i + 1] - at}) end
return told
"""
_FAULTS = (RedisError, OSError, TimeoutError)

_log = get_logger("dispatch")


class ValkeyMemos:
    """Shares memos through one server."""

    def __init__(self, url: str) -> None:
        self._client = connect(url, CALL_TIMEOUT_S)
        self._learn = self._client.register_script(_LEARN)
        self._known = self._client.register_script(_KNOWN)
        self._unsent: deque[Memo] = deque(maxlen=MAX_UNSENT)
        self._has_news = asyncio.Event()
        self._runner: asyncio.Task[None] | None = None

    def start(self, hear: Callable[[Memo], None]) -> None:
        """Begin to share; ``hear`` is told what others learned, and what was known before."""
        self._runner = in_background(self._run(hear), "shared-memos")

    def learned(self, memo: Memo) -> None:
        """Tell the others; never waits."""
        self._unsent.append(memo)
        self._has_news.set()

    async def aclose(self) -> None:
        """Stop sharing."""
        runner, self._runner = self._runner, None
        await ended(runner)
        await self._client.aclose()

    async def _run(self, hear: Callable[[Memo], None]) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._listen(hear))
            tasks.create_task(self._send())

    async def _listen(self, hear: Callable[[Memo], None]) -> None:
        while True:
            try:
                async with self._client.pubsub() as listener:
                    await listener.subscribe(NEWS)
                    for told in await self._known(keys=[SPACE]):
                        _pass_on(told, hear)
                    async for message in listener.listen():
                        if message["type"] == "message":
                            _pass_on(message["data"], hear)
            except _FAULTS as error:
                _log.warning("shared_unavailable", error=type(error).__name__)
            await asyncio.sleep(PAUSE_S)

    async def _send(self) -> None:
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            while self._unsent:
                memo = self._unsent[0]
                if not await self._is_sent(memo):
                    await asyncio.sleep(PAUSE_S)
                elif self._unsent and self._unsent[0] is memo:
                    self._unsent.popleft()

    async def _is_sent(self, memo: Memo) -> bool:
        text = orjson.dumps((memo.place, memo.feature)).decode()
        arguments: list[str | int] = [text, max(1, round(memo.left_s * 1000)), MAX_SHARED]
        try:
            async with asyncio.timeout(CALL_TIMEOUT_S):
                await self._learn(keys=[SPACE, NEWS], args=arguments)
        except _FAULTS:
            return False
        return True


def _pass_on(told: str, hear: Callable[[Memo], None]) -> None:
    """Pass one memo on; what cannot be read is not one of ours."""
    with contextlib.suppress(ValueError, TypeError):
        text, left_ms = orjson.loads(told)
        place, feature = orjson.loads(text)
        hear(Memo(str(place), str(feature), float(left_ms) / 1000))
