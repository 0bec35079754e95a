"""The canned provider as a program: `python -m tests.bench.provider`; prints its port as JSON.

A bare asyncio protocol, so that it takes little of the CPU it shares with the load generator.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

from tests.bench.canned import Script, script_of
from tests.bench.programs import announce, run
from tests.bench.shapes import BURST_CHUNKS, PACE_SECONDS, PACED_CHUNKS, PACED_MODEL

CONTENT_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
STREAMED = re.compile(rb'"stream": ?true|:streamGenerateContent')
PACED = PACED_MODEL.encode()
"""Both stand in the body, or in the address."""
END_OF_HEAD = b"\r\n\r\n"
END_OF_CHUNKS = b"0\r\n\r\n"
WHOLE_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)


class Provider(asyncio.Protocol):
    """One connection: answers each request at once, whole or streamed."""

    def __init__(self, tasks: asyncio.TaskGroup) -> None:
        self._tasks = tasks
        self._buffer = bytearray()
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # what TCP gives
        """Keep the connection."""
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of a client that left."""
        self._transport = None
        self._may_write.set()

    def pause_writing(self) -> None:
        """Wait for a slow client."""
        self._may_write.clear()

    def resume_writing(self) -> None:
        """Go on."""
        self._may_write.set()

    def data_received(self, data: bytes) -> None:
        """Answer every request that is whole by now."""
        self._buffer += data
        for path, body in self._requests():
            script = script_of(path)
            if STREAMED.search(body) or STREAMED.search(path):
                is_paced = PACED in body or PACED in path
                self._tasks.create_task(self._stream(script, is_paced=is_paced))
            else:
                self._write(WHOLE_HEAD % len(script.whole) + script.whole)

    def _requests(self) -> Iterator[tuple[bytes, bytes]]:
        while (end := self._buffer.find(END_OF_HEAD)) >= 0:
            head = bytes(self._buffer[:end])
            start = end + len(END_OF_HEAD)
            length = self._body_length(head, start)
            if length is None:
                return
            body = bytes(self._buffer[start : start + length])
            del self._buffer[: start + length]
            yield head.split(b" ", 2)[1].split(b"?")[0], body

    def _body_length(self, head: bytes, start: int) -> int | None:
        if stated := CONTENT_LENGTH.search(head):
            length = int(stated.group(1))
            return length if len(self._buffer) >= start + length else None
        if b"transfer-encoding: chunked" in head.lower():
            end = self._buffer.find(END_OF_CHUNKS, start)
            return end + len(END_OF_CHUNKS) - start if end >= 0 else None
        return 0

    async def _stream(self, script: Script, *, is_paced: bool) -> None:
        self._write(STREAM_HEAD + (_chunk(script.opening) if script.opening else b""))
        for _ in range(PACED_CHUNKS if is_paced else BURST_CHUNKS):
            await asyncio.sleep(PACE_SECONDS if is_paced else 0)
            await self._may_write.wait()
            if self._transport is None:
                return
            self._write(_chunk(script.delta()))
        self._write(_chunk(script.closing) + END_OF_CHUNKS)

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


async def serve() -> None:
    """Serve until stopped."""
    async with asyncio.TaskGroup() as tasks:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Provider(tasks), "127.0.0.1", 0, backlog=1024)
        announce(server.sockets[0].getsockname()[1])
        await server.serve_forever()


if __name__ == "__main__":
    run(serve())
