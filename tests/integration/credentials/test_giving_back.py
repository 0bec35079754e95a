"""A slot that nobody is told of is free at once, whatever went wrong; what was written is told."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
import structlog

from services.credentials.adapters.alone import Alone
from services.credentials.adapters.cipher import AesGcmCipher
from services.credentials.adapters.store_sql import SqlStore
from services.credentials.adapters.token_files import NoTokenFiles
from services.credentials.adapters.token_http import HttpTokenEndpoint
from services.credentials.model import Secrets, Slot, Stored, TokenClient
from services.credentials.ports import Shared
from services.credentials.server import Options, Service
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialKind
from tests.fakes.clock import FakeClock
from tests.fakes.tokens import TokenIssuer
from tests.integration.credentials.cluster import (
    KEY,
    OPTIONS,
    account,
    asked,
    attempt,
    named,
    picked,
    running,
    told,
    until,
)

CLAUDE = CredentialKind.CLAUDE_OAUTH
WARNED = ("anthropic-ratelimit-unified-5h-status", "allowed_warning")


class Kept(Alone):
    """What replicas would share, kept here: slots that are taken."""

    is_alone = False

    def __init__(self) -> None:
        self.slots: set[str] = set()
        self.binding: asyncio.Event | None = None
        """Bindings wait for it."""
        self.answering: asyncio.Event | None = None
        """Answers about slots that were taken wait for it."""

    async def take(self, slot: Slot, ttl_s: float) -> bool:
        """Take a slot."""
        self.slots.add(slot.grant_id)
        if self.answering is not None:
            await self.answering.wait()
        return True

    async def free(self, slot: Slot) -> None:
        """Free a slot."""
        self.slots.discard(slot.grant_id)

    async def rebind(self, key: str, credential_id: str, ttl_s: float) -> None:
        """Wait as long as the test wants."""
        if self.binding is not None:
            await self.binding.wait()


class Vanishing(Alone):
    """What replicas share, which is found down by the first question."""

    is_alone = False
    replica_count = 3

    async def take(self, slot: Slot, ttl_s: float) -> bool:
        """Find that nobody answers: as far as anybody knows it is free."""
        self.is_alone = True
        return True


class Blind(SqlStore):
    """A store that takes writes and cannot be read while it is told so."""

    is_blind = False

    async def changes(self, since: int) -> Stored | None:
        """Return changes, or say that the store is down."""
        if self.is_blind:
            raise RouterError(Reason.STORE_UNAVAILABLE, "the store is away")
        return await super().changes(since)


def service(store: SqlStore, options: Options, shared: Shared, clock: FakeClock) -> Service:
    cipher = AesGcmCipher((KEY,))
    return Service(store, cipher, options, clock, shared, HttpTokenEndpoint(), NoTokenFiles())


def expired(issuer: TokenIssuer, clock: FakeClock, label: str = "a") -> Options:
    """Return a pool of one account with one slot, whose token has ended."""
    secrets = Secrets("access-1", "R1", expire_unix_s=clock.now_unix_s() - 60)
    return replace(
        OPTIONS,
        declared=(replace(account(label, max_in_flight=1), secrets=secrets),),
        token_urls={CLAUDE: issuer.url},
        token_clients={CLAUDE: TokenClient("client")},
    )


@pytest.mark.spec("CRD-158")
async def test_a_caller_who_leaves_while_a_token_is_fetched_leaves_no_slot_taken(
    tmp_path: Path, issuer: TokenIssuer, clock: FakeClock
) -> None:
    shared, issuer.hold = Kept(), asyncio.Event()
    store = SqlStore(f"sqlite:///{tmp_path}/credentials.db")
    async with running(service(store, expired(issuer, clock), shared, clock)) as (one,):
        work = asyncio.create_task(one.acquirer.select(asked()))
        await until(lambda: bool(issuer.asked))
        assert shared.slots
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        assert (shared.slots, one.grants.count(named(one, "a").id)) == (set(), 0)


@pytest.mark.spec("CRD-158")
async def test_an_account_that_is_removed_or_switched_off_meanwhile_keeps_no_slot(
    tmp_path: Path, issuer: TokenIssuer, clock: FakeClock
) -> None:
    shared, issuer.hold = Kept(), asyncio.Event()
    store = SqlStore(f"sqlite:///{tmp_path}/credentials.db")
    async with running(service(store, expired(issuer, clock), shared, clock)) as (one,):
        identity = named(one, "a").id
        work = asyncio.create_task(one.acquirer.select(asked()))
        await until(lambda: bool(issuer.asked))
        await one.vault.change(
            identity, lambda now: replace(now, spec=replace(now.spec, is_enabled=False))
        )
        issuer.hold.set()
        with pytest.raises(RouterError) as refused:
            await work
        assert refused.value.reason is Reason.CREDENTIALS_UNAVAILABLE
        assert (shared.slots, one.grants.count(identity)) == (set(), 0)


@pytest.mark.spec("CRD-158")
async def test_a_caller_who_leaves_while_its_session_is_bound_leaves_no_slot_taken(
    tmp_path: Path, clock: FakeClock
) -> None:
    shared = Kept()
    shared.binding = asyncio.Event()
    options = replace(OPTIONS, declared=(account("a", max_in_flight=1),))
    store = SqlStore(f"sqlite:///{tmp_path}/credentials.db")
    async with running(service(store, options, shared, clock)) as (one,):
        work = asyncio.create_task(picked(one, session=b"s" * 16))
        await until(lambda: bool(shared.slots))
        await asyncio.sleep(0.01)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        assert (shared.slots, one.grants.count(named(one, "a").id)) == (set(), 0)


@pytest.mark.spec("CRD-158")
async def test_a_caller_who_leaves_before_it_hears_of_its_slot_leaves_none_taken(
    tmp_path: Path, clock: FakeClock
) -> None:
    shared = Kept()
    shared.answering = asyncio.Event()
    options = replace(OPTIONS, declared=(account("a", max_in_flight=1),))
    store = SqlStore(f"sqlite:///{tmp_path}/credentials.db")
    async with running(service(store, options, shared, clock)) as (one,):
        work = asyncio.create_task(picked(one))
        await until(lambda: bool(shared.slots))
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        assert shared.slots == set()


@pytest.mark.spec("CRD-124", "CRD-156")
async def test_who_finds_that_nobody_answers_keeps_to_its_share_at_once(
    tmp_path: Path, clock: FakeClock
) -> None:
    shared = Vanishing()
    options = replace(OPTIONS, declared=(account("a", max_in_flight=6),))
    store = SqlStore(f"sqlite:///{tmp_path}/credentials.db")
    async with running(service(store, options, shared, clock)) as (one,):
        found = []
        for _ in range(6):
            shared.is_alone = False  # it is asked again, in vain
            found.append(await attempt(one, Reason.CREDENTIAL_CONCURRENCY))
        assert sum(grant is not None for grant in found) == 2


@pytest.mark.spec("CRD-46", "CRD-134")
async def test_a_transition_that_was_stored_is_told_though_the_store_cannot_be_read_any_more(
    tmp_path: Path, clock: FakeClock
) -> None:
    url = f"sqlite:///{tmp_path}/credentials.db"
    options = replace(OPTIONS, declared=(account("a"), account("b")))
    blind = Blind(url)
    one = service(blind, options, Alone(), clock)
    two = service(SqlStore(url), options, Alone(), clock)
    async with running(one, two):
        await two.reports.apply(told(clock, named(two, "b").id, 200, WARNED))
        blind.is_blind = True
        with structlog.testing.capture_logs() as lines:
            _, changes = await one.reports.apply(told(clock, named(one, "a").id, 200, WARNED))
        assert len(changes) == 1
        assert [x["event"] for x in lines if x["event"].startswith("credential_mark")] == [
            "credential_mark_set"
        ]
        assert named(one, "a").marks
        assert not one.readiness()["store"]
        blind.is_blind = False
        await one.vault.poll()
        assert named(one, "b").marks
        assert one.readiness()["store"]
