from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial

import pytest

from gateway.sessions.memory import Recall, Sessions
from gateway.sessions.model import Address, History, Strike
from gateway.sessions.pins import write_pin
from gateway.sessions.strikes import strike_model, struck_models
from gateway.sessions.threads import CONVERSATION_ROLE, recall_thread
from tests.fakes.clock import FakeClock
from tests.fakes.sessions import MemorySessionStore
from tests.unit.gateway.sessions.made import ADDRESS, NOW, choice

CONVERSATION = b"\x0c" * 16
AFTER = replace(ADDRESS, key=b"\x02" * 16)


@pytest.fixture
def store() -> MemorySessionStore:
    return MemorySessionStore()


@pytest.fixture
async def sessions(store: MemorySessionStore) -> AsyncIterator[Sessions]:
    opened = Sessions(store, FakeClock(NOW), is_shared=False)
    await opened.start()
    yield opened
    await opened.aclose()


async def recall(
    sessions: Sessions, thread: Address, conversation: bytes, messages: int, now_unix_s: float
) -> Recall:
    found = await sessions.recall(thread)
    return await recall_thread(
        sessions, found, thread, conversation, History(messages, 0, now_unix_s)
    )


async def known_thread(sessions: Sessions, messages: int) -> None:
    await recall(sessions, ADDRESS, CONVERSATION, messages, NOW)
    sessions.change(ADDRESS, partial(strike_model, strike=Strike("bad", "x"), now_unix_s=NOW))
    sessions.change(ADDRESS, partial(write_pin, choice=choice(), now_unix_s=NOW, basis_epoch=0))


async def test_a_thread_that_was_cut_keeps_its_strikes_under_its_new_key(
    sessions: Sessions,
) -> None:
    await known_thread(sessions, 30)
    after = await recall(sessions, AFTER, CONVERSATION, 3, NOW + 5)
    assert struck_models(after.session, NOW + 5) == {"bad"}
    assert after.session.pin is None
    again = await recall(sessions, AFTER, CONVERSATION, 5, NOW + 9)
    assert struck_models(again.session, NOW + 9) == {"bad"}


async def test_a_new_thread_beside_a_short_one_begins_anew(sessions: Sessions) -> None:
    await known_thread(sessions, 3)
    after = await recall(sessions, AFTER, CONVERSATION, 1, NOW + 5)
    assert struck_models(after.session, NOW + 5) == frozenset()


async def test_nothing_goes_over_to_another_role_or_conversation(sessions: Sessions) -> None:
    await known_thread(sessions, 30)
    low = replace(AFTER, role="default_low")
    for address, conversation in ((low, CONVERSATION), (AFTER, b"\x0d" * 16), (AFTER, AFTER.key)):
        found = await recall(sessions, address, conversation, 1, NOW + 5)
        assert struck_models(found.session, NOW + 5) == frozenset()


async def test_a_client_without_a_session_has_one_row(
    sessions: Sessions, store: MemorySessionStore
) -> None:
    await recall(sessions, ADDRESS, ADDRESS.key, 1, NOW)
    await sessions.aclose()
    assert list(store.rows) == [(ADDRESS.key, ADDRESS.role)]


@pytest.mark.spec("TRN-59")
async def test_the_history_of_each_action_is_counted(sessions: Sessions) -> None:
    await recall(sessions, ADDRESS, CONVERSATION, 20, NOW)
    cut = await recall(sessions, ADDRESS, CONVERSATION, 2, NOW + 1)
    assert cut.session.history_epoch == 1


async def test_a_thread_of_unknown_history_is_left_alone(
    store: MemorySessionStore,
) -> None:
    store.is_down = True
    shared = Sessions(store, FakeClock(NOW), is_shared=True)
    found = await recall(shared, ADDRESS, CONVERSATION, 2, NOW)
    assert not found.is_known
    assert found.session.history is not None


async def test_beside_others_a_new_thread_is_read_once_and_stored_with_what_follows(
    store: MemorySessionStore,
) -> None:
    shared = Sessions(store, FakeClock(NOW), is_shared=True)
    await shared.start()
    await recall(shared, ADDRESS, CONVERSATION, 1, NOW)
    await shared.settle(replace(ADDRESS, key=CONVERSATION, role=CONVERSATION_ROLE))
    assert (store.loads, store.saves) == (2, 1)
    shared.change(ADDRESS, partial(write_pin, choice=choice(), now_unix_s=NOW, basis_epoch=0))
    await shared.settle(ADDRESS)
    assert (store.loads, store.saves) == (2, 2)
    await shared.aclose()
