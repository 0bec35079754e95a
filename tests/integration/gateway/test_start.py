from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp
from pydantic import SecretStr

from gateway.model import InstallationId
from gateway.settings import GatewaySettings
from tests.fakes.children import free_port
from tests.fakes.ports import MemoryKeyStore
from tests.integration.gateway.conftest import KEY, Stack


class SlowKeyStore(MemoryKeyStore):
    """Makes no installation before it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked = asyncio.Event()
        self.may_go = asyncio.Event()

    async def default_installation(self) -> InstallationId:
        self.is_asked.set()
        await self.may_go.wait()
        return await super().default_installation()


async def test_a_request_during_the_start_waits_for_the_first_key(tmp_path: Path) -> None:
    store, port = SlowKeyStore(), free_port()
    settings = GatewaySettings(listen=f"127.0.0.1:{port}", bootstrap_key=SecretStr(KEY))
    stack = Stack(tmp_path, store=store, settings=settings)
    async with (
        asyncio.timeout(10),
        aiohttp.ClientSession(headers={"x-api-key": KEY}) as early,
        asyncio.TaskGroup() as tasks,
    ):
        tasks.create_task(stack.start())
        await store.is_asked.wait()
        asked = tasks.create_task(early.get(f"http://127.0.0.1:{port}/v1/models"))
        await asyncio.wait({asked}, timeout=0.1)
        assert not asked.done()
        store.may_go.set()
        async with await asked as got:
            assert got.status == 200
    await stack.aclose()
