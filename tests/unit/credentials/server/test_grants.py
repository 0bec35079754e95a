"""Slots are taken once, freed once, and never by somebody late."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.credentials.model import BindingRef, Bucket, Grant, Selected
from services.credentials.server.bounded import Bounded
from services.credentials.server.grants import Grants
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialKind, CredentialOwner
from tests.fakes.clock import FakeClock

TTL = 60.0


def selected(name: str, credential_id: str = "c") -> Selected:
    grant = Grant(
        name,
        "a",
        "t",
        BindingRef("m", "p"),
        CredentialKind.API_KEY,
        CredentialOwner.OPERATOR,
        Bucket.CLEAN,
        credential_id=credential_id,
    )
    return Selected(grant, 0, None)


def opened(grants: Grants, name: str) -> None:
    grants.open(selected(name), ("t", name), "m", slot=True, limited=True)


def fresh() -> tuple[FakeClock, Grants]:
    clock = FakeClock()
    return clock, Grants(TTL, clock, lambda: None)


@pytest.mark.spec("CRD-157", "CRD-158")
def test_a_silent_grant_lapses_and_a_renewed_one_lasts() -> None:
    clock, grants = fresh()
    opened(grants, "g1")
    opened(grants, "g2")
    clock.advance(50)
    assert grants.renew("g2")
    clock.advance(10)
    assert grants.count("c") == 1
    with pytest.raises(RouterError) as caught:
        grants.get("g1")
    assert caught.value.reason is Reason.GRANT_EXPIRED
    clock.advance(2 * TTL)
    assert grants.count("c") == 0
    with pytest.raises(RouterError) as caught:
        grants.get("g1")
    assert caught.value.reason is Reason.GRANT_UNKNOWN


@pytest.mark.spec("CRD-161")
def test_a_late_release_or_renewal_frees_nothing() -> None:
    clock, grants = fresh()
    opened(grants, "g1")
    clock.advance(TTL)
    opened(grants, "g2")
    assert not grants.release("g1")
    assert not grants.renew("g1")
    assert grants.count("c") == 1
    assert grants.release("g2")
    grants.release("g2")
    assert grants.count("c") == 0


@pytest.mark.spec("CRD-158")
@given(
    st.lists(
        st.tuples(st.sampled_from(["open", "end", "renew", "wait", "drop"]), st.integers(0, 5)),
        max_size=40,
    )
)
def test_counts_come_back_to_zero_whatever_happens(steps: list[tuple[str, int]]) -> None:
    clock, grants = fresh()
    for number, (step, which) in enumerate(steps):
        match step:
            case "open":
                opened(grants, f"g{number}")
            case "end":
                grants.release(f"g{which}")
            case "renew":
                grants.renew(f"g{which}")
            case "wait":
                clock.advance(17 * which)
            case _:
                grants.drop_credential("c")
        assert grants.count("c") >= 0
    clock.advance(TTL)
    assert grants.count("c") == 0
    assert not grants.in_flight.by_model
    clock.advance(TTL)
    grants.expire_due()
    assert grants._held == {}
    assert grants._by_key == {}


async def test_a_freed_slot_wakes_who_waits_for_its_credential() -> None:
    _, grants = fresh()
    opened(grants, "g1")

    async def wait(wanted: str) -> str:
        with grants.line.place() as place:
            await place.wait(frozenset({(wanted, "")}), 5)
            return wanted

    other, fitting = (asyncio.ensure_future(wait(name)) for name in ("d", "c"))
    await asyncio.sleep(0)
    grants.release("g1")
    assert await fitting == "c"
    assert not other.done()
    other.cancel()


@pytest.mark.spec("CRD-97")
@given(st.integers(1, 5), st.lists(st.integers(0, 9), max_size=30))
def test_a_bounded_memory_forgets_the_least_recently_used(limit: int, keys: list[int]) -> None:
    memory: Bounded[int, int] = Bounded(limit)
    model: list[int] = []
    for key in keys:
        memory.put(key, key)
        model = [*(k for k in model if k != key), key][-limit:]
    assert [key for key, _ in memory.live(0)] == model


def test_a_bounded_memory_forgets_what_is_old() -> None:
    memory: Bounded[str, int] = Bounded(4, ttl_s=10)
    memory.put("a", 1, now_s=0)
    memory.replace("a", 2)
    assert memory.get("a", 9.9) == 2
    assert memory.get("a", 10) is None
