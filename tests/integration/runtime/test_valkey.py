"""Connections to a server that comes and goes."""

from __future__ import annotations

import asyncio

from services.runtime.valkey import MAX_CONNECTIONS, connect
from tests.fakes.valkey import running_valkey

SOON_S = 5.0


async def test_connections_that_a_restart_closed_are_not_used_again() -> None:
    with running_valkey() as server:
        client = connect(server.url, SOON_S)
        await asyncio.gather(*(client.set("key", "value") for _ in range(MAX_CONNECTIONS)))
    await asyncio.sleep(0.05)  # whoever does not read cannot see that the other side closed
    try:
        with running_valkey(server.port):
            answers = [await client.set("key", "value") for _ in range(MAX_CONNECTIONS)]
        assert answers == [True] * MAX_CONNECTIONS
    finally:
        await client.aclose()
