"""One suite for every key store: in memory, SQLite, PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.adapters.store import SCHEMA, SCRIPTS, SqlKeyStore
from gateway.keys import digest_of, key_of, new_token
from gateway.model import Denial, InstallationId, Scope
from gateway.ports import KeyStore
from services.domain.errors import Reason, RouterError
from services.runtime.database import NotMigratedError, migrate
from tests.fakes.clock import FakeClock
from tests.fakes.ports import MemoryKeyStore

NOW = 1_750_000_000.0


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock
) -> AsyncIterator[KeyStore]:
    opened: KeyStore
    if request.param == "memory":
        opened = MemoryKeyStore()
    elif request.param == "sqlite":
        opened = SqlKeyStore(f"sqlite:///{tmp_path}/keys.db", clock)
    else:
        url = request.getfixturevalue("postgres_url")
        await migrate(url, SCRIPTS, SCHEMA)
        opened = SqlKeyStore(url, clock)
    await opened.start()
    yield opened
    await opened.aclose()


@pytest.mark.spec("OPS-15")
async def test_a_key_is_found_by_its_digest_and_the_token_is_nowhere(store: KeyStore) -> None:
    installation = await store.default_installation()
    token = new_token()
    key = key_of(token, installation, name="ci", now_unix_s=NOW, expires_unix_s=NOW + 60)
    assert not await store.has_keys()
    assert await store.add(key)
    assert await store.has_keys()
    assert await store.find(digest_of(token)) == key
    assert await store.find(digest_of("rk_other")) is None
    assert token not in repr(await store.list_keys(installation))


async def test_a_token_is_stored_once(store: KeyStore) -> None:
    installation = await store.default_installation()
    token = new_token()
    assert await store.add(key_of(token, installation, name="a", now_unix_s=NOW))
    assert not await store.add(key_of(token, installation, name="b", now_unix_s=NOW))
    assert [key.name for key in await store.list_keys(installation)] == ["a"]


async def test_the_default_installation_is_made_once(store: KeyStore) -> None:
    made = await asyncio.gather(*(store.default_installation() for _ in range(4)))
    assert len(set(made)) == 1


@pytest.mark.spec("OPS-19")
async def test_only_a_live_key_of_the_installation_can_be_revoked(store: KeyStore) -> None:
    installation = await store.default_installation()
    key = key_of(new_token(), installation, name="a", now_unix_s=NOW)
    await store.add(key)
    assert not await store.revoke(InstallationId("other"), key.id, NOW)
    assert not await store.revoke(installation, "unknown", NOW)
    assert await store.revoke(installation, key.id, NOW)
    assert not await store.revoke(installation, key.id, NOW + 1)
    found = await store.find(key.digest)
    assert found is not None
    assert found.denial_at(NOW) is Denial.INVALID


@pytest.mark.spec("OPS-19", "OPS-20")
async def test_a_rotation_keeps_name_and_scope_and_both_tokens_for_the_grace(
    store: KeyStore,
) -> None:
    installation = await store.default_installation()
    old = key_of(new_token(), installation, name="ci", now_unix_s=NOW, scope=Scope.ANALYTICS_READ)
    await store.add(old)
    new = key_of(new_token(), installation, name="", now_unix_s=NOW + 1)
    rotated = await store.rotate(
        installation, old.id, new, retire_unix_s=NOW + 61, now_unix_s=NOW + 1
    )
    assert rotated is not None
    assert (rotated.name, rotated.scope, rotated.digest) == ("ci", Scope.ANALYTICS_READ, new.digest)
    kept = await store.find(old.digest)
    assert kept is not None
    assert kept.denial_at(NOW + 60) is None
    assert kept.denial_at(NOW + 61) is Denial.INVALID
    assert kept.successor_id == new.id


@pytest.mark.spec("OPS-19")
async def test_of_two_rotations_at_once_one_wins(store: KeyStore) -> None:
    installation = await store.default_installation()
    old = key_of(new_token(), installation, name="ci", now_unix_s=NOW)
    await store.add(old)
    successors = [key_of(new_token(), installation, name="", now_unix_s=NOW + 1) for _ in range(5)]
    rotated = await asyncio.gather(
        *(
            store.rotate(installation, old.id, each, retire_unix_s=NOW + 90, now_unix_s=NOW + 1)
            for each in successors
        )
    )
    assert len([each for each in rotated if each is not None]) == 1
    assert len(await store.list_keys(installation)) == 2


async def test_a_restart_loses_nothing(tmp_path: Path, clock: FakeClock) -> None:
    url = f"sqlite:///{tmp_path}/keys.db"
    token = new_token()
    first = SqlKeyStore(url, clock)
    await first.start()
    installation = await first.default_installation()
    await first.add(key_of(token, installation, name="a", now_unix_s=NOW))
    await first.aclose()
    second = SqlKeyStore(url, clock)
    await second.start()
    assert await second.default_installation() == installation
    assert await second.find(digest_of(token)) is not None
    await second.aclose()
    assert (tmp_path / "keys.db").stat().st_mode & 0o077 == 0


@pytest.mark.spec("OPS-113")
async def test_postgresql_is_never_migrated_by_the_gateway(
    postgres_url: str, clock: FakeClock
) -> None:
    store = SqlKeyStore(postgres_url, clock)
    with pytest.raises(NotMigratedError, match="migrate up"):
        await store.start()
    await store.aclose()


async def test_a_store_that_is_gone_says_so(tmp_path: Path, clock: FakeClock) -> None:
    store = SqlKeyStore("postgresql://nobody@127.0.0.1:1/none", clock)
    with pytest.raises(RouterError) as caught:
        await store.find("x")
    assert caught.value.reason is Reason.STORE_UNAVAILABLE
    await store.aclose()


@pytest.mark.parametrize("store", ["sqlite", "postgres"], indirect=True)
async def test_a_list_of_excluded_models_is_replaced_as_a_whole(store: KeyStore) -> None:
    assert isinstance(store, SqlKeyStore)
    assert await store.automatic_exclusions() == []
    wanted = [("m2", "slow"), ("m1", "")]
    await store.put_automatic_exclusions(wanted)
    assert await store.automatic_exclusions() == wanted
    await store.put_automatic_exclusions(wanted[1:])
    assert await store.automatic_exclusions() == wanted[1:]
    await store.put_automatic_exclusions([])
    assert await store.automatic_exclusions() == []


async def test_an_installation_is_known_by_its_id(store: KeyStore) -> None:
    assert await store.has_installation(await store.default_installation())
    assert not await store.has_installation(InstallationId("elsewhere"))
    assert not await store.has_installation(InstallationId("a\0b"))
