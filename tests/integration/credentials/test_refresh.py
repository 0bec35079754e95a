"""Tokens of accounts are renewed once in the cluster, stored before use, and never sent twice."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import structlog

from services.credentials.adapters.alone import Alone
from services.credentials.adapters.cipher import AesGcmCipher
from services.credentials.adapters.store_sql import SqlStore
from services.credentials.adapters.token_files import NoTokenFiles
from services.credentials.adapters.token_http import HttpTokenEndpoint
from services.credentials.codec.operator import Creation
from services.credentials.model import (
    AuditEntry,
    CredentialSpec,
    MarkKind,
    Record,
    Redemption,
    Secrets,
    SystemState,
    TokenClient,
)
from services.credentials.policy.declared import Declared
from services.credentials.server import Service
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialKind
from tests.fakes.clock import FakeClock
from tests.fakes.tokens import TokenIssuer
from tests.integration.credentials.cluster import (
    KEY,
    OPTIONS,
    account,
    asked,
    ended,
    named,
    picked,
    replica,
    running,
    told,
    until,
)

KINDS = (CredentialKind.CLAUDE_OAUTH, CredentialKind.CODEX_OAUTH, CredentialKind.GEMINI_OAUTH)
HOUR_S = 3_600.0


@pytest.fixture
def lines() -> Iterator[list[dict[str, object]]]:
    """Give every log line."""
    kept: list[dict[str, object]] = []

    def keep(_: object, __: str, event: structlog.typing.EventDict) -> str:
        kept.append(dict(event))
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[keep], cache_logger_on_first_use=False)
    yield kept
    structlog.configure(**before)


def plan(
    label: str = "a",
    *,
    left_s: float = HOUR_S,
    token: str = "R1",
    value: str = "access-1",
    kind: CredentialKind = CredentialKind.CLAUDE_OAUTH,
    **spec: object,
) -> Declared:
    now = FakeClock().now_unix_s()
    secrets = Secrets(value=value, refresh_token=token, expire_unix_s=now + left_s)
    return replace(account(label, kind=kind, **spec), secrets=secrets)  # type: ignore[arg-type]  # any setting


def at(url: str, issuer: TokenIssuer, clock: FakeClock, *pool: Declared) -> Service:
    return replica(url, pool, clock, **told_of(issuer))  # type: ignore[arg-type]  # any option


def told_of(issuer: TokenIssuer) -> dict[str, object]:
    return {
        "token_urls": dict.fromkeys(KINDS, issuer.url),
        "token_clients": {kind: TokenClient("client", "own") for kind in KINDS},
    }


async def looked(*replicas: Service) -> None:
    """Return when every replica has looked for what is due and has done it."""
    await asyncio.gather(*(one.refresher.look() for one in replicas))
    await asyncio.gather(*(one.refresher.settled() for one in replicas))


async def secret_of(one: Service, **more: object) -> str:
    """Return the token that dispatch would send."""
    _, _, material = await one.acquirer.select(asked(**more))  # type: ignore[arg-type]  # any
    return material.secrets.value


def pair_of(one: Service, label: str = "a") -> tuple[str, str]:
    secrets = one.vault.secrets_of(named(one, label).id)
    return secrets.value, secrets.refresh_token


@pytest.mark.spec("CRD-136", "CRD-139")
async def test_a_token_is_renewed_when_five_minutes_are_left(
    url: str, issuer: TokenIssuer, clock: FakeClock
) -> None:
    async with running(at(url, issuer, clock, plan())) as (one,):
        clock.advance(HOUR_S - 301)
        await looked(one)
        assert issuer.asked == []
        clock.advance(31)  # the refreshes of several accounts are spread over 30 s
        await looked(one)
        assert [each.refresh_token for each in issuer.asked] == ["R1"]
        assert pair_of(one) == ("access-2", "R2")
        assert named(one, "a").credential_version == 2
        await looked(one)
        assert len(issuer.asked) == 1
    async with running(at(url, issuer, clock, plan())) as (again,):
        assert pair_of(again) == ("access-2", "R2")


@pytest.mark.spec("CRD-136", "CRD-147")
@pytest.mark.parametrize(("life_s", "pauses"), [(60, {30, 31, 32, 33}), (1, {30, 60, 120, 300})])
async def test_tokens_of_a_short_life_are_not_asked_for_all_the_time(
    tmp_path: Path, issuer: TokenIssuer, clock: FakeClock, life_s: int, pauses: set[int]
) -> None:
    """The second one has ended when it comes."""
    url, issuer.life_s, asked_at = f"sqlite:///{tmp_path}/credentials.db", life_s, list[int]()
    async with running(at(url, issuer, clock, plan(left_s=-1))) as (one,):
        for second in range(700):
            before = len(issuer.asked)
            await looked(one)
            if len(issuer.asked) > before:
                asked_at.append(second)
            clock.advance(1)
    found = [later - sooner for sooner, later in itertools.pairwise(asked_at)]
    assert set(found) <= pauses
    assert len(found) >= 4


@pytest.mark.parametrize("kind", KINDS)
async def test_each_vendor_is_asked_in_its_own_form(
    kind: CredentialKind, tmp_path: Path, issuer: TokenIssuer, clock: FakeClock
) -> None:
    url = f"sqlite:///{tmp_path}/credentials.db"
    async with running(at(url, issuer, clock, plan(kind=kind, left_s=60))) as (one,):
        await looked(one)
        (question,) = issuer.asked
        assert question.is_form == (kind is CredentialKind.GEMINI_OAUTH)
        assert question.fields["grant_type"] == "refresh_token"
        assert question.fields["client_id"] == "client"
        assert pair_of(one)[0] == "access-2"


@pytest.mark.spec("CRD-137", "CRD-138")
async def test_replicas_that_see_it_at_once_ask_once(
    url: str, issuer: TokenIssuer, clock: FakeClock
) -> None:
    async with running(*(at(url, issuer, clock, plan(left_s=60)) for _ in range(3))) as three:
        for _ in range(3):
            await looked(*three)
        await asyncio.gather(*(one.vault.poll() for one in three))
        assert [each.refresh_token for each in issuer.asked] == ["R1"]
        assert {pair_of(one) for one in three} == {("access-2", "R2")}


@pytest.mark.spec("CRD-137", "CRD-143")
@pytest.mark.parametrize("failure", [(503, {}), (200, {})])
async def test_replicas_share_a_failure_as_well(
    url: str, issuer: TokenIssuer, clock: FakeClock, failure: tuple[int, dict[str, object]]
) -> None:
    issuer.failure = failure
    async with running(*(at(url, issuer, clock, plan(left_s=200)) for _ in range(3))) as three:
        for asked_so_far, pause_s in ((1, 59), (1, 1), (2, 119), (2, 1), (3, 0)):
            await looked(*three)
            await asyncio.gather(*(one.vault.poll() for one in three))
            assert len(issuer.asked) == asked_so_far
            clock.advance(pause_s)


@pytest.mark.spec("CRD-137", "CRD-145")
async def test_a_crowd_of_requests_shares_one_refresh(
    url: str, issuer: TokenIssuer, clock: FakeClock
) -> None:
    pool = plan(left_s=-86_400)
    async with running(*(at(url, issuer, clock, pool) for _ in range(2))) as (one, two):
        found = await asyncio.gather(*(secret_of((one, two)[n % 2]) for n in range(20)))
        assert set(found) == {"access-2"}
        assert len(issuer.asked) == 1


@pytest.mark.spec("CRD-141")
async def test_an_answer_without_a_refresh_token_keeps_the_old_one(
    url: str, issuer: TokenIssuer, clock: FakeClock
) -> None:
    issuer.is_rotating = False
    async with running(at(url, issuer, clock, plan(left_s=60))) as (one,):
        await looked(one)
        assert pair_of(one) == ("access-2", "R1")
        assert named(one, "a").spent_digests == ()


@pytest.mark.spec("CRD-142", "CRD-152")
@pytest.mark.parametrize(
    "body",
    [
        {"error": "invalid_grant"},
        {"error": {"code": "refresh_token_reused", "message": "used"}},
        {"error": "invalid_request", "error_description": "Refresh token has been revoked"},
    ],
)
async def test_a_final_refusal_is_stored_and_never_asked_again(
    body: dict[str, object],
    tmp_path: Path,
    issuer: TokenIssuer,
    clock: FakeClock,
    lines: list[dict[str, object]],
) -> None:
    url = f"sqlite:///{tmp_path}/credentials.db"
    issuer.failure = (400, body)
    async with running(at(url, issuer, clock, plan(left_s=60))) as (one,):
        await looked(one)
        assert named(one, "a").system_state is SystemState.NEEDS_LOGIN
        with pytest.raises(RouterError) as refused:
            await picked(one)
        assert refused.value.reason is Reason.CREDENTIALS_UNAVAILABLE
    async with running(at(url, issuer, clock, plan(left_s=60))) as (again,):
        clock.advance(HOUR_S)
        await looked(again)
        assert named(again, "a").system_state is SystemState.NEEDS_LOGIN
    assert len(issuer.asked) == 1
    assert [one["event"] for one in lines].count("credential_needs_login") == 1
    assert not any(word in str(lines) for word in ("R1", "access-", issuer.url))


@pytest.mark.spec("CRD-142", "CRD-138")
async def test_a_refusal_of_a_pair_that_was_replaced_meanwhile_ends_nothing(
    url: str, issuer: TokenIssuer, clock: FakeClock
) -> None:
    issuer.hold = asyncio.Event()
    issuer.live = set()
    async with running(*(at(url, issuer, clock, plan(left_s=60)) for _ in range(2))) as (one, two):
        work = asyncio.create_task(looked(one))
        await until(lambda: len(issuer.asked) == 1)
        newer = Secrets("access-new", "R-new", expire_unix_s=clock.now_unix_s() + HOUR_S)
        await two.vault.change(
            named(two, "a").id,
            lambda current: replace(current, credential_version=current.credential_version + 1),
            secrets=lambda _: newer,
        )
        issuer.hold.set()
        await work
        assert named(one, "a").system_state is SystemState.OK
        assert pair_of(one) == ("access-new", "R-new")


@pytest.mark.spec("CRD-143")
@pytest.mark.parametrize("status", [500, 503, 429])
async def test_an_endpoint_that_fails_is_asked_after_1_2_and_5_minutes(
    status: int, tmp_path: Path, issuer: TokenIssuer, clock: FakeClock
) -> None:
    url = f"sqlite:///{tmp_path}/credentials.db"
    issuer.failure = (status, {"error": "server_error"})
    pool = plan(left_s=280)
    async with running(at(url, issuer, clock, pool)) as (one,):
        asked_at = []
        begin = clock.now_unix_s()
        for _ in range(96):
            before = len(issuer.asked)
            await looked(one)
            if len(issuer.asked) > before:
                asked_at.append(clock.now_unix_s() - begin)
                assert named(one, "a").system_state is SystemState.OK
            if clock.now_unix_s() - begin < 270:
                assert await secret_of(one) == "access-1"
            clock.advance(10)
        pauses = [later - sooner for sooner, later in itertools.pairwise(asked_at)]
        assert pauses == [60, 120, 300, 300]
        issuer.failure = None
        clock.advance(300)
        await looked(one)
        assert await secret_of(one) == "access-2"


@pytest.mark.spec("CRD-136", "CRD-143", "CRD-145")
async def test_another_account_serves_while_a_token_cannot_be_had(
    url: str, issuer: TokenIssuer, clock: FakeClock
) -> None:
    issuer.failure = (503, {})
    pool = (plan("a", left_s=-10), plan("b", token="R9", value="access-b"))
    async with running(at(url, issuer, clock, *pool)) as (one,):
        assert [await secret_of(one) for _ in range(4)] == ["access-b"] * 4
        assert len(issuer.asked) == 1
        (block,) = named(one, "a").active_marks(clock.now_unix_s())
        assert block.kind is MarkKind.AUTH
        issuer.failure = None
        clock.advance(61)
        assert {await secret_of(one) for _ in range(4)} == {"access-2", "access-b"}
        assert named(one, "a").active_marks(clock.now_unix_s()) == ()


@pytest.mark.spec("CRD-144")
async def test_blocked_and_disabled_accounts_are_kept_fresh(
    url: str, issuer: TokenIssuer, clock: FakeClock
) -> None:
    issuer.live = {"R1", "R9"}
    pool = (plan("a"), plan("b", token="R9", is_enabled=False))
    async with running(at(url, issuer, clock, *pool)) as (one,):
        wait = (("retry-after", "18000"),)
        await one.reports.apply(told(clock, named(one, "a").id, 429, *wait))
        clock.advance(HOUR_S - 60)
        await looked(one)
        assert {each.refresh_token for each in issuer.asked} == {"R1", "R9"}
        assert named(one, "a").active_marks(clock.now_unix_s())
        assert not named(one, "b").spec.is_enabled
        clock.advance(5 * HOUR_S)
        await looked(one)
        assert await secret_of(one) == pair_of(one, "a")[0]


@pytest.mark.spec("CRD-144", "CRD-6")
async def test_a_deleted_account_is_not_refreshed(
    url: str, issuer: TokenIssuer, clock: FakeClock
) -> None:
    issuer.hold = asyncio.Event()
    async with running(*(at(url, issuer, clock, plan(left_s=60)) for _ in range(2))) as (one, two):
        work = asyncio.create_task(looked(one))
        await until(lambda: len(issuer.asked) == 1)
        gone = named(two, "a")
        await two.operator.delete(gone.id, 0, "ann")
        issuer.hold.set()
        await work
        await one.vault.poll()
        await looked(one, two)
        assert not one.vault.pool.by_id
        assert len(issuer.asked) == 1


@pytest.mark.spec("CRD-146")
async def test_a_refused_token_is_renewed_once_and_then_left(
    url: str, issuer: TokenIssuer, clock: FakeClock
) -> None:
    async with running(at(url, issuer, clock, plan())) as (one,):
        grant = await picked(one)
        again = Redemption(grant.id, grant.action_id, grant.installation_id, rejected_version=1)
        selected, material = await one.acquirer.redeem(again)
        assert (selected.grant.credential_version, material.secrets.value) == (2, "access-2")
        late = replace(ended(clock, grant.credential_id, 401), credential_version=1)
        await one.reports.apply(late)
        assert named(one, "a").active_marks(clock.now_unix_s()) == ()
        await one.reports.apply(
            replace(ended(clock, grant.credential_id, 401), credential_version=2)
        )
        (block,) = named(one, "a").active_marks(clock.now_unix_s())
        assert (block.kind, block.expire_unix_s) == (MarkKind.AUTH, clock.now_unix_s() + 300)
        assert len(issuer.asked) == 1


@pytest.mark.spec("CRD-147")
async def test_a_refresh_that_moves_nothing_is_not_repeated_at_once(
    url: str, issuer: TokenIssuer, clock: FakeClock
) -> None:
    async with running(at(url, issuer, clock, plan(left_s=40))) as (one,):
        begin = clock.now_unix_s()
        asked_at = []
        for _ in range(40):
            issuer.life_s = round(begin + 40 - clock.now_unix_s())
            before = len(issuer.asked)
            await looked(one)
            if len(issuer.asked) > before:
                asked_at.append(clock.now_unix_s() - begin)
            clock.advance(1)
        assert asked_at == [0, 30]


@pytest.mark.spec("CRD-148")
async def test_a_new_login_brings_an_account_back_in_place(
    url: str, issuer: TokenIssuer, clock: FakeClock
) -> None:
    issuer.live = set()
    async with running(at(url, issuer, clock, plan(left_s=60))) as (one,):
        await looked(one)
        before = named(one, "a")
        assert before.system_state is SystemState.NEEDS_LOGIN
    fresh = plan(token="R7", value="access-7", left_s=HOUR_S)
    async with running(at(url, issuer, clock, fresh)) as (again,):
        after = named(again, "a")
        assert (after.id, after.system_state) == (before.id, SystemState.OK)
        assert await secret_of(again) == "access-7"


@pytest.mark.spec("CRD-148")
async def test_a_new_login_does_not_wait_for_what_the_old_one_was_told(
    url: str, issuer: TokenIssuer, clock: FakeClock
) -> None:
    issuer.failure = (400, {"error": "invalid_request"})
    async with running(at(url, issuer, clock, plan(left_s=-1))) as (one,):
        await looked(one)
    issuer.failure, issuer.live = None, {"R7"}
    async with running(at(url, issuer, clock, plan(token="R7", value=""))) as (again,):
        assert await secret_of(again) == "access-2"


@pytest.mark.spec("CRD-149")
async def test_of_two_holders_of_a_token_one_is_set_aside(
    url: str, issuer: TokenIssuer, clock: FakeClock, lines: list[dict[str, object]]
) -> None:
    async with running(at(url, issuer, clock, plan("a", left_s=60), plan("b", left_s=60))) as (
        one,
    ):
        states = {named(one, label).system_state for label in "ab"}
        assert states == {SystemState.OK, SystemState.QUARANTINED}
        await looked(one)
        await looked(one)
        assert [each.refresh_token for each in issuer.asked] == ["R1"]
    assert "credential_has_a_twin" in {each["event"] for each in lines}


@pytest.mark.spec("CRD-135", "CRD-139", "CRD-149")
async def test_an_old_copy_of_a_token_is_never_sent_again(
    url: str, issuer: TokenIssuer, clock: FakeClock
) -> None:
    async with running(at(url, issuer, clock, plan(left_s=60))) as (one,):
        await looked(one)
    elsewhere = plan(left_s=60, value="access-of-an-old-file")
    async with running(at(url, issuer, clock, elsewhere)) as (again,):
        assert pair_of(again) == ("access-2", "R2")
        creation = Creation(
            "k",
            CredentialSpec("anthropic", CredentialKind.CLAUDE_OAUTH, label="imported"),
            Secrets("access-x", "R1", expire_unix_s=clock.now_unix_s() + 60),
            "ann",
        )
        with pytest.raises(RouterError) as refused:
            await again.operator.create(creation)
        assert refused.value.reason is Reason.CREDENTIAL_DUPLICATE
        clock.advance(HOUR_S)
        await looked(again)
    assert [each.refresh_token for each in issuer.asked] == ["R1", "R2"]


async def test_an_account_without_a_refresh_token_needs_a_login_at_its_end(
    url: str, issuer: TokenIssuer, clock: FakeClock
) -> None:
    async with running(at(url, issuer, clock, plan(token="", left_s=60))) as (one,):
        await looked(one)
        assert await secret_of(one) == "access-1"
        clock.advance(61)
        await looked(one)
        assert named(one, "a").system_state is SystemState.NEEDS_LOGIN


class BrokenStore(SqlStore):
    """A store that takes no records while it is told so."""

    is_broken = False

    async def replace(
        self, record: Record, expected_state_version: int, audit: AuditEntry | None
    ) -> int:
        """Store a record, or say that the store is down."""
        if self.is_broken:
            raise RouterError(Reason.STORE_UNAVAILABLE, "the disk is full")
        return await super().replace(record, expected_state_version, audit)


@pytest.mark.spec("CRD-140")
async def test_a_pair_that_cannot_be_stored_is_used_and_stored_later(
    url: str, issuer: TokenIssuer, clock: FakeClock, lines: list[dict[str, object]]
) -> None:
    store = BrokenStore(url)
    options = replace(OPTIONS, declared=(plan(left_s=60),), **told_of(issuer))  # type: ignore[arg-type]  # any option
    one = Service(
        store, AesGcmCipher((KEY,)), options, clock, Alone(), HttpTokenEndpoint(), NoTokenFiles()
    )
    async with running(one):
        store.is_broken = True
        await looked(one)
        assert "new_token_not_stored" in {each["event"] for each in lines}
        assert await secret_of(one) == "access-2"
        await one.vault.reload()
        assert await secret_of(one) == "access-2"
        await looked(one)
        store.is_broken = False
        await looked(one)
        assert len(issuer.asked) == 1
    async with running(at(url, issuer, clock, plan(left_s=60))) as (again,):
        assert pair_of(again) == ("access-2", "R2")


@pytest.mark.spec("CRD-137")
async def test_one_holds_the_lease_until_it_is_freed_or_lapses(
    url: str, issuer: TokenIssuer, clock: FakeClock
) -> None:
    store = SqlStore(url)
    async with running(at(url, issuer, clock, plan())) as (one,):
        credential_id = named(one, "a").id
        first = await store.take_lease(credential_id, 60)
        assert first is not None
        assert await store.take_lease(credential_id, 60) is None
        await store.free_lease(first)
        second = await store.take_lease(credential_id, 0.05)
        assert second is not None
        assert second.fence == first.fence + 1
        await store.free_lease(first)  # late: frees nothing
        assert await store.take_lease(credential_id, 60) is None
        await asyncio.sleep(0.1)
        third = await store.take_lease(credential_id, 60)
        assert third is not None
        assert third.fence == second.fence + 1
        assert await store.take_lease("nobody", 60) is None
    await store.aclose()
