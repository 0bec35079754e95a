from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.remembering import StateThread, is_model_foreign
from gateway.sessions.memory import Sessions
from services.domain.vocab import WireFamily
from services.domain.wire.model import ProviderState
from services.domain.wire.state.kept import Kept, Place
from tests.fakes.clock import FakeClock
from tests.fakes.sessions import MemorySessionStore
from tests.unit.gateway.facts import policy
from tests.unit.gateway.happenings import CATALOG, an_action

KEPT = Kept(Place.CALL, "c", "", ProviderState(WireFamily.GEMINI, "signature", "payload"))


def test_a_model_is_foreign_where_a_provider_speaks_otherwise() -> None:
    action = an_action()
    assert not is_model_foreign(action, policy(), CATALOG)
    own = policy(families={"p1": WireFamily.ANTHROPIC})
    assert not is_model_foreign(action, own, CATALOG)
    other = policy(families={"p1": WireFamily.GEMINI})
    assert is_model_foreign(action, other, CATALOG)
    both = replace(own, more_families={"p1": (WireFamily.OPENAI_RESPONSES,)})
    assert is_model_foreign(action, both, CATALOG)
    unknown = replace(action, features=replace(action.features, requested_model="gone"))
    assert not is_model_foreign(unknown, other, CATALOG)


@pytest.mark.spec("XLT-181")
async def test_state_alone_is_remembered_and_read_only_where_it_can_be_missing() -> None:
    store = MemorySessionStore()
    clock = FakeClock()
    sessions = Sessions(store, clock, is_shared=True)
    first = StateThread(sessions, an_action(), clock, is_foreign=True)
    assert (await first.recall(is_led=False)).session.states == ()
    first.keep([KEPT])
    action = an_action()
    long = replace(action, features=replace(action.features, message_count=3))
    loads = store.loads
    native = StateThread(sessions, long, clock, is_foreign=False)
    assert (await native.recall(is_led=False)).session.states == ()
    assert store.loads == loads
    again = StateThread(sessions, long, clock, is_foreign=True)
    assert (await again.recall(is_led=False)).session.states == (KEPT,)
