"""Whoever waits for a slot gets it before those who come later, wherever it was freed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from services.credentials.adapters.store_sql import SCHEMA, SCRIPTS
from services.credentials.adapters.valkey import ValkeyShared
from services.credentials.model import Grant
from services.credentials.server import Service
from services.domain.errors import Reason, RouterError
from services.runtime import database
from tests.fakes.clock import FakeClock
from tests.integration.credentials.cluster import (
    SOON_S,
    account,
    attempt,
    ended,
    named,
    picked,
    replica,
    running,
    told,
    until,
)

FULL = Reason.CREDENTIAL_CONCURRENCY
WAIT_S = 60.0


@pytest.fixture
async def alone(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Service]:
    pool = [
        account("a", max_in_flight=1),
        account("b", max_in_flight_per_model=1, provider="openai"),
        account("c", max_in_flight=2, provider="gemini"),
        account("d", max_in_flight=2, max_in_flight_per_model=1, provider="xai"),
    ]
    async with running(replica(f"sqlite:///{tmp_path}/credentials.db", pool, clock)) as (one,):
        yield one


@pytest.fixture
async def two(
    postgres_url: str, valkey_url: str, clock: FakeClock
) -> AsyncIterator[tuple[Service, Service]]:
    await database.migrate(postgres_url, SCRIPTS, SCHEMA)
    pool = [account("a", max_in_flight=3)]
    here, there = (replica(postgres_url, pool, clock, valkey_url) for _ in range(2))
    async with running(here, there):
        yield here, there


async def waiting(one: Service, **more: object) -> asyncio.Task[Grant]:
    """Return a selection that has begun to wait."""
    task = asyncio.create_task(picked(one, max_wait_s=WAIT_S, **more))
    places = one.grants.line._places
    last = max(places, default=0)
    await until(lambda: max(places, default=0) > last)
    return task


async def end(one: Service, grant: Grant, clock: FakeClock) -> None:
    model = grant.binding.model_id
    await one.reports.apply(ended(clock, grant.credential_id, 200, grant_id=grant.id, model=model))


async def soon(task: asyncio.Task[Grant]) -> Grant:
    async with asyncio.timeout(SOON_S):
        return await task


@pytest.mark.spec("CRD-159")
async def test_who_comes_in_the_moment_in_which_a_slot_is_freed_does_not_get_it(
    alone: Service, clock: FakeClock
) -> None:
    held = await picked(alone)
    first = await waiting(alone)
    await end(alone, held, clock)
    assert await attempt(alone, FULL) is None
    later = await waiting(alone, model="another")
    await end(alone, await soon(first), clock)
    assert await attempt(alone, FULL, model="third") is None
    await soon(later)


@pytest.mark.spec("CRD-159")
async def test_who_waits_for_a_slot_of_all_models_is_not_overtaken_for_another_one(
    alone: Service, clock: FakeClock
) -> None:
    held = [await picked(alone, model=model, provider="xai") for model in ("m1", "m2")]
    first = await waiting(alone, model="m3", provider="xai")
    await end(alone, held[0], clock)
    assert await attempt(alone, FULL, model="m4", provider="xai") is None
    await soon(first)


@pytest.mark.spec("CRD-159")
async def test_who_waits_for_a_slot_of_its_model_holds_up_no_other_model(
    alone: Service, clock: FakeClock
) -> None:
    held = [await picked(alone, model=model, provider="xai") for model in ("m1", "m2")]
    first = await waiting(alone, model="m1", provider="xai")
    await end(alone, held[1], clock)
    assert await attempt(alone, FULL, model="m3", provider="xai") is not None
    await end(alone, held[0], clock)
    await soon(first)


@pytest.mark.spec("CRD-159")
async def test_a_slot_that_is_freed_elsewhere_is_for_who_waits_longest(
    two: tuple[Service, Service], clock: FakeClock
) -> None:
    here, there = two
    held = [await picked(there) for _ in range(3)]
    tasks = [await waiting(here) for _ in range(3)]
    for place, task in enumerate(tasks):
        await end(there, held[place], clock)
        async with asyncio.timeout(SOON_S):
            while not task.done():
                assert await attempt(here, FULL) is None
                await asyncio.sleep(0.002)
        assert [one.done() for one in tasks] == [number <= place for number in range(3)]
        await task


@pytest.mark.spec("CRD-124", "CRD-159")
async def test_who_waits_for_a_share_looks_again_when_the_others_can_be_asked(
    two: tuple[Service, Service],
) -> None:
    here, _ = two
    await here._announcing._meet(here._slots)
    assert isinstance(here._shared, ValkeyShared)
    here._shared._note_down(ConnectionError())
    await picked(here)  # its share of three among two
    await soon(await waiting(here))


@pytest.mark.spec("CRD-159")
async def test_who_leaves_the_line_keeps_nobody_from_a_slot(
    alone: Service, clock: FakeClock
) -> None:
    held = await picked(alone)
    leaving, staying = await waiting(alone), await waiting(alone)
    await end(alone, held, clock)
    leaving.cancel()
    await soon(staying)


@pytest.mark.spec("CRD-159")
async def test_who_comes_in_the_moment_in_which_two_slots_are_freed_waits_for_no_third(
    alone: Service, clock: FakeClock
) -> None:
    held = [await picked(alone, provider="gemini") for _ in range(2)]
    first = await waiting(alone, provider="gemini")
    for grant in held:
        await end(alone, grant, clock)
    async with asyncio.timeout(SOON_S):
        await picked(alone, provider="gemini", max_wait_s=WAIT_S)
    await soon(first)


@pytest.mark.spec("CRD-159")
async def test_who_waits_for_another_model_keeps_nobody_from_a_slot(
    alone: Service,
) -> None:
    await picked(alone, provider="openai", model="m1")
    task = await waiting(alone, provider="openai", model="m1")
    assert await attempt(alone, FULL, provider="openai", model="m2") is not None
    assert await attempt(alone, FULL, provider="openai", model="m1") is None
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.spec("CRD-159", "CRD-160")
async def test_a_limit_that_is_raised_lets_those_in_who_wait(alone: Service) -> None:
    await picked(alone)
    tasks = [await waiting(alone) for _ in range(3)]
    await alone.vault.change(
        named(alone, "a").id, lambda now: replace(now, spec=replace(now.spec, max_in_flight=3))
    )
    for task in tasks[:2]:
        await soon(task)
    assert not tasks[2].done()
    tasks[2].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.spec("CRD-159")
async def test_who_waits_for_two_accounts_goes_on_waiting_when_one_of_them_cools(
    tmp_path: Path, clock: FakeClock
) -> None:
    pool = [account(label, max_in_flight=1) for label in "ab"]
    async with running(replica(f"sqlite:///{tmp_path}/credentials.db", pool, clock)) as (one,):
        held, cooling = await picked(one), await picked(one)
        task = await waiting(one)
        wait = ("retry-after", "600")
        await one.reports.apply(told(clock, cooling.credential_id, 429, wait))
        await asyncio.sleep(0.01)
        await end(one, held, clock)
        assert (await soon(task)).credential_id == held.credential_id


@pytest.mark.spec("CRD-111", "CRD-159")
async def test_nobody_waits_for_an_account_that_was_taken_out_of_the_configuration(
    alone: Service,
) -> None:
    await picked(alone)
    tasks = [await waiting(alone) for _ in range(2)]
    await alone.vault.declare((account("d", provider="openai"),))
    for task in tasks:
        with pytest.raises(RouterError) as caught:
            await soon(task)
        assert caught.value.reason is Reason.NO_ELIGIBLE_PROVIDER


@pytest.mark.spec("CRD-158", "CRD-159")
@pytest.mark.parametrize("seed", range(4))
async def test_all_who_wait_are_served_however_others_come_and_leave(
    tmp_path: Path, clock: FakeClock, seed: int
) -> None:
    dice = random.Random(seed)
    pool = [
        account("a", max_in_flight=2),
        account("b", max_in_flight_per_model=1),
        account("c", max_in_flight=2, max_in_flight_per_model=1),
    ]
    served = []

    async def act(one: Service, number: int) -> None:
        grant = await picked(one, max_wait_s=WAIT_S, model=dice.choice(["m1", "m2", "m3"]))
        served.append(number)
        try:
            for _ in range(dice.randrange(4)):
                await asyncio.sleep(0)
        finally:
            await end(one, grant, clock)

    async with running(replica(f"sqlite:///{tmp_path}/credentials.db", pool, clock)) as (one,):
        tasks = [asyncio.create_task(act(one, number)) for number in range(60)]
        leaving = dice.sample(range(60), 10)
        for number in leaving:
            await asyncio.sleep(0)
            tasks[number].cancel()
        async with asyncio.timeout(SOON_S):
            await asyncio.gather(*tasks, return_exceptions=True)
        assert set(range(60)) - set(leaving) <= set(served)
        assert one.grants.line._places == {}
        assert not one.grants.in_flight.by_credential
