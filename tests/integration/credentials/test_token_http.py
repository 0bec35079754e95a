"""A token endpoint that says nothing was not reached, or its answer was lost: which is told."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from services.credentials.adapters.token_http import HttpTokenEndpoint
from services.credentials.model import TokenReply, TokenRequest
from tests.fakes.children import free_port

LATE_S = 0.3
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def answering(answer: Answer) -> AsyncIterator[str]:
    """Give the address of an endpoint that reads each question and then does as it is told."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await answer(reader, writer)
        writer.close()
        await writer.wait_closed()
        done.set()

    done = asyncio.Event()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/token"
        await done.wait()


async def asked(url: str, proxy_url: str = "") -> TokenReply:
    endpoint = HttpTokenEndpoint(LATE_S)
    try:
        return await endpoint.ask(TokenRequest(url, {"refresh_token": "R1"}, proxy_url=proxy_url))
    finally:
        await endpoint.aclose()


async def close(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
    """Say nothing."""


async def wait(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    """Say nothing as long as anybody listens."""
    with contextlib.suppress(ConnectionError):
        await reader.read()


async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")
    await writer.drain()


async def say_half(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{")
    await writer.drain()


async def say_much_first(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    policy = b"content-security-policy: " + b"x" * 40_000
    writer.write(b"HTTP/1.1 200 OK\r\n" + policy + b"\r\ncontent-length: 2\r\n\r\n{}")
    await writer.drain()


async def test_an_answer_with_a_long_header_is_read() -> None:
    async with answering(say_much_first) as url:
        assert await asked(url) == TokenReply(200, b"{}")


async def ask_to_wait(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 429 Slow\r\nretry-after: 90\r\ncontent-length: 0\r\n\r\n")
    await writer.drain()


@pytest.mark.spec("CRD-143")
async def test_what_is_asked_for_before_the_next_question_is_told() -> None:
    async with answering(ask_to_wait) as url:
        assert await asked(url) == TokenReply(429, retry_after="90")


@pytest.mark.spec("CRD-143")
@pytest.mark.parametrize("answer", [close, wait, say_half])
async def test_who_heard_the_question_may_have_answered(answer: Answer) -> None:
    async with answering(answer) as url:
        assert await asked(url) == TokenReply(None, is_lost=True)


@pytest.mark.spec("CRD-143")
async def test_who_was_not_reached_has_not_answered() -> None:
    nobody = f"http://127.0.0.1:{free_port()}/token"
    for url, proxy_url in (
        (nobody, ""),
        ("http://no-such-host.invalid/token", ""),
        ("http://:99999/token", ""),
        ("https://127.0.0.1/token", nobody),
    ):
        assert await asked(url, proxy_url) == TokenReply(None), url


@pytest.mark.spec("CRD-143")
@pytest.mark.parametrize("answer", [refuse, wait])
async def test_a_proxy_that_does_not_lead_there_has_passed_nothing_on(answer: Answer) -> None:
    async with answering(answer) as proxy_url:
        assert await asked("https://vendor.invalid/token", proxy_url) == TokenReply(None)
