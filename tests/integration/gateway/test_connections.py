"""What is no HTTP request: refused in one form, never repeated, and not waited for without end."""

from __future__ import annotations

import asyncio

import orjson
import pytest

from gateway.app import HttpServer
from gateway.routes.table import RouteTable
from tests.integration.gateway.conftest import KEY, Stack

HEAD = "POST /v1/messages HTTP/1.1\r\nhost: x\r\n"


async def _talk(port: int, sent: bytes) -> bytes:
    """Return all that is answered until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(sent)
        async with asyncio.timeout(5):
            return await reader.read()
    finally:
        writer.close()


@pytest.mark.spec("OPS-26", "XLT-206")
@pytest.mark.parametrize(
    "rest",
    [
        f"x-router-key: {KEY}\x00\r\n\r\n",
        f"x-router-key: {KEY}{'a' * 40_000}\r\n\r\n",
        f"{KEY} : x\r\n\r\n",
        f"content-length: {KEY}\r\n\r\n",
        f"transfer-encoding: chunked\r\n\r\n{KEY}\r\n",
    ],
)
async def test_a_malformed_request_is_refused_without_repeating_it(
    stack: Stack, rest: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    answer = await _talk(stack.gateway.port, (HEAD + rest).encode())
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.split()[1] == b"400"
    assert b"server: pointsman" in head.lower()
    assert b"aiohttp" not in head
    assert orjson.loads(body)["error"]["type"] == "invalid_request_error"
    assert KEY not in answer.decode()
    printed = capfd.readouterr()
    assert KEY not in printed.out + printed.err + caplog.text


async def test_a_request_that_never_ends_its_headers_is_not_waited_for() -> None:
    server = HttpServer(RouteTable({}, {}), idle_s=0.2)
    await server.start("127.0.0.1:0")
    server.open()
    try:
        assert await _talk(server.port, HEAD.encode()) == b""
    finally:
        await server.aclose()
