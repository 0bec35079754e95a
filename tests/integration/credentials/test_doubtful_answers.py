"""No race, no shutdown and no restored backup makes a new token of an account be forgotten."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa

from services.credentials.adapters.cipher import AesGcmCipher
from services.credentials.adapters.store_sql import SCHEMA, SCRIPTS
from services.credentials.adapters.token_files import TokenFiles
from services.credentials.model import Kept, Sealed, Secrets
from services.credentials.server.vault import MAX_TRIES
from services.runtime import database
from tests.fakes.tokens import TokenIssuer
from tests.integration.credentials.cluster import KEY, named, running
from tests.integration.credentials.hosts import Host, lapse_leases

NEWEST = ("access-2", "R2")


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/credentials.db"


@pytest.mark.spec("CRD-118", "CRD-139", "CRD-140")
async def test_a_pair_whose_write_is_overtaken_again_and_again_is_stored_later(
    url: str, issuer: TokenIssuer, tmp_path: Path
) -> None:
    host = Host(url, issuer, tmp_path / "tokens", 0.0)
    async with running(host.service):
        host.store.overtaken = MAX_TRIES
        await host.look()
        assert host.tokens() == NEWEST
        assert len(await host.files.kept()) == 1
        host.store.overtaken = MAX_TRIES
        await host.look()
        assert host.tokens() == NEWEST
        assert len(await host.files.kept()) == 1
        await host.look()
        assert named(host.service, "a").credential_version == 2
        assert await host.files.kept() == ()
    assert [one.refresh_token for one in issuer.asked] == ["R1"]


@pytest.mark.spec("CRD-139", "CRD-140")
async def test_a_kept_pair_whose_write_is_overtaken_stays_kept(
    url: str, issuer: TokenIssuer, tmp_path: Path
) -> None:
    host = Host(url, issuer, tmp_path / "tokens", 0.0)
    async with running(host.service):
        await keep(host, 1)
        host.store.overtaken = MAX_TRIES
        await host.service.refresher.start()
        assert len(await host.files.kept()) == 1
        await host.service.refresher.start()
        assert host.tokens() == NEWEST
        assert await host.files.kept() == ()


@pytest.mark.spec("CRD-139", "CRD-140")
@pytest.mark.parametrize(
    ("replaced", "age_s", "is_newer"),
    [(0, 0, False), (1, 9, True), (2, 0, True), (7, 0, True), (7, 9, False)],
)
async def test_after_a_backup_was_restored_a_kept_pair_is_newer_than_the_store(
    url: str, issuer: TokenIssuer, tmp_path: Path, replaced: int, age_s: int, *, is_newer: bool
) -> None:
    host = Host(url, issuer, tmp_path / "tokens", 0.0)
    async with running(host.service):
        await keep(host, replaced, age_s)  # older: a person has changed the account since
        await host.service.refresher.start()
        assert host.tokens() == (NEWEST if is_newer else ("access-1", "R1"))
        version = named(host.service, "a").credential_version
        assert version == (replaced + 1 if is_newer else 1)
        assert await host.files.kept() == ()


@pytest.mark.spec("CRD-137", "CRD-142")
async def test_who_closes_while_it_waits_for_a_lost_answer_leaves_the_doubt_to_the_next(
    url: str, issuer: TokenIssuer, tmp_path: Path
) -> None:
    host = Host(url, issuer, tmp_path / "tokens", 60.0)
    async with running(host.service):
        credential_id = named(host.service, "a").id
        assert await host.store.take_lease(credential_id, 60) is not None
        await lapse_leases(url)
        await host.service.refresher.look()
        await asyncio.sleep(0.3)  # it waits now
    after = Host(url, issuer, tmp_path / "tokens", 60.0)
    async with running(after.service):
        lease = await after.store.take_lease(credential_id, 60)
        assert lease is not None
        assert lease.is_doubtful
    assert issuer.asked == []


@pytest.mark.spec("CRD-137")
async def test_a_lease_that_is_given_back_in_the_same_moment_leaves_no_doubt(
    postgres_url: str, issuer: TokenIssuer
) -> None:
    await database.migrate(postgres_url, SCRIPTS, SCHEMA)
    host = Host(postgres_url, issuer, Path("unused"), 9.0)
    other = database.open_engine(postgres_url, schema=SCHEMA)
    async with running(host.service):
        credential_id = named(host.service, "a").id
        assert await host.store.take_lease(credential_id, 60) is not None
        async with other.begin() as connection:
            await connection.execute(sa.text("UPDATE refreshes SET expire_unix_s = 0"))
            work = asyncio.create_task(host.store.take_lease(credential_id, 60))
            await asyncio.sleep(0.3)  # it has come to the row and waits
        lease = await work
        assert lease is not None
        assert not lease.is_orphaned
    await other.dispose()


async def test_a_file_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    files = TokenFiles(tmp_path)
    await files.keep(Kept("somebody", 1, Sealed("key", b"sealed")))
    (tmp_path / "0.pair").mkdir()
    assert [one.credential_id for one in await files.kept()] == ["somebody"]


async def test_two_processes_of_one_number_write_into_one_folder(tmp_path: Path) -> None:
    """In containers each is number 1."""
    kept = [Kept("somebody", number, Sealed("key", b"x" * 4_000)) for number in range(64)]
    await asyncio.gather(*(TokenFiles(tmp_path).keep(one) for one in kept))
    assert len(list(tmp_path.iterdir())) == 1  # noqa: ASYNC240 - a test has nothing else to do
    (found,) = await TokenFiles(tmp_path).kept()
    assert found in kept


async def keep(host: Host, version: int, age_s: int = 0) -> None:
    """Keep a pair that replaced a version, some time before the account was last changed."""
    cipher = AesGcmCipher((KEY,))
    await cipher.start()
    credential_id = named(host.service, "a").id
    issued = named(host.service, "a").update_unix_s - age_s
    after = Secrets(*NEWEST, expire_unix_s=issued + 3_600, issue_unix_s=issued)
    sealed = cipher.seal_secrets(after, credential_id, "anthropic")
    await host.files.keep(Kept(credential_id, version, sealed))
