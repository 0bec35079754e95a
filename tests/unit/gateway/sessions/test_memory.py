from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

import pytest

from gateway.sessions.entry import MAX_PENDING
from gateway.sessions.memory import MARKED_AT_START, PATIENCE_S, SWEEP_EVERY_S, Sessions
from gateway.sessions.model import TTL_S, Address, Session, Strike
from gateway.sessions.pins import clear_pin, live_pin, write_pin
from gateway.sessions.strikes import strike_model
from tests.fakes.clock import FakeClock
from tests.fakes.sessions import MemorySessionStore
from tests.unit.gateway.sessions.made import ADDRESS, NOW, choice, pinned

PLACE = (ADDRESS.key, ADDRESS.role)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW)


@pytest.fixture
def store() -> MemorySessionStore:
    return MemorySessionStore()


def strike(model_id: str) -> Callable[[Session], Session]:
    return partial(strike_model, strike=Strike(model_id, "x"), now_unix_s=NOW)


def struck(session: Session) -> set[str]:
    return {each.model_id for each in session.strikes.models}


async def test_alone_a_gateway_reads_nothing_on_the_path(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    store.rows[PLACE] = replace(pinned(), version=1)
    sessions = Sessions(store, clock, is_shared=False)
    await sessions.start()
    recalled = await sessions.recall(ADDRESS)
    unknown = await sessions.recall(replace(ADDRESS, role="default_low"))
    assert live_pin(recalled.session, "cluster", NOW) is not None
    assert (unknown.session.version, unknown.is_known) == (0, True)
    assert store.loads == 0
    await sessions.aclose()


@pytest.mark.spec("TRN-42")
async def test_strikes_of_a_session_that_is_over_are_taken_up_too(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    store.rows[PLACE] = replace(strike("bad")(pinned()), version=1)
    clock.advance(TTL_S + 60)
    sessions = Sessions(store, clock, is_shared=False)
    await sessions.start()
    assert struck((await sessions.recall(ADDRESS)).session) == {"bad"}
    await sessions.aclose()


async def test_a_change_is_seen_at_once_and_stored_later(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    sessions = Sessions(store, clock, is_shared=False)
    await sessions.start()
    assert struck(sessions.change(ADDRESS, strike("a"))) == {"a"}
    sessions.change(ADDRESS, strike("b"))
    assert store.saves == 0
    assert struck((await sessions.recall(ADDRESS)).session) == {"a", "b"}
    await sessions.aclose()
    assert struck(store.rows[PLACE]) == {"a", "b"}
    assert store.saves == 1


async def test_many_sessions_are_stored_in_one_go(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    sessions = Sessions(store, clock, is_shared=False)
    await sessions.start()
    places = [replace(ADDRESS, key=bytes([number]) * 16) for number in range(20)]
    for place in places:
        sessions.change(place, strike("a"))
    await sessions.aclose()
    assert store.saves == 1
    assert len(store.rows) == 20


class BusyStore(MemorySessionStore):
    """A store while whose first writes a session changes again; counts what is stored alone."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[int] = []
        self.singles = 0
        self.change: Callable[[], object] = lambda: None

    async def save(self, session: Session) -> Session | None:
        self.singles += 1
        return await super().save(session)

    async def save_all(self, sessions: Sequence[Session]) -> Sequence[Session] | None:
        self.batches.append(len(sessions))
        if len(self.batches) <= 3:
            self.change()
        return await super().save_all(sessions)


async def test_alone_a_session_that_changes_all_the_time_keeps_no_other_from_the_store(
    clock: FakeClock,
) -> None:
    store = BusyStore()
    sessions = Sessions(store, clock, is_shared=False)
    store.change = lambda: sessions.change(ADDRESS, strike(f"m{len(store.batches)}"))
    await sessions.start()
    quiet = replace(ADDRESS, role="quiet")
    sessions.change(ADDRESS, strike("m0"))
    sessions.change(quiet, strike("m0"))
    await sessions.aclose()
    assert store.batches == [2, 1, 1, 1]
    assert store.singles == 0
    assert struck(store.rows[PLACE]) == {"m0", "m1", "m2", "m3"}
    assert struck(store.rows[quiet.key, quiet.role]) == {"m0"}


async def test_what_changes_while_a_session_is_stored_is_not_done_twice(clock: FakeClock) -> None:
    store = BusyStore()
    sessions = Sessions(store, clock, is_shared=False)
    done: list[int] = []

    def late(session: Session) -> Session:
        done.append(len(store.batches))
        return strike("late")(session)

    store.change = lambda: sessions.change(ADDRESS, late) if not done else None
    await sessions.start()
    sessions.change(ADDRESS, strike("a"))
    await sessions.aclose()
    assert done == [1]
    assert struck(store.rows[PLACE]) == {"a", "late"}


async def test_a_row_that_changed_behind_our_back_spoils_nothing(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    sessions = Sessions(store, clock, is_shared=False)
    await sessions.start()
    other = replace(ADDRESS, role="default_low")
    store.rows[PLACE] = replace(strike("foreign")(Session(ADDRESS)), version=3)
    sessions.change(ADDRESS, strike("own"))
    sessions.change(other, strike("own"))
    await sessions.aclose()
    assert struck(store.rows[PLACE]) == {"foreign", "own"}
    assert struck(store.rows[other.key, other.role]) == {"own"}


async def test_a_change_of_nothing_is_not_stored(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    sessions = Sessions(store, clock, is_shared=False)
    await sessions.start()
    sessions.change(ADDRESS, lambda session: session)
    await sessions.aclose()
    assert store.saves == 0


async def test_beside_others_each_action_reads_once_and_stores_once(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    one, two = (Sessions(store, clock, is_shared=True) for _ in range(2))
    await one.start()
    await two.start()
    await one.recall(ADDRESS)
    one.change(ADDRESS, strike("a"))
    await one.settle(ADDRESS)
    assert struck((await two.recall(ADDRESS)).session) == {"a"}
    two.change(ADDRESS, strike("b"))
    await two.settle(ADDRESS)
    assert struck((await one.recall(ADDRESS)).session) == {"a", "b"}
    assert (store.loads, store.saves) == (3, 2)
    await one.aclose()
    await two.aclose()


async def test_beside_others_what_an_action_decides_and_leaves_is_one_write(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    sessions = Sessions(store, clock, is_shared=True)
    await sessions.start()
    sessions.change(ADDRESS, strike("decided"), is_last=False)
    await asyncio.sleep(0)
    assert store.saves == 0
    sessions.change(ADDRESS, strike("left"))
    await sessions.settle(ADDRESS)
    assert struck(store.rows[PLACE]) == {"decided", "left"}
    assert store.saves == 1
    await sessions.aclose()


@pytest.mark.parametrize("hastened", [Sessions.settle, Sessions.consume])
async def test_who_needs_a_session_stored_does_not_wait_for_its_last_change(
    store: MemorySessionStore,
    clock: FakeClock,
    hastened: Callable[[Sessions, Address], Awaitable[object]],
) -> None:
    sessions = Sessions(store, clock, is_shared=True)
    await sessions.start()
    sessions.change(ADDRESS, strike("decided"), is_last=False)
    await hastened(sessions, ADDRESS)
    assert store.saves == 1
    await sessions.aclose()


async def test_a_close_stores_what_still_waits_for_company(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    sessions = Sessions(store, clock, is_shared=True)
    await sessions.start()
    sessions.change(ADDRESS, strike("decided"), is_last=False)
    await sessions.aclose()
    assert struck(store.rows[PLACE]) == {"decided"}


class LateStore(MemorySessionStore):
    """A store that is read and written to by others before it answers its first write."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: list[Callable[[], Awaitable[object]]] = []

    async def save(self, session: Session) -> Session | None:
        saved = await super().save(session)
        if self.meanwhile:
            await self.meanwhile.pop()()
        return saved


async def test_beside_others_what_is_read_before_its_writer_hears_of_it_counts_once(
    clock: FakeClock,
) -> None:
    store = LateStore()
    sessions = Sessions(store, clock, is_shared=True)
    await sessions.start()

    def counted(session: Session) -> Session:
        return replace(session, pin_epoch=session.pin_epoch + 1)

    async def act_again() -> None:
        await sessions.recall(ADDRESS)
        sessions.change(ADDRESS, counted)

    store.meanwhile.append(act_again)
    sessions.change(ADDRESS, counted)
    await sessions.aclose()
    assert store.rows[PLACE].pin_epoch == 2
    assert (await sessions.recall(ADDRESS)).session.pin_epoch == 2


@pytest.mark.spec("TRN-93")
async def test_a_pin_decided_before_a_clear_elsewhere_does_not_come_back(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    store.rows[PLACE] = replace(pinned(), version=1)
    slow, quick = (Sessions(store, clock, is_shared=True) for _ in range(2))
    await slow.start()
    await quick.start()
    basis = (await slow.recall(ADDRESS)).session.pin_epoch
    await quick.recall(ADDRESS)
    quick.change(ADDRESS, partial(clear_pin, reason="x", now_unix_s=NOW))
    await quick.settle(ADDRESS)
    slow.change(ADDRESS, partial(write_pin, choice=choice(), now_unix_s=NOW + 1, basis_epoch=basis))
    await slow.settle(ADDRESS)
    assert live_pin(store.rows[PLACE], "cluster", NOW + 2) is None
    await slow.aclose()
    await quick.aclose()


@pytest.mark.spec("TRN-41")
async def test_a_store_that_is_down_is_a_miss_of_unknown_history(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    store.is_down = True
    sessions = Sessions(store, clock, is_shared=True)
    await sessions.start()
    recalled = await sessions.recall(ADDRESS)
    assert recalled.session == Session(ADDRESS)
    assert not recalled.is_known
    sessions.change(ADDRESS, strike("a"))
    again = await sessions.recall(ADDRESS)
    assert struck(again.session) == {"a"}
    store.is_down = False
    await clock.pass_time(2)
    assert struck(store.rows[PLACE]) == {"a"}
    await sessions.aclose()


async def test_what_was_stored_while_the_store_was_late_is_merged(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    store.rows[PLACE] = replace(strike("old")(Session(ADDRESS)), version=4)
    store.delay_s = 2 * PATIENCE_S
    sessions = Sessions(store, clock, is_shared=True)
    await sessions.start()
    assert not (await sessions.recall(ADDRESS)).is_known
    sessions.change(ADDRESS, strike("new"))
    await sessions.aclose()
    assert struck(store.rows[PLACE]) == {"old", "new"}


@pytest.mark.spec("TRN-47")
async def test_what_is_consumed_is_not_written_again(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    sessions = Sessions(store, clock, is_shared=True)
    await sessions.start()
    sessions.change(ADDRESS, partial(write_pin, choice=choice(), now_unix_s=NOW, basis_epoch=0))
    taken = await asyncio.gather(*(sessions.consume(ADDRESS) for _ in range(3)))
    assert len([each for each in taken if each is not None]) == 1
    await sessions.aclose()
    assert store.rows == {}


async def test_memory_is_bounded_and_what_it_drops_is_read_again(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    sessions = Sessions(store, clock, is_shared=True, capacity=2)
    await sessions.start()
    places = [replace(ADDRESS, key=bytes([number]) * 16) for number in range(5)]
    for place in places:
        sessions.change(place, strike("a"))
        await sessions.settle(place)
    assert len(sessions._entries) == 2
    assert struck((await sessions.recall(places[0])).session) == {"a"}
    await sessions.aclose()


async def test_memory_stays_bounded_while_the_store_is_down(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    store.is_down = True
    sessions = Sessions(store, clock, is_shared=True, capacity=4)
    await sessions.start()
    for number in range(40):
        sessions.change(replace(ADDRESS, key=bytes([number]) * 16), strike("a"))
    for number in range(2 * MAX_PENDING):
        sessions.change(ADDRESS, strike(f"m{number}"))
    assert len(sessions._entries) <= 9
    assert len(sessions._entries[PLACE].pending) == MAX_PENDING
    store.is_down = False
    await clock.pass_time(2)
    await sessions.aclose()


def places(count: int) -> list[Address]:
    return [replace(ADDRESS, key=bytes([number]) * 16) for number in range(count)]


async def test_alone_what_memory_let_go_is_read_again_and_what_is_new_is_not(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    sessions = Sessions(store, clock, is_shared=False, capacity=2)
    await sessions.start()
    old = places(5)
    for place in old:
        sessions.change(place, strike("a"))
        await sessions._writer._dirty.join()
    assert len(sessions._entries) == 2
    new = replace(ADDRESS, role="new")
    assert (await sessions.recall(new)).session == Session(new)
    assert store.loads == 0
    assert struck((await sessions.recall(old[0])).session) == {"a"}
    assert store.loads == 1
    await sessions.aclose()


async def test_after_a_restart_more_than_is_taken_up_is_found_and_what_is_new_is_not_read(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    *old, new = places(6)
    store.rows |= {
        (place.key, place.role): replace(pinned(Session(place)), version=1) for place in old
    }
    sessions = Sessions(store, clock, is_shared=False, capacity=2)
    await sessions.start()
    assert (await sessions.recall(new)).session == Session(new)
    assert store.loads == 0
    for place in old:
        assert (await sessions.recall(place)).session.pin is not None
    assert store.loads == 3
    await sessions.aclose()


async def test_with_more_stored_than_can_be_marked_what_is_not_in_memory_is_read(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    session = replace(pinned(), version=1)
    store.rows = {
        (number.to_bytes(16, "big"), "default"): session for number in range(MARKED_AT_START)
    }
    sessions = Sessions(store, clock, is_shared=False)
    await sessions.start()
    await sessions.recall(replace(ADDRESS, role="new"))
    assert store.loads == 1
    await sessions.aclose()


async def test_alone_what_may_have_been_consumed_is_read(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    sessions = Sessions(store, clock, is_shared=False)
    await sessions.start()
    sessions.change(ADDRESS, strike("a"))
    await sessions._writer._dirty.join()
    store.is_down = True
    assert await sessions.consume(ADDRESS) is None
    store.is_down = False
    assert struck((await sessions.recall(ADDRESS)).session) == {"a"}
    await sessions.recall(replace(ADDRESS, role="new"))
    assert store.loads == 1
    await sessions.aclose()


@pytest.mark.spec("TRN-43")
async def test_a_sweep_each_hour_takes_what_was_over_for_a_day(
    store: MemorySessionStore, clock: FakeClock
) -> None:
    store.rows[PLACE] = replace(pinned(), version=1)
    sessions = Sessions(store, clock, is_shared=True)
    await sessions.start()
    await clock.pass_time(SWEEP_EVERY_S * 25)
    assert PLACE in store.rows
    await clock.pass_time(SWEEP_EVERY_S)
    assert PLACE not in store.rows
    await sessions.aclose()
