"""Several replicas over one store behave as one: grants, slots, sessions, marks and their lines."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Iterator
from dataclasses import replace

import pytest
import structlog

from services.credentials.adapters.store_sql import SCHEMA, SCRIPTS
from services.credentials.model import Grant, MarkKind, Redemption
from services.credentials.server import Service
from services.domain.errors import Reason, RouterError
from services.runtime import database
from tests.fakes.clock import FakeClock
from tests.fakes.valkey import running_valkey
from tests.integration.credentials.cluster import (
    TENANT,
    account,
    asked,
    attempt,
    ended,
    named,
    picked,
    replica,
    running,
    told,
    until,
)

UNIFIED = "anthropic-ratelimit-unified-"


@pytest.fixture
async def url(postgres_url: str) -> str:
    await database.migrate(postgres_url, SCRIPTS, SCHEMA)
    return postgres_url


@pytest.fixture
def lines() -> Iterator[list[dict[str, object]]]:
    """Give the log lines about marks."""
    kept: list[dict[str, object]] = []

    def keep(_: object, __: str, event: structlog.typing.EventDict) -> str:
        if str(event["event"]).startswith("credential_mark"):
            kept.append(dict(event))
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[keep], cache_logger_on_first_use=False)
    yield kept
    structlog.configure(**before)


@pytest.fixture
async def three(url: str, valkey_url: str, clock: FakeClock) -> AsyncIterator[tuple[Service, ...]]:
    pool = [account("a"), account("b"), account("limited", max_in_flight=3, provider="openai")]
    async with running(*(replica(url, pool, clock, valkey_url) for _ in range(3))) as replicas:
        yield replicas


def redeemed(one: Service, grant: Grant, *, action_id: str = "") -> Grant:
    asked_for = Redemption(
        grant.id, action_id or grant.action_id, grant.installation_id, grant=replace(grant, id="")
    )
    return one.granter.redeemed(asked_for).grant


@pytest.mark.spec("CRD-151")
async def test_a_grant_is_redeemed_at_any_replica_and_for_its_action_alone(
    three: tuple[Service, ...], clock: FakeClock
) -> None:
    first, second, _ = three
    grant = await picked(first)
    for one in three:
        found = redeemed(one, grant)
        assert (found.credential_id, found.binding) == (grant.credential_id, grant.binding)
        assert one.vault.secrets_of(found.credential_id).value.startswith("secret-of-")
    other = next(c for c in second.vault.pool.by_id if c != grant.credential_id)
    for forged in (
        replace(grant, credential_id=other),
        replace(grant, action_id="another"),
        replace(grant, id=grant.id[:-4] + "AAAA"),
    ):
        with pytest.raises(RouterError) as caught:
            redeemed(second, forged)
        assert caught.value.reason is Reason.GRANT_UNKNOWN
    clock.advance(661)
    with pytest.raises(RouterError):
        redeemed(second, grant)


@pytest.mark.spec("CRD-119", "CRD-122")
async def test_a_change_is_seen_by_every_replica_at_once_even_one_that_only_clears(
    three: tuple[Service, ...], clock: FakeClock
) -> None:
    first, second, third = three
    a = named(first, "a").id
    warned = told(clock, a, 200, (UNIFIED + "5h-status", "allowed_warning"))
    await first.reports.apply(warned)
    await until(lambda: first.vault.pool == second.vault.pool == third.vault.pool)
    assert third.vault.pool.by_id[a].active_marks(clock.now_unix_s())
    clock.advance(1)
    await second.reports.apply(told(clock, a, 200, (UNIFIED + "5h-status", "allowed")))
    await until(lambda: not third.vault.pool.by_id[a].active_marks(clock.now_unix_s()))
    await until(lambda: first.vault.pool == second.vault.pool == third.vault.pool)


@pytest.mark.spec("CRD-119", "CRD-45")
async def test_a_replica_that_saw_a_warning_cleared_before_it_knew_of_it_clears_it_then(
    url: str, clock: FakeClock
) -> None:
    async with running(*(replica(url, [account("a")], clock) for _ in range(2))) as (one, other):
        a = named(one, "a").id
        await one.reports.apply(told(clock, a, 200, (UNIFIED + "5h-status", "allowed_warning")))
        clock.advance(1)
        _, changes = await other.reports.apply(
            told(clock, a, 200, (UNIFIED + "5h-status", "allowed"))
        )
        assert changes == ()
        await other.vault.poll()
        assert other.vault.pool.by_id[a].active_marks(clock.now_unix_s())
        await other.reports.sweep()
        await one.vault.poll()
        for replica_of_it in (one, other):
            assert not replica_of_it.vault.pool.by_id[a].active_marks(clock.now_unix_s())
        clock.advance(1)
        await one.reports.apply(told(clock, a, 200, (UNIFIED + "5h-status", "allowed_warning")))
        await other.vault.poll()
        await other.reports.sweep()
        assert other.vault.pool.by_id[a].active_marks(clock.now_unix_s())


@pytest.mark.spec("CRD-46", "CRD-121", "CRD-134")
async def test_each_transition_is_one_line_of_the_replica_whose_write_won(
    three: tuple[Service, ...], clock: FakeClock, lines: list[dict[str, object]]
) -> None:
    a = named(three[0], "a").id
    warning = tuple((f"{UNIFIED}{w}-status", "allowed_warning") for w in ("5h", "7d", "7d_oi"))
    await asyncio.gather(*(one.reports.apply(told(clock, a, 200, *warning)) for one in three))
    assert Counter(line["event"] for line in lines) == {"credential_mark_set": 3}
    clock.advance(1)
    cleared = (UNIFIED + "status", "allowed")
    await asyncio.gather(*(one.reports.apply(told(clock, a, 200, cleared)) for one in three))
    assert Counter(line["event"] for line in lines)["credential_mark_cleared"] == 3
    assert {str(line["fingerprint"]) for line in lines} == {named(three[0], "a").fingerprint}
    assert all(a not in str(line) for line in lines)


@pytest.mark.spec("CRD-39", "CRD-46", "CRD-130")
async def test_a_lapsed_mark_is_told_once_by_a_timer_also_after_a_restart(
    url: str, valkey_url: str, clock: FakeClock, lines: list[dict[str, object]]
) -> None:
    pool = [account("a")]
    async with running(replica(url, pool, clock)) as (alone,):
        block = ("retry-after", "60")
        await alone.reports.apply(told(clock, named(alone, "a").id, 429, block))
    clock.advance(61)
    async with running(*(replica(url, pool, clock, valkey_url) for _ in range(3))) as replicas:
        await asyncio.gather(*(one.reports.sweep() for one in replicas))
        await asyncio.gather(*(one.reports.sweep() for one in replicas))
    events = [(line["event"], line["cause"]) for line in lines]
    assert events == [("credential_mark_set", "rejection"), ("credential_mark_cleared", "reset")]


@pytest.mark.spec("CRD-156", "CRD-158")
async def test_a_limit_holds_over_all_replicas_and_ends_free_slots_wherever_they_are_told(
    three: tuple[Service, ...], clock: FakeClock
) -> None:
    full = Reason.CREDENTIAL_CONCURRENCY

    async def take(one: Service) -> Grant | None:
        return await attempt(one, full, provider="openai")

    answers = await asyncio.gather(*(take(three[n % 3]) for n in range(60)))
    grants = [grant for grant in answers if grant is not None]
    assert len(grants) == 3
    limited = named(three[0], "limited").id
    for grant, one in zip(grants, reversed(three), strict=True):
        await one.reports.apply(
            ended(clock, limited, 200, grant_id=grant.id, model=grant.binding.model_id)
        )
    again = await asyncio.gather(*(take(three[n % 3]) for n in range(30)))
    # A replica that gave a grant still counts it until it lapses, where another took its end.
    assert 0 < sum(grant is not None for grant in again) <= 3


@pytest.mark.spec("CRD-157", "CRD-161")
async def test_a_slot_that_is_not_kept_lapses_and_its_late_end_frees_nothing(
    url: str, valkey_url: str
) -> None:
    clock = FakeClock()
    pool = [account("limited", max_in_flight=1)]
    options: dict[str, object] = {"lease_ttl_s": 0.2}
    async with running(*(replica(url, pool, clock, valkey_url, **options) for _ in range(2))) as (
        first,
        second,
    ):
        old = await picked(first)
        with pytest.raises(RouterError):
            await picked(second)
        await asyncio.sleep(0.25)
        await picked(second)
        await first.reports.apply(ended(clock, old.credential_id, 200, grant_id=old.id))
        clock.advance(1)
        with pytest.raises(RouterError):
            await picked(first)


@pytest.mark.spec("CRD-103", "CRD-104")
async def test_first_requests_of_a_session_meet_on_one_credential_whatever_the_replica(
    url: str, valkey_url: str, clock: FakeClock
) -> None:
    pool = [account(name) for name in "abcdef"]
    async with running(*(replica(url, pool, clock, valkey_url) for _ in range(3))) as replicas:
        for number in range(8):
            session = bytes([number]) * 16
            grants = await asyncio.gather(
                *(picked(one, session=session) for one in replicas for _ in range(2))
            )
            assert len({grant.credential_id for grant in grants}) == 1
            other = await picked(replicas[0], session=session, installation_id="another-tenant")
            assert other.credential_id in replicas[0].vault.pool.by_id


@pytest.mark.spec("CRD-102", "CRD-105")
async def test_a_session_that_moved_stays_where_it_went_on_every_replica(
    three: tuple[Service, ...], clock: FakeClock
) -> None:
    session = b"s" * 16
    first = await picked(three[0], session=session)
    await three[0].reports.apply(
        told(clock, first.credential_id, 200, (UNIFIED + "5h-status", "allowed_warning"))
    )
    moved = await picked(three[0], session=session)
    assert moved.credential_id != first.credential_id
    clock.advance(1)
    await three[0].reports.apply(
        told(clock, first.credential_id, 200, (UNIFIED + "5h-status", "allowed"))
    )
    await until(lambda: three[2].vault.pool == three[0].vault.pool)
    for one in (*three, *three):
        assert (await picked(one, session=session)).credential_id == moved.credential_id


@pytest.mark.spec("CRD-124", "CRD-125")
async def test_without_what_they_share_replicas_go_on_and_meet_again(
    url: str, clock: FakeClock
) -> None:
    pool = [account("a"), account("off", is_enabled=False)]
    with contextlib.ExitStack() as life:
        server = life.enter_context(running_valkey())
        replicas = [replica(url, pool, clock, server.url) for _ in range(2)]
        async with running(*replicas) as (first, second):
            await picked(first)
            life.close()
            grant = await picked(second, session=b"s" * 16)
            assert grant.credential_id == named(second, "a").id
            block = ("retry-after", "9")
            await first.reports.apply(told(clock, grant.credential_id, 429, block))
            await second.vault.poll()
            with pytest.raises(RouterError) as caught:
                await picked(second)
            assert caught.value.reason is Reason.ALL_CREDENTIALS_COOLING
            with running_valkey(int(server.url.rpartition(":")[2].partition("/")[0])):
                clock.advance(10)
                await first.reports.sweep()
                # Who listens connects anew within a second, and then looks what it has missed.
                await until(lambda: second.vault.pool == first.vault.pool)


@pytest.mark.spec("CRD-124", "CRD-156")
async def test_without_what_they_share_each_replica_keeps_to_its_share_of_a_limit(
    url: str, clock: FakeClock
) -> None:
    pool = [account("wide", max_in_flight=7), account("narrow", max_in_flight=2, provider="openai")]
    with contextlib.ExitStack() as life:
        server = life.enter_context(running_valkey())
        replicas = [replica(url, pool, clock, server.url) for _ in range(3)]
        async with running(*replicas) as three:
            clock.advance(5)
            shared = [one.selector._parts.shared for one in three]
            await until(lambda: [one.replica_count for one in shared] == [3, 3, 3])
            life.close()
            await asyncio.gather(*(one.meet() for one in shared))  # finds it gone
            assert all(one.is_alone for one in shared)
            full = Reason.CREDENTIAL_CONCURRENCY
            for provider, share in (("anthropic", 2), ("openai", 1)):
                for one in three:
                    asked_for = [attempt(one, full, provider=provider) for _ in range(5)]
                    found = await asyncio.gather(*asked_for)
                    assert sum(grant is not None for grant in found) == share


@pytest.mark.spec("CRD-123")
async def test_what_is_stored_is_everybodys_and_what_passes_is_each_replicas_own(
    three: tuple[Service, ...], clock: FakeClock
) -> None:
    first, second, _ = three
    a, b = named(first, "a").id, named(first, "b").id
    session = b"s" * 16
    bound = await picked(first, session=session)
    query = asked()
    await first.select(query)
    await first.reports.apply(told(clock, a, 429, ("retry-after", "600"), model="other"))
    await first.reports.apply(told(clock, a, 503))
    await first.reports.apply(ended(clock, b, 403, is_challenge_page=True))
    limited = named(first, "limited").id
    await first.reports.apply(told(clock, limited, 402))
    await first.vault.change(
        limited, lambda now: replace(now, spec=replace(now.spec, is_enabled=False))
    )
    await second.vault.poll()
    assert second.vault.pool.by_id == first.vault.pool.by_id  # marks, blocks, switch, versions
    assert (await picked(second, session=session)).credential_id == bound.credential_id
    parts = [one.selector._parts for one in (first, second)]
    assert [bool(one.setbacks.of("m")) for one in parts] == [True, False]
    assert [bool(one.paths.closed(one.vault.pool.by_id.values())) for one in parts] == [True, False]
    assert first.selector.explain_past(query.idempotency_key).decision is not None
    with pytest.raises(RouterError) as unknown:
        second.selector.explain_past(query.idempotency_key)
    assert unknown.value.reason is Reason.SELECTION_NOT_FOUND


@pytest.mark.spec("CRD-73")
async def test_one_replica_tries_a_blocked_account(
    three: tuple[Service, ...], clock: FakeClock
) -> None:
    for label in "ab":
        one = named(three[0], label)
        reset = str(int(clock.now_unix_s()) + 5 * 86_400)
        await three[0].reports.apply(
            told(
                clock,
                one.id,
                429,
                (UNIFIED + "7d-status", "rejected"),
                (UNIFIED + "7d-reset", reset),
            )
        )
    await until(lambda: three[2].vault.pool == three[0].vault.pool == three[1].vault.pool)

    async def tried(one: Service) -> str:
        grant = await attempt(one, Reason.ALL_CREDENTIALS_COOLING)
        return "" if grant is None else grant.why

    assert {await tried(one) for one in three} == {""}
    clock.advance(900)
    whys = await asyncio.gather(*(tried(three[n % 3]) for n in range(12)))
    assert Counter(whys) == {"last_resort;priority=0;trial": 2, "": 10}
    assert named(three[0], "a").trial_count + named(three[0], "b").trial_count >= 1


@pytest.mark.spec("CRD-118", "CRD-175")
async def test_replicas_that_hammer_one_credential_converge(
    three: tuple[Service, ...], clock: FakeClock, lines: list[dict[str, object]]
) -> None:
    chance = random.Random(7)
    a = named(three[0], "a").id
    expected: dict[str, str] = {}
    for _ in range(25):
        clock.advance(1)
        calls: list[tuple[str, Awaitable[object]]] = []
        for one in three:
            window = chance.choice(["5h", "7d", "7d_oi"])
            status = chance.choice(["allowed", "allowed_warning"])
            if window not in {name for name, _ in calls}:
                expected[window] = status
                report = told(clock, a, 200, (f"{UNIFIED}{window}-status", status))
                calls.append((window, one.reports.apply(report)))
        await asyncio.gather(*(call for _, call in calls))
    await asyncio.gather(*(one.vault.poll() for one in three))
    assert three[0].vault.pool == three[1].vault.pool == three[2].vault.pool
    warned = {
        mark.window
        for mark in three[1].vault.pool.by_id[a].active_marks(clock.now_unix_s())
        if mark.kind is MarkKind.WARNING
    }
    assert warned == {name for name, status in expected.items() if status == "allowed_warning"}
    # Set and cleared alternate, whoever wrote them: nothing was told twice.
    for window in expected:
        events = [line["event"] for line in lines if line["window"] == window]
        assert all(one != other for one, other in itertools.pairwise(events))


async def test_a_tenants_question_is_its_own(three: tuple[Service, ...]) -> None:
    grant = await picked(three[0])
    assert grant.installation_id == TENANT
    query = asked(action_id="same")
    one, _ = await three[0].select(query)
    again, _ = await three[0].select(query)
    assert one.grant == again.grant
