"""What replicas share may be lost: attempts that run are counted again, and nobody overreaches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack

import pytest

from services.credentials.adapters.store_sql import SCHEMA, SCRIPTS
from services.credentials.adapters.valkey import ValkeyShared
from services.credentials.model import Phase
from services.credentials.server import Service
from services.credentials.server.announcing import MEET_S
from services.domain.errors import Reason
from services.runtime import database
from services.runtime.valkey import connect
from tests.fakes.children import free_port
from tests.fakes.clock import FakeClock
from tests.fakes.valkey import Valkey, running_valkey
from tests.integration.credentials.cluster import (
    SOON_S,
    account,
    attempt,
    ended,
    picked,
    replica,
    running,
    told,
)

FULL = Reason.CREDENTIAL_CONCURRENCY
LIMIT = 3
POOL = [account("limited", max_in_flight=LIMIT)]


@pytest.fixture
async def url(postgres_url: str) -> str:
    await database.migrate(postgres_url, SCRIPTS, SCHEMA)
    return postgres_url


@pytest.fixture
def life() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def server(life: ExitStack) -> Valkey:
    return life.enter_context(running_valkey())


@pytest.fixture
async def two(url: str, server: Valkey, clock: FakeClock) -> AsyncIterator[tuple[Service, Service]]:
    first, second = (replica(url, POOL, clock, server.url) for _ in range(2))
    async with running(first, second):
        yield first, second


async def counted(server: Valkey) -> int:
    """Return how many attempts on the account are known to be running."""
    client = connect(server.url, SOON_S)
    try:
        names = [name async for name in client.scan_iter("*slots:*}")]
        return sum([await client.zcard(name) for name in names])
    finally:
        await client.aclose()


async def until_counted(server: Valkey, wanted: int, clock: FakeClock) -> None:
    """Return when so many are counted; fail when they are not within a few renewals."""
    for _ in range(4 * round(MEET_S)):
        if await counted(server) == wanted:
            return
        clock.advance(1.0)
        await asyncio.sleep(0.15)
    raise AssertionError


@pytest.mark.spec("CRD-156")
async def test_attempts_that_run_are_counted_again_after_their_server_came_back_empty(
    two: tuple[Service, Service], life: ExitStack, server: Valkey, clock: FakeClock
) -> None:
    first, second = two
    grants = [await picked(first) for _ in range(LIMIT)]
    ends = [
        ended(clock, grant.credential_id, 200, grant_id=grant.id, model=grant.binding.model_id)
        for grant in grants
    ]
    await first.reports.apply(ends[0])
    life.close()
    with running_valkey(server.port):
        await until_counted(server, LIMIT - 1, clock)
        assert await attempt(second, FULL) is not None
        assert await attempt(second, FULL) is None
        await first.reports.apply(ends[1])
        assert await attempt(second, FULL) is not None
        assert await attempt(second, FULL) is None


@pytest.mark.spec("CRD-156")
async def test_attempts_that_run_are_counted_again_after_all_keys_were_lost(
    two: tuple[Service, Service], server: Valkey, clock: FakeClock
) -> None:
    first, second = two
    for _ in range(LIMIT):
        await picked(first)
    server.flush()
    await until_counted(server, LIMIT, clock)
    assert await attempt(second, FULL) is None


@pytest.mark.spec("CRD-156", "CRD-157")
async def test_a_sign_of_life_counts_an_attempt_again_whichever_replica_hears_it(
    two: tuple[Service, Service], server: Valkey, clock: FakeClock
) -> None:
    first, second = two
    grants = [await picked(first) for _ in range(LIMIT)]
    server.flush()
    for grant in grants:
        alive = told(clock, grant.credential_id, None, grant_id=grant.id, phase=Phase.ALIVE)
        await second.reports.apply(alive)
    assert await counted(server) == LIMIT
    assert await attempt(second, FULL) is None


@pytest.mark.spec("CRD-158", "CRD-161")
async def test_headers_that_come_again_after_the_end_count_nothing(
    two: tuple[Service, Service], server: Valkey, clock: FakeClock
) -> None:
    first, second = two
    grant = await picked(first)
    end = ended(clock, grant.credential_id, 200, grant_id=grant.id, model=grant.binding.model_id)
    await first.reports.apply(end)
    await second.reports.apply(told(clock, grant.credential_id, 200, grant_id=grant.id))
    assert await counted(server) == 0


@pytest.mark.spec("CRD-124", "CRD-156")
async def test_attempts_that_began_while_nobody_answered_are_counted_once_somebody_does(
    url: str, clock: FakeClock
) -> None:
    port = free_port()
    one = replica(url, POOL, clock, f"redis://127.0.0.1:{port}/0")
    async with running(one):
        await picked(one)
        with running_valkey(port) as server:
            await until_counted(server, 1, clock)


@pytest.mark.spec("CRD-124", "CRD-156")
async def test_attempts_that_began_while_a_server_that_lost_nothing_was_away_are_counted(
    two: tuple[Service, Service], server: Valkey, clock: FakeClock
) -> None:
    first, second = two
    assert isinstance(first._shared, ValkeyShared)
    first._shared._note_down(ConnectionError())
    assert await attempt(first, FULL) is not None
    assert await counted(server) == 0
    await until_counted(server, 1, clock)
    assert [await attempt(second, FULL) is not None for _ in range(LIMIT)] == [True, True, False]


@pytest.mark.spec("CRD-124", "CRD-156")
async def test_a_replica_that_could_never_count_the_others_takes_one_slot_of_a_limit(
    url: str, clock: FakeClock
) -> None:
    port = free_port()
    one = replica(url, POOL, clock, f"redis://127.0.0.1:{port}/0")
    async with running(one):
        grants = [await attempt(one, FULL) for _ in range(LIMIT)]
        assert sum(grant is not None for grant in grants) == 1


@pytest.mark.spec("CRD-124")
async def test_who_meets_an_empty_server_first_still_knows_how_many_there_were(
    server: Valkey,
) -> None:
    first, second = (ValkeyShared(server.url, SOON_S) for _ in range(2))
    for one in (first, second, first):
        await one.meet()
    assert first.replica_count == 2
    server.flush()
    assert await first.meet()
    assert first.replica_count == 2
    assert not await first.meet()
    assert first.replica_count == 1
    for one in (first, second):
        await one.aclose()
