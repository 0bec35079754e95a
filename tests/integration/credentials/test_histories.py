"""Histories on which pools of accounts are known to go wrong, and what is right."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from services.credentials.codec.operator import Update
from services.credentials.model import Bucket, CredentialSpec, Grant, Secrets, Strategy, SystemState
from services.credentials.policy.declared import Declared
from services.credentials.policy.defaults import Defaults
from services.credentials.policy.selection import Terms
from services.credentials.server import Service
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialKind
from tests.fakes.clock import FakeClock
from tests.integration.credentials.cluster import (
    TENANT,
    account,
    attempt,
    ended,
    label_of,
    named,
    picked,
    replica,
    running,
    told,
)

UNIFIED = "anthropic-ratelimit-unified-"
HOUR, DAY = 3_600.0, 86_400.0
USED_UP = b'{"error":{"type":"usage_limit_reached","resets_at":%d}}'

Pool = Callable[..., Awaitable[Service]]


@pytest.fixture
async def pool(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Pool]:
    """Give what starts a service with some accounts; a later call is a restart."""
    opened: list[object] = []

    async def start(*accounts: Declared, **options: object) -> Service:
        while opened:
            await opened.pop().__aexit__(None, None, None)  # type: ignore[attr-defined]  # a context
        url = f"sqlite:///{tmp_path}/credentials.db"
        context = running(replica(url, accounts, clock, "", **options))
        (one,) = await context.__aenter__()
        opened.append(context)
        return one

    yield start
    while opened:
        await opened.pop().__aexit__(None, None, None)  # type: ignore[attr-defined]  # a context


class Life:
    """One service and its clock, by labels."""

    def __init__(self, one: Service, clock: FakeClock) -> None:
        self.one = one
        self.clock = clock

    async def pick(self, **more: object) -> str:
        """Return the label picked."""
        return label_of(self.one, (await picked(self.one, **more)).credential_id)

    async def say(
        self, label: str, status: int | None, *headers: tuple[str, str], **more: object
    ) -> None:
        """Report headers of an answer to a request that was sent now."""
        one = named(self.one, label)
        version = {"credential_version": one.credential_version}
        await self.one.reports.apply(
            told(self.clock, one.id, status, *headers, **{**version, **more})  # type: ignore[arg-type]  # any field
        )

    async def end(self, label: str, status: int | None, body: bytes = b"", **more: object) -> None:
        """Report how a request that was sent now ended."""
        await self.one.reports.apply(
            ended(self.clock, named(self.one, label).id, status, body, **more)
        )

    async def denied(self, **more: object) -> RouterError:
        """Return why nothing is picked."""
        with pytest.raises(RouterError) as caught:
            await picked(self.one, **more)
        return caught.value

    def reset(self, seconds: float) -> str:
        """Return an instant so many seconds from now."""
        return str(int(self.clock.now_unix_s() + seconds))


def codex(label: str, **spec: object) -> Declared:
    return account(label, kind=CredentialKind.CODEX_OAUTH, provider="openai", **spec)


def key(label: str, **spec: object) -> Declared:
    return account(label, kind=CredentialKind.API_KEY, provider="openai", **spec)


@pytest.mark.spec("CRD-52", "CRD-72", "CRD-73")
async def test_an_early_refill_is_found_by_a_trial(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(codex("c1")), clock)
    await life.end("c1", 429, USED_UP % (clock.now_unix_s() + 5 * DAY))
    denial = await life.denied(provider="openai")
    assert denial.reason is Reason.ALL_CREDENTIALS_COOLING
    assert denial.retry_after_s == 5 * DAY
    clock.advance(HOUR)
    grant = await picked(life.one, provider="openai")
    assert grant.bucket is Bucket.LAST_RESORT
    assert await attempt(life.one, Reason.ALL_CREDENTIALS_COOLING, provider="openai") is None
    await life.say("c1", 200, grant_id=grant.id)
    assert await life.pick(provider="openai") == "c1"


@pytest.mark.spec("CRD-73")
async def test_a_trial_that_fails_keeps_the_block(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(codex("c1")), clock)
    end = clock.now_unix_s() + 5 * DAY
    await life.end("c1", 429, USED_UP % end)
    tries = []
    for minute in range(300):
        if await attempt(life.one, Reason.ALL_CREDENTIALS_COOLING, provider="openai"):
            tries.append(minute)
            await life.end("c1", 429, USED_UP % end)
        clock.advance(60)
    assert tries == [15, 45, 105, 225]


@pytest.mark.spec("CRD-59")
async def test_a_used_up_plan_is_not_tried_for_its_other_models(
    pool: Pool, clock: FakeClock
) -> None:
    life = Life(await pool(codex("c1", priority=9), codex("c2")), clock)
    assert await life.pick(provider="openai", model="mA") == "c1"
    await life.end("c1", 429, USED_UP % (clock.now_unix_s() + 5 * DAY), model="mA")
    assert await life.pick(provider="openai", model="mB") == "c2"


@pytest.mark.spec("CRD-84", "CRD-100")
async def test_a_session_that_failed_over_does_not_go_back_each_turn(
    pool: Pool, clock: FakeClock
) -> None:
    life = Life(await pool(codex("c1", priority=1), codex("c2")), clock)
    turn = {"provider": "openai", "session": b"s" * 16}
    assert await life.pick(**turn) == "c1"
    await life.end("c1", 400, b'{"error":{"code":"model_not_supported"}}')
    c1 = named(life.one, "c1").id
    assert await life.pick(**turn, tried=frozenset({c1})) == "c2"
    for _ in range(6):
        clock.advance(60)
        assert await life.pick(**turn) == "c2"


@pytest.mark.spec("CRD-53", "CRD-64")
async def test_a_wait_of_days_is_believed_for_every_model(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(account("c1", priority=1), account("c2")), clock)
    statuses = ((UNIFIED + "7d-status", "rejected"), (UNIFIED + "5h-status", "allowed"))
    await life.say("c1", 429, *statuses, ("retry-after", "124633"))
    clock.advance(5)
    assert {await life.pick(model=model) for model in ("m", "m2", "m3")} == {"c2"}
    clock.advance(124_629)
    assert await life.pick() == "c1"


@pytest.mark.spec("CRD-13", "CRD-103")
async def test_variants_of_a_model_stay_on_one_account(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(account("c1"), account("c2")), clock)
    session = b"s" * 16
    turns = [await life.pick(model=name, session=session) for name in ("m", "m(high)", "m [1m]")]
    assert len(set(turns)) == 1


@pytest.mark.spec("CRD-8", "CRD-9", "CRD-10")
async def test_switched_off_and_on_again_is_as_before(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(account("c1", model_ids=("m",))), clock)

    async def switch(*, is_enabled: bool) -> None:
        spec = CredentialSpec("", CredentialKind.API_KEY, is_enabled=is_enabled)
        changed = frozenset({"is_enabled"})
        update = Update(named(life.one, "c1").id, 0, spec, changed, None, "ann")
        await life.one.operator.update(update)

    await switch(is_enabled=False)
    denial = await life.denied()
    assert denial.reason is Reason.CREDENTIALS_UNAVAILABLE
    await life.say("c1", 200)
    assert not named(life.one, "c1").spec.is_enabled
    await switch(is_enabled=True)
    assert await life.pick(model="m") == "c1"
    assert (await life.denied(model="m2")).reason is Reason.NO_ELIGIBLE_PROVIDER


@pytest.mark.spec("CRD-130")
async def test_blocks_are_the_same_after_a_restart(pool: Pool, clock: FakeClock) -> None:
    accounts = (account("c1", priority=1), account("c2"))
    life = Life(await pool(*accounts), clock)
    await life.say("c1", 429, ("retry-after", str(int(4 * HOUR))))
    clock.advance(60)
    life = Life(await pool(*accounts), clock)
    assert {await life.pick() for _ in range(3)} == {"c2"}
    clock.advance(4 * HOUR - 60)
    assert await life.pick() == "c1"


@pytest.mark.spec("CRD-64", "CRD-110")
async def test_a_dense_client_sends_nothing_while_all_windows_are_closed(
    pool: Pool, clock: FakeClock
) -> None:
    life = Life(await pool(account("c1"), account("c2")), clock)
    for label in ("c1", "c2"):
        await life.say(
            label,
            429,
            (UNIFIED + "5h-status", "rejected"),
            (UNIFIED + "5h-reset", life.reset(3 * HOUR)),
        )
    for turn in range(60):
        denial = await life.denied()
        assert denial.retry_after_s == 3 * HOUR - 10 * turn
        clock.advance(10)


@pytest.mark.spec("CRD-66")
async def test_short_trouble_empties_no_pool_for_long(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(key("c1"), key("c2")), clock)
    for label in ("c1", "c2"):
        await life.say(label, 429)
    assert (await life.denied(provider="openai")).retry_after_s == 1
    clock.advance(90)
    assert {await life.pick(provider="openai") for _ in range(2)} == {"c1", "c2"}


@pytest.mark.spec("CRD-67", "CRD-68")
async def test_a_longer_wait_during_a_wait_counts(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(key("c1")), clock)
    await life.say("c1", 429, ("retry-after", "1"))
    clock.advance(0.25)
    await life.say("c1", 429, ("retry-after", "60"))
    clock.advance(1.75)
    assert (await life.denied(provider="openai")).retry_after_s == 59
    assert [mark.level for mark in named(life.one, "c1").marks] == [0]


@pytest.mark.spec("CRD-78", "CRD-80")
async def test_an_empty_account_is_left_though_its_answer_is_400(
    pool: Pool, clock: FakeClock
) -> None:
    life = Life(await pool(key("c1", priority=1), key("c2")), clock)
    await life.end("c1", 400, b'{"error":{"message":"max_tokens is too large"}}')
    assert await life.pick(provider="openai") == "c1"
    await life.end("c1", 400, b'{"error":{"message":"Your credit balance is too low"}}')
    assert await life.pick(provider="openai", model="another") == "c2"


@pytest.mark.spec("CRD-100", "CRD-107")
async def test_a_session_leaves_an_account_that_is_blocked(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(account("c1"), account("c2")), clock)
    session = b"s" * 16
    first = await life.pick(session=session)
    await life.say(first, 429, ("retry-after", "60"))
    second = await life.pick(session=session)
    assert second != first
    clock.advance(61)
    assert await life.pick(session=session) == second


@pytest.mark.spec("CRD-64")
async def test_the_upstreams_reset_decides(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(account("c1")), clock)
    await life.say(
        "c1", 429, (UNIFIED + "5h-status", "rejected"), (UNIFIED + "5h-reset", life.reset(2_400))
    )
    clock.advance(2_460)
    assert await life.pick() == "c1"


@pytest.mark.spec("CRD-52")
async def test_an_operators_reset_lifts_all_that_blocks(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(codex("c1")), clock)
    await life.end("c1", 429, USED_UP % (clock.now_unix_s() + 4 * DAY))
    await life.say("c1", 401)
    await life.denied(provider="openai")
    await life.one.operator.reset(named(life.one, "c1").id, "", "ann")
    assert await life.pick(provider="openai") == "c1"


@pytest.mark.spec("CRD-157", "CRD-158")
async def test_clients_that_vanish_leave_no_slot_taken(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(key("c1", max_in_flight=10)), clock)
    for _ in range(10):
        await life.pick(provider="openai")
    assert (await life.denied(provider="openai")).reason is Reason.CREDENTIAL_CONCURRENCY
    clock.advance(61)
    assert await life.pick(provider="openai") == "c1"
    assert life.one.grants.count(named(life.one, "c1").id) == 1


@pytest.mark.spec("CRD-78", "CRD-117")
async def test_every_block_has_an_end_of_its_own(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(*(key(f"k{n}") for n in range(15))), clock)
    for number in range(5):
        await life.end(f"k{number}", 402)
        clock.advance(60)
    served = Counter([await life.pick(provider="openai") for _ in range(20)])
    assert len(served) == 10
    clock.advance(DAY)
    served = Counter([await life.pick(provider="openai") for _ in range(15)])
    assert len(served) == 15


@pytest.mark.spec("CRD-30", "CRD-54")
async def test_the_included_overage_is_watched_too(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(account("c1", priority=5), account("c2")), clock)
    assert await life.pick() == "c1"
    await life.say("c1", 200, (UNIFIED + "7d_oi-status", "allowed_warning"))
    assert await life.pick() == "c2"
    clock.advance(1)
    proof = ((UNIFIED + "5h-status", "allowed"), (UNIFIED + "7d-status", "allowed"))
    await life.say(
        "c1", 429, *proof, (UNIFIED + "7d_oi-status", "rejected"), ("retry-after", "900")
    )
    off = named(life.one, "c2").id
    assert (await life.denied(tried=frozenset({off}))).reason is Reason.ALL_CREDENTIALS_COOLING
    assert await life.pick(model="another", tried=frozenset({off})) == "c1"


@pytest.mark.spec("CRD-25", "CRD-62")
async def test_claims_that_nobody_knows_change_nothing(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(account("c1")), clock)
    for claim in ("seven_day_overage_included", "brand_new_value"):
        await life.say(
            "c1",
            200,
            (UNIFIED + "status", "allowed_warning"),
            (UNIFIED + "representative-claim", claim),
            (UNIFIED + "overage-utilization", "0"),
        )
        assert named(life.one, "c1").active_marks(clock.now_unix_s()) == ()


@pytest.mark.spec("CRD-40", "CRD-93", "CRD-90")
async def test_a_warning_without_a_reset_is_soft(pool: Pool, clock: FakeClock) -> None:
    warned = (UNIFIED + "5h-status", "allowed_warning")
    life = Life(await pool(account("c1", priority=10)), clock)
    await life.say("c1", 200, warned)
    assert await life.pick() == "c1"
    life = Life(await pool(account("c1", priority=10), account("c2", priority=1)), clock)
    assert await life.pick() == "c2"
    clock.advance(1_800)
    assert await life.pick() == "c1"


@pytest.mark.spec("CRD-85", "CRD-86")
async def test_a_key_that_is_always_refused_is_tried_once_per_block_and_given_up(
    pool: Pool, clock: FakeClock
) -> None:
    life = Life(await pool(*(key(f"c{n}", priority=10 - n) for n in range(1, 5))), clock)
    tried = 0
    for _ in range(200):
        if await life.pick(provider="openai") == "c1":
            tried += 1
            await life.say("c1", 401)
            assert await life.pick(provider="openai") != "c1"
        clock.advance(60)
    assert tried == 3
    assert named(life.one, "c1").system_state is SystemState.INVALID_KEY


@pytest.mark.spec("CRD-61", "CRD-72", "CRD-92")
async def test_permitted_overage_serves_last_and_a_fresh_week_is_clean(
    pool: Pool, clock: FakeClock
) -> None:
    life = Life(await pool(account("c1")), clock)
    spent = ((UNIFIED + "7d-status", "rejected"), (UNIFIED + "overage-status", "allowed"))
    await life.say("c1", 200, *spent, (UNIFIED + "7d-reset", life.reset(DAY)))
    assert (await picked(life.one)).bucket is Bucket.OVERAGE
    clock.advance(60)
    fresh = ((UNIFIED + "7d-status", "allowed"), (UNIFIED + "representative-claim", "seven_day"))
    await life.say("c1", 200, *fresh)
    assert (await picked(life.one)).bucket is Bucket.CLEAN


@pytest.mark.spec("CRD-66", "CRD-67", "CRD-109")
async def test_a_burst_costs_seconds(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(*(key(f"c{n}") for n in range(8))), clock)
    for label in [f"c{n % 8}" for n in range(30)]:
        await life.say(label, 429)
    assert (await life.denied(provider="openai")).retry_after_s == 1
    clock.advance(1)
    assert await life.pick(provider="openai")


@pytest.mark.spec("CRD-17", "CRD-16", "DSP-140", "DSP-141")
async def test_an_endpoint_that_lacks_a_model_is_left_for_another(
    pool: Pool, clock: FakeClock
) -> None:
    def gateway(label: str) -> Declared:
        return account(
            label,
            kind=CredentialKind.GATEWAY,
            installation_id=TENANT,
            base_url="https://gateway.example",
            upstream_id_by_model=(("mX", "their-x"),),
        )

    life = Life(await pool(gateway("g1"), gateway("g2")), clock)
    await life.end("g1", 404, is_model_not_found=True, model="mX")
    assert {await life.pick(model="mX") for _ in range(4)} == {"g2"}
    await life.end("g2", 404, is_model_not_found=True, model="mX")
    denial = await life.denied(model="mX")
    assert (denial.reason, "mX" in denial.message) == (Reason.NO_ELIGIBLE_PROVIDER, True)
    assert (await life.denied(model="mY")).reason is Reason.GATEWAY_SERVES_NO_SUCH_MODEL
    clock.advance(HOUR)
    assert await life.pick(model="mX")


@pytest.mark.spec("CRD-83", "CRD-82")
async def test_one_fault_of_the_provider_never_makes_an_account_unavailable(
    pool: Pool, clock: FakeClock
) -> None:
    life = Life(await pool(key("only")), clock)
    for status in (500, 503, 529, None):
        await life.end("only", status)
        assert await life.pick(provider="openai") == "only"
    assert named(life.one, "only").marks == ()


@pytest.mark.spec("CRD-106")
async def test_new_sessions_are_placed_by_the_strategy(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(*(account(f"c{n}") for n in range(4))), clock)
    placed = Counter([await life.pick(session=bytes([n]) * 16) for n in range(40)])
    assert set(placed.values()) == {10}


@pytest.mark.spec("CRD-7", "CRD-148")
async def test_a_new_secret_frees_a_key_that_was_given_up(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(key("c1")), clock)
    for _ in range(3):
        await life.say("c1", 401)
        clock.advance(301)
    assert (await life.denied(provider="openai")).reason is Reason.CREDENTIALS_UNAVAILABLE
    renewed = Declared(named(life.one, "c1").spec, Secrets(value="new"), key("c1").origin)
    life = Life(await pool(renewed), clock)
    assert await life.pick(provider="openai") == "c1"


@pytest.mark.spec("CRD-98")
async def test_fill_first_moves_on_only_when_it_must(pool: Pool, clock: FakeClock) -> None:
    options = {"terms": Terms(Strategy.FILL_FIRST)}
    life = Life(await pool(key("c1", order=1), key("c2", order=2), **options), clock)
    assert {await life.pick(provider="openai") for _ in range(3)} == {"c1"}
    await life.say("c1", 429, ("retry-after", "5"))
    assert await life.pick(provider="openai") == "c2"
    clock.advance(5)
    assert await life.pick(provider="openai") == "c1"


@pytest.mark.spec("CRD-126", "CRD-127")
async def test_readers_and_writers_meet_no_torn_state(pool: Pool, clock: FakeClock) -> None:
    life = Life(await pool(*(account(f"c{n}") for n in range(8))), clock)

    async def write(number: int) -> None:
        for turn in range(12):
            status = "allowed_warning" if turn % 2 else "allowed"
            await life.say(f"c{number}", 200, (UNIFIED + "5h-status", status))
            clock.advance(0.001)

    async def read() -> list[Grant]:
        grants = []
        for _ in range(12):
            grants.append(await picked(life.one))
            await asyncio.sleep(0)
        return grants

    done = await asyncio.gather(*(write(n) for n in range(8)), *(read() for _ in range(64)))
    grants = [grant for found in done if found for grant in found]
    assert len(grants) == 64 * 12
    assert {grant.bucket for grant in grants} <= {Bucket.CLEAN, Bucket.WARNED}


@pytest.mark.spec("CRD-11")
async def test_a_missing_priority_is_that_of_its_lane_and_an_explicit_0_stays_0(
    pool: Pool, clock: FakeClock
) -> None:
    defaults = Defaults(priorities={"anthropic/claude_oauth": 100, "anthropic": 1, "openai": 7})
    accounts = (account("c1"), account("c2", priority=-1), account("c3", priority=0))
    keys = (
        account("k1", kind=CredentialKind.API_KEY),
        key("o1"),
        key("o2", priority=8),
    )
    life = Life(await pool(*accounts, *keys, defaults=defaults), clock)
    found = {label: named(life.one, label).priority for label in ("c1", "c2", "c3", "k1", "o1")}
    assert found == {"c1": 100, "c2": -1, "c3": 0, "k1": 1, "o1": 7}
    assert [await life.pick() for _ in range(3)] == ["c1"] * 3
    assert await life.pick(provider="openai") == "o2"
    plain = Life(await pool(*accounts, *keys), clock)
    assert named(plain.one, "c1").priority == 0
    assert await plain.pick() in {"c1", "c3", "k1"}


@pytest.mark.spec("CRD-88", "CRD-164")
async def test_a_challenge_page_is_held_against_the_way_and_explained(
    pool: Pool, clock: FakeClock
) -> None:
    life = Life(await pool(key("c1"), key("c2")), clock)
    grant = await picked(life.one, provider="openai")
    page = ended(clock, grant.credential_id, 403, b"<html>", is_challenge_page=True)
    await life.one.reports.apply(page)
    denial = await life.denied(provider="openai")
    assert (denial.reason, denial.retry_after_s) == (Reason.ALL_CREDENTIALS_COOLING, 30)
    assert all(not one.marks for one in life.one.vault.pool.by_id.values())
    clock.advance(30)
    assert await life.pick(provider="openai") in {"c1", "c2"}
