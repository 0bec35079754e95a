"""One suite for every session store, and for the memory in front of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa

from gateway.adapters.sessions import SESSIONS, SqlSessionStore
from gateway.adapters.store import SCHEMA, SCRIPTS
from gateway.model import InstallationId
from gateway.sessions.history import Shortening, shortened
from gateway.sessions.memory import Sessions
from gateway.sessions.model import TTL_S, Address, Session, Strike
from gateway.sessions.pins import live_pin, write_pin
from gateway.sessions.ports import SessionStore
from gateway.sessions.risks import record_risks
from gateway.sessions.strikes import strike_model
from gateway.sessions.usage import record_use
from gateway.sessions.writing import GATHER_S, LATER_S
from services.domain.errors import Reason, RouterError
from services.runtime.clock import SystemClock
from services.runtime.database import migrate, open_engine
from tests.fakes.sessions import MemorySessionStore
from tests.unit.gateway.sessions.made import ADDRESS, EMPTY, NOW, choice, pinned, use


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/gateway.db"


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[SessionStore]:
    if request.param == "memory":
        yield MemorySessionStore()
        return
    url: str = request.getfixturevalue(f"{request.param}_url")
    await migrate(url, SCRIPTS, SCHEMA)
    opened = SqlSessionStore(url)
    await opened.start()
    yield opened
    await opened.aclose()


def full_session() -> Session:
    session = record_use(pinned(), use(), "cluster")
    session = strike_model(session, Strike("bad", "x", NOW + 45), NOW)
    session = record_risks(session, "act_1", {"large": 0.25})
    return shortened(session, Shortening(b"\x00\xff", b"\xfe"))


async def test_a_session_is_found_as_it_was_stored(store: SessionStore) -> None:
    session = full_session()
    assert await store.load(ADDRESS) is None
    stored = await store.save(session)
    assert stored == replace(session, version=1)
    assert await store.load(ADDRESS) == stored


async def test_a_version_that_is_known_need_not_be_read_again(store: SessionStore) -> None:
    first = await store.save(full_session())
    assert first is not None
    assert await store.load(ADDRESS, first) is first
    second = await store.save(first)
    assert await store.load(ADDRESS, first) == second


async def test_roles_share_nothing(store: SessionStore) -> None:
    await store.save(pinned())
    assert await store.load(replace(ADDRESS, role="default_low")) is None


async def test_only_the_version_that_was_read_is_written_over(store: SessionStore) -> None:
    first = await store.save(pinned())
    assert first is not None
    assert await store.save(pinned()) is None
    second = await store.save(strike_model(first, Strike("bad", "x"), NOW))
    assert second is not None
    assert second.version == 2
    assert await store.save(first) is None
    assert await store.load(ADDRESS) == second
    gone = replace(EMPTY, address=replace(ADDRESS, key=b"\x02" * 16), version=7)
    assert await store.save(gone) is None


async def test_many_are_stored_together_or_not_at_all(store: SessionStore) -> None:
    others = [Session(replace(ADDRESS, key=bytes([number]) * 16)) for number in range(2, 5)]
    first = await store.save(pinned())
    assert first is not None
    stored = [replace(session, version=session.version + 1) for session in (first, *others)]
    assert await store.save_all([first, *others]) == stored
    assert await store.load(ADDRESS) == replace(first, version=2)
    assert await store.load(others[0].address) == replace(others[0], version=1)
    second = replace(first, version=2, summary=b"new")
    assert await store.save_all([second, *others]) is None
    stale = replace(others[1], version=9)
    assert await store.save_all([second, stale]) is None
    assert await store.load(ADDRESS) == replace(first, version=2)
    assert await store.save_all([second]) == [replace(second, version=3)]


async def test_the_installation_of_a_session_never_changes(store: SessionStore) -> None:
    first = await store.save(pinned())
    assert first is not None
    moved = replace(first, address=replace(ADDRESS, installation_id=InstallationId("other")))
    await store.save(moved)
    found = await store.load(ADDRESS)
    assert found is not None
    assert found.address.installation_id == ADDRESS.installation_id


@pytest.mark.spec("TRN-47")
async def test_one_of_many_gets_what_is_consumed(store: SessionStore) -> None:
    await store.save(pinned())
    taken = await asyncio.gather(*(store.consume(ADDRESS, NOW + 1) for _ in range(8)))
    assert len([session for session in taken if session is not None]) == 1
    assert await store.load(ADDRESS) is None


@pytest.mark.spec("TRN-47")
async def test_what_is_over_cannot_be_consumed(store: SessionStore) -> None:
    await store.save(pinned())
    assert await store.consume(ADDRESS, NOW + TTL_S) is None
    assert await store.load(ADDRESS) is not None


@pytest.mark.spec("TRN-43")
async def test_a_sweep_takes_what_was_over_and_no_forced_pin(store: SessionStore) -> None:
    forced = replace(EMPTY, address=replace(ADDRESS, role="default_low"))
    await store.save(pinned())
    await store.save(write_pin(forced, choice(), NOW, basis_epoch=0, is_forced=True))
    assert await store.sweep(NOW + TTL_S) == 0
    assert await store.sweep(NOW + TTL_S + 1) == 1
    assert await store.load(ADDRESS) is None
    assert await store.load(forced.address) is not None


async def test_the_last_to_end_are_taken_up_first(store: SessionStore) -> None:
    places = [replace(ADDRESS, key=bytes([number]) * 16) for number in range(4)]
    for number, place in enumerate(places):
        await store.save(pinned(Session(place), now_unix_s=NOW + number))
    found = await store.recent(NOW + TTL_S, 2)
    assert [session.address for session in found] == [places[3], places[2]]
    assert len(await store.recent(NOW + TTL_S, 10)) == 3


async def test_all_places_are_told_as_far_as_they_are_wanted(store: SessionStore) -> None:
    wanted = {(bytes([number]) * 16, ADDRESS.role) for number in range(4)}
    for key, _ in wanted:
        await store.save(pinned(Session(replace(ADDRESS, key=key))))
    assert set(await store.places(10)) == wanted
    assert len(await store.places(3)) == 3


def counted(number: int) -> str:
    return f"act_{number}"


@pytest.mark.spec("TRN-93")
@pytest.mark.parametrize("gateways", [1, 5])
async def test_fifty_changes_at_once_are_all_kept(store: SessionStore, gateways: int) -> None:
    opened = [Sessions(store, SystemClock(), is_shared=gateways > 1) for _ in range(gateways)]
    for sessions in opened:
        await sessions.start()

    async def act(number: int) -> None:
        sessions = opened[number % gateways]
        await sessions.recall(ADDRESS)
        strike = Strike(f"m{number % 25}", "x", NOW + number)
        sessions.change(ADDRESS, partial(write_pin, choice=choice(), now_unix_s=NOW, basis_epoch=0))
        sessions.change(ADDRESS, partial(strike_model, strike=strike, now_unix_s=NOW))
        await sessions.settle(ADDRESS)

    await asyncio.gather(*(act(number) for number in range(50)))
    for sessions in opened:
        await sessions.aclose()
    found = await store.load(ADDRESS)
    assert found is not None
    assert found.pin is not None
    assert found.pin.turn_count == 50
    ends = {strike.model_id: strike.until_unix_s for strike in found.strikes.models}
    assert ends == {f"m{number}": NOW + number + 25 for number in range(25)}


async def test_a_restart_loses_nothing(store: SessionStore) -> None:
    now = SystemClock().now_unix_s()
    first = Sessions(store, SystemClock(), is_shared=False)
    await first.start()
    first.change(ADDRESS, partial(write_pin, choice=choice(), now_unix_s=now, basis_epoch=0))
    await first.aclose()
    second = Sessions(store, SystemClock(), is_shared=False)
    await second.start()
    recalled = await second.recall(ADDRESS)
    assert live_pin(recalled.session, "cluster", now + 1) is not None
    await second.aclose()


@pytest.mark.spec("TRN-41")
async def test_a_damaged_row_is_empty_and_written_over(sqlite_url: str) -> None:
    store = SqlSessionStore(sqlite_url)
    await store.start()
    await store.save(pinned())
    engine = open_engine(sqlite_url)
    async with engine.begin() as connection:
        await connection.execute(sa.update(SESSIONS).values(document=b"{"))
    await engine.dispose()
    found = await store.load(ADDRESS)
    assert found == Session(ADDRESS, 1)
    assert await store.save(pinned(found)) is not None
    await store.aclose()


async def test_a_store_that_is_gone_says_so() -> None:
    store = SqlSessionStore("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(RouterError) as caught:
        await store.load(Address(b"k" * 16, "default", InstallationId("i")))
    assert caught.value.reason is Reason.STORE_UNAVAILABLE
    await store.aclose()


async def test_a_change_without_a_last_one_is_stored_all_the_same() -> None:
    store = MemorySessionStore()
    sessions = Sessions(store, SystemClock(), is_shared=True)
    await sessions.start()
    sessions.change(ADDRESS, partial(shortened, shortening=Shortening(b"s")), is_last=False)
    await asyncio.sleep(LATER_S + GATHER_S)
    assert store.saves == 1
    await sessions.aclose()
    assert store.saves == 1
