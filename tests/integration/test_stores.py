"""The stores that tests get are real, empty at first, and gone at the end."""

from __future__ import annotations

import psutil
import pytest
from redis.asyncio import Redis
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from tests.fakes.postgres import running_postgres
from tests.fakes.valkey import running_valkey


@pytest.mark.parametrize("turn", [1, 2])
async def test_each_test_gets_an_empty_postgres_database(postgres_url: str, turn: int) -> None:
    engine = create_async_engine(postgres_url)
    async with engine.begin() as connection:
        await connection.execute(text("CREATE TABLE seen (turn int)"))
        await connection.execute(text("INSERT INTO seen VALUES (:turn)"), {"turn": turn})
        rows = (await connection.execute(text("SELECT turn FROM seen"))).scalars().all()
    await engine.dispose()
    assert rows == [turn]


@pytest.mark.parametrize("turn", [1, 2])
async def test_each_test_gets_an_empty_valkey(valkey_url: str, turn: int) -> None:
    async with Redis.from_url(valkey_url) as client:
        assert await client.dbsize() == 0
        await client.set("turn", turn)
        assert await client.get("turn") == str(turn).encode()


def test_servers_leave_no_process_behind() -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with running_valkey(), running_postgres():
        during = {child.pid for child in psutil.Process().children(recursive=True)}
    after = {child.pid for child in psutil.Process().children(recursive=True)}
    assert len(during - before) >= 2
    assert after <= before
