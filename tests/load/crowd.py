"""A crowd of clients, each of which reads one slow stream and notes when what came."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import aiohttp

from services.domain.vocab import WireFamily
from tests.e2e.faults import asked

STAMP = re.compile(rb"(?:<|\\u003c)(\d{9,})(?:>|\\u003e)", re.IGNORECASE)
STAMP_BYTES = 48
PAUSING = b"pause-in-the-middle"
"""What a request says whose provider falls silent for a while."""
ENDS = {
    WireFamily.ANTHROPIC: b"message_stop",
    WireFamily.OPENAI_CHAT: b"[DONE]",
    WireFamily.OPENAI_RESPONSES: b"response.completed",
    WireFamily.GEMINI: b'"finishReason"',
}


@dataclass(slots=True)
class Heard:
    """What one client heard."""

    is_pausing: bool
    chunks: int = 0
    is_whole: bool = False
    max_gap_s: float = 0.0
    """Longest silence after the first byte."""
    max_chunk_gap_s: float = 0.0
    """Longest time between two chunks of the provider's."""
    transits_ms: list[float] = field(default_factory=list)
    """From the provider's write of each chunk to its arrival."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """Who asks: ``models`` are asked in turn, each by a client of its dialect."""

    url: str
    models: Sequence[tuple[WireFamily, str]]
    headers: dict[str, str]
    count: int
    spread_s: float
    """Time over which they arrive."""
    pausing_every: int
    """Of so many, the provider of one pauses."""

    async def listen(self) -> list[Heard]:
        """Return what each client heard."""
        connector = aiohttp.TCPConnector(limit=0)
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(
            connector=connector, timeout=timeout, headers=self.headers
        ) as session:
            return await asyncio.gather(*(self._one(session, n) for n in range(self.count)))

    async def _one(self, session: aiohttp.ClientSession, number: int) -> Heard:
        await asyncio.sleep(self.spread_s * number / self.count)
        family, model = self.models[number % len(self.models)]
        heard = Heard(is_pausing=number % self.pausing_every == 0)
        path, body = asked(family, model, is_stream=True)
        if heard.is_pausing:
            body = body.replace(b"Hello", PAUSING)
        with contextlib.suppress(aiohttp.ClientError):  # not whole, then
            async with session.post(
                self.url + path, data=body, headers={"content-type": "application/json"}
            ) as answer:
                await _listened(answer, heard, ENDS[family])
        return heard


async def _listened(answer: aiohttp.ClientResponse, heard: Heard, end: bytes) -> None:
    if answer.status != 200:
        return
    tail, last_s, newest_ns = b"", 0.0, 0
    async for piece in answer.content.iter_any():
        now_s, now_ns = time.monotonic(), time.monotonic_ns()
        heard.max_gap_s = max(heard.max_gap_s, now_s - last_s if last_s else 0.0)
        last_s = now_s
        text = tail + piece
        for stamp in STAMP.finditer(text):
            sent_ns = int(stamp.group(1))
            if stamp.end() > len(tail) and sent_ns > newest_ns:  # ends of items say all again
                gap_s = (sent_ns - newest_ns) / 1e9 if newest_ns else 0.0
                heard.max_chunk_gap_s = max(heard.max_chunk_gap_s, gap_s)
                newest_ns = sent_ns
                heard.chunks += 1
                heard.transits_ms.append((now_ns - sent_ns) / 1e6)
        heard.is_whole = heard.is_whole or end in text
        tail = text[-STAMP_BYTES:]
