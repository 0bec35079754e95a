"""The load generator as a program: orders on standard input, figures of each on standard output.

A closed loop over kept connections: each client asks again as soon as it was answered. It is a
process of its own so that its CPU is never that of the server under test.
"""

from __future__ import annotations

import asyncio
import re
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import orjson
import uvloop
from pydantic import TypeAdapter

from tests.bench.deciding import CLIENT, TURN
from tests.bench.reading import AnswerReader
from tests.bench.shapes import LoadFigures, LoadOrder
from tests.bench.stats import summary
from tests.bench.usage import usage_of

STAMP = re.compile(rb"(?:<|\\u003c)(\d{9,})(?:>|\\u003e)", re.IGNORECASE)
STAMP_BYTES = 48
TERMINAL_BYTES = 1024
ANSWER_SECONDS = 30.0
OK = 200
MOST_SERIALS = 10**10
CLIENT_MARK, TURN_MARK = CLIENT.encode(), TURN.encode()


@dataclass(slots=True)
class Record:
    """What has happened so far. Times in milliseconds."""

    latencies: list[float] = field(default_factory=list)
    first_bytes: list[float] = field(default_factory=list)
    transits: list[float] = field(default_factory=list)
    codes: Counter[str] = field(default_factory=Counter)


class Client(asyncio.Protocol):
    """One connection that asks the same question again and again."""

    def __init__(self, order: LoadOrder, record: Record) -> None:
        self._terminal = order.terminal.encode()
        self._expected = order.expected.encode()
        self._record = record
        self._transport: asyncio.Transport | None = None
        self._reader = AnswerReader()
        self._answered: asyncio.Future[None] | None = None
        self._asked = 0.0
        self._first_byte = 0.0
        self._tail = b""
        self._last_stamp = 0

    @property
    def is_open(self) -> bool:
        """Whether the connection can be asked on."""
        return self._transport is not None and self._reader.is_kept_alive

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # what TCP gives
        """Keep the connection."""
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Finish an answer that ends with its connection, or count it as broken."""
        self._transport = None
        self._reader.end()
        self._settle()

    async def ask(self, question: bytes) -> None:
        """Send a question, and return when its answer is recorded."""
        if self._transport is None:
            return
        self._reader, self._tail, self._first_byte = AnswerReader(), b"", 0.0
        self._answered = asyncio.get_running_loop().create_future()
        self._asked = time.perf_counter()
        self._transport.write(question)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._answered
        except TimeoutError:
            self._record.codes["timeout"] += 1
            self.close()

    def close(self) -> None:
        """Leave."""
        self._answered = None
        if self._transport is not None:
            self._transport.close()
            self._transport = None

    def data_received(self, data: bytes) -> None:
        """Read on, and note when what came."""
        body = self._reader.feed(data)
        if body:
            self._first_byte = self._first_byte or time.perf_counter()
            if self._terminal:
                self._note_stamps(body)
        if self._reader.is_complete:
            self._settle()

    def _note_stamps(self, body: bytes) -> None:
        now = time.monotonic_ns()
        text = self._tail + body
        end = max(0, len(self._tail) - STAMP_BYTES)
        for stamp in STAMP.finditer(text, end):
            sent = int(stamp.group(1))
            # One dialect repeats the whole text at the end: only what is new has just arrived.
            if stamp.end() > len(self._tail) and sent > self._last_stamp:
                self._last_stamp = sent
                self._record.transits.append((now - sent) / 1e6)
        self._tail = text[-TERMINAL_BYTES:]

    def _settle(self) -> None:
        if self._answered is None or self._answered.done():
            return
        now = time.perf_counter()
        if self._reader.status != OK:
            self._record.codes[str(self._reader.status or "closed")] += 1
        elif not self._reader.is_complete or self._terminal not in self._tail:
            self._record.codes["cut"] += 1
        elif self._expected not in self._reader.head:
            self._record.codes["decision"] += 1
        else:
            self._record.latencies.append((now - self._asked) * 1e3)
            self._record.first_bytes.append(((self._first_byte or now) - self._asked) * 1e3)
        self._answered.set_result(None)


async def figures_of(order: LoadOrder) -> LoadFigures:
    """Return what the load came to, after its warm-up."""
    order = replace(order, serial=time.time_ns() // 1_000_000 % MOST_SERIALS)
    opened = await _opened(order)
    await _ask_for(order, order.warmup_seconds, Record())
    record = Record(codes=opened)
    used = usage_of(order.pids).cpu_seconds
    own, started = _own_cpu_seconds(), time.perf_counter()
    await _ask_for(order, order.seconds, record)
    elapsed = time.perf_counter() - started
    after = usage_of(order.pids)
    return LoadFigures(
        seconds=elapsed,
        answered=len(record.latencies),
        errors=record.codes.total(),
        codes=dict(record.codes),
        latency=summary(record.latencies),
        first_byte=summary(record.first_bytes),
        transit=summary(record.transits),
        cpu_seconds=after.cpu_seconds - used,
        rss_bytes=after.rss_bytes,
        generator_share=(_own_cpu_seconds() - own) / elapsed,
    )


async def _ask_for(order: LoadOrder, seconds: float, record: Record) -> None:
    end = time.perf_counter() + seconds
    async with asyncio.TaskGroup() as tasks:
        for number in range(order.clients):
            tasks.create_task(_ask_until(end, number, order, record))


async def _opened(order: LoadOrder) -> Counter[str]:
    """Say what comes before all else, once for each client; return what went wrong."""
    record = Record()
    if order.opening:
        said = replace(order, body=order.opening, expected="")
        async with asyncio.TaskGroup() as tasks:
            for number in range(order.clients):
                tasks.create_task(_ask_until(0.0, number, said, record))
    return record.codes


async def _ask_until(end: float, number: int, order: LoadOrder, record: Record) -> None:
    """Ask until then, and at least once."""
    questions = _questions(order, number)
    client = Client(order, record)
    while True:
        if not client.is_open:
            client = Client(order, record)
        if client.is_open or await _connects(client, order.port):
            await client.ask(next(questions))
        else:
            record.codes["refused"] += 1
            await asyncio.sleep(0.05)
        if time.perf_counter() >= end:
            break
    client.close()


async def _connects(client: Client, port: int) -> bool:
    try:
        await asyncio.get_running_loop().create_connection(lambda: client, "127.0.0.1", port)
    except OSError:
        return False
    return True


def _questions(order: LoadOrder, number: int) -> Iterator[bytes]:
    """Yield the order's question, each time with marks of its own where it has places for them."""
    client = b"%010d%06d" % (order.serial, number)
    question = _question(order).replace(CLIENT_MARK, client)
    while True:
        yield question.replace(TURN_MARK, b"%016x" % time.time_ns())


def _question(order: LoadOrder) -> bytes:
    body = order.body.encode()
    headers = {
        "Host": f"127.0.0.1:{order.port}",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Accept": "*/*",
        **order.headers,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST {order.path} HTTP/1.1\r\n{lines}\r\n".encode() + body


def _own_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Read an order a line, carry it out, print its figures, until there are no more."""
    reader = TypeAdapter(LoadOrder)
    for line in sys.stdin.buffer:
        order = reader.validate_json(line)
        print(orjson.dumps(uvloop.run(figures_of(order))).decode(), flush=True)


if __name__ == "__main__":
    main()
