"""Keys change without a pause: everything is sealed anew beside servers that run."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from services.credentials.adapters import tables
from services.credentials.adapters.alone import Alone
from services.credentials.adapters.cipher import AesGcmCipher, key_id_of
from services.credentials.adapters.store_sql import SCHEMA, SqlStore
from services.credentials.adapters.token_files import NoTokenFiles
from services.credentials.adapters.token_http import HttpTokenEndpoint
from services.credentials.model import Mark, MarkKind, Secrets, SystemState
from services.credentials.server import Service
from services.credentials.server.resealing import Resealed
from services.runtime import database
from tests.fakes.clock import FakeClock
from tests.integration.credentials.cluster import OPTIONS, account, running
from tests.unit.credentials.cases import report

OLD, NEW = b"o" * 32, b"n" * 32
POOL = tuple(account(label) for label in "abc")


def under(url: str, clock: FakeClock, *keys: bytes) -> Service:
    options = type(OPTIONS)(families=OPTIONS.families, declared=POOL, poll_s=0)
    return Service(
        SqlStore(url),
        AesGcmCipher(keys),
        options,
        clock,
        Alone(),
        HttpTokenEndpoint(),
        NoTokenFiles(),
    )


def secrets_in(one: Service) -> set[Secrets]:
    return {one.vault.secrets_of(credential_id) for credential_id in one.vault.pool.by_id}


@pytest.mark.spec("CRD-150")
async def test_after_it_the_old_key_can_go(url: str, clock: FakeClock) -> None:
    async with running(under(url, clock, OLD)) as (first,):
        named = {c.id: c.fingerprint for c in first.vault.pool.by_id.values()}
    async with running(under(url, clock, NEW, OLD), under(url, clock, OLD, NEW)) as (one, other):
        assert await one.reseal("ann") == Resealed(3, 0, 0)
        assert await one.reseal("ann") == Resealed(0, 3, 0)
        await other.vault.poll()
        assert secrets_in(other) == secrets_in(one) == {each.secrets for each in POOL}
    async with running(under(url, clock, NEW)) as (last,):
        pool = last.vault.pool.by_id.values()
        assert {c.id: c.fingerprint for c in pool} == named
        assert {c.system_state for c in pool} == {SystemState.OK}
        assert {c.credential_version for c in pool} == {1}
        assert secrets_in(last) == {each.secrets for each in POOL}
    store = SqlStore(url)
    assert {record.sealed.key_id for record in (await store.load()).records if record.sealed} == {
        key_id_of(NEW)
    }
    await store.aclose()


@pytest.mark.spec("CRD-150", "CRD-132")
async def test_what_no_key_opens_is_left_and_counted(url: str, clock: FakeClock) -> None:
    async with running(under(url, clock, OLD)) as (one,):
        broken = next(iter(one.vault.pool.by_id))
        assert await one.reseal("ann") == Resealed(0, 3, 0)
    await _break(url, broken)
    async with running(under(url, clock, NEW, OLD)) as (two,):
        # The start gave the broken one its secret again, from the configuration, under the new key.
        assert await two.reseal("ann") == Resealed(2, 1, 0)
    await _break(url, broken)
    bare = under(url, clock, OLD, NEW)
    await bare.vault.start(None)
    assert await bare.reseal("ann") == Resealed(2, 0, 1)
    await bare.vault.aclose()


async def _break(url: str, credential_id: str) -> None:

    engine = database.open_engine(url, schema=SCHEMA)
    table = tables.credentials
    async with engine.begin() as connection:
        await connection.execute(
            sa.update(table)
            .where(table.c.id == credential_id)
            .values(ciphertext=b"x" * 64, key_id="none")
        )
    await engine.dispose()


@pytest.mark.spec("CRD-132")
async def test_a_replica_without_the_new_key_spoils_nothing_for_the_others(
    url: str, clock: FakeClock
) -> None:
    async with running(under(url, clock, OLD), under(url, clock, NEW, OLD)) as (behind, one):
        (credential_id, *_) = one.vault.pool.by_id
        mark = Mark(MarkKind.QUOTA, clock.now_unix_s(), clock.now_unix_s() + 5, model_id="m")
        await one.vault.change(credential_id, lambda current: replace(current, marks=(mark,)))
        await one.reseal("ann")
        await behind.vault.poll()
        unread = behind.vault.pool.by_id[credential_id]
        assert (unread.system_state, unread.marks) == (SystemState.QUARANTINED, (mark,))
        limited = report(
            429, credential_id=credential_id, model_id="n", observe_unix_s=clock.now_unix_s()
        )
        await behind.reports.apply(limited)
        clock.advance(10)
        await behind.reports.sweep()
        await one.vault.poll()
        assert one.vault.pool.by_id[credential_id].system_state is SystemState.OK
        assert secrets_in(one) == {each.secrets for each in POOL}
