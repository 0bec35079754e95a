"""The store keeps credentials on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from services.credentials.adapters import tables
from services.credentials.adapters.cipher import AesGcmCipher
from services.credentials.adapters.store_sql import SqlStore
from services.credentials.model import (
    AuditEntry,
    Credential,
    CredentialSpec,
    IdentityFormat,
    Mark,
    MarkKind,
    Origin,
    OveragePolicy,
    Record,
    Sealed,
    SystemState,
)
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialKind
from services.runtime import database

NOW = 1_750_000_000.0
AUDIT = AuditEntry("ann", "create", NOW)


def record(name: str = "c1", **changes: object) -> Record:
    credential = Credential(
        id=name,
        spec=CredentialSpec(
            provider="anthropic",
            kind=CredentialKind.API_KEY,
            label="ünï",
            priority=-3,
            model_ids=("m1", "m2"),
            upstream_id_by_model=(("m1", "x"),),
            overage=OveragePolicy.DENY,
            identity_format=IdentityFormat.JSON,
        ),
        origin=Origin.STORED,
        create_unix_s=NOW,
        update_unix_s=NOW,
    )
    made = Record(credential, Sealed("k1", b"\0\xff\x01"), "s", "d", idempotency_key=f"i-{name}")
    return replace(made, **changes)  # type: ignore[arg-type]  # tests name any field


def marked(old: Record, *marks: Mark) -> Record:
    version = old.credential.state_version + 1
    return replace(old, credential=replace(old.credential, marks=marks, state_version=version))


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    opened = SqlStore(url)
    await opened.start()
    yield opened
    await opened.aclose()


async def test_what_was_stored_is_there_after_a_restart(url: str, store: SqlStore) -> None:
    first = record()
    warned = Mark(MarkKind.WARNING, NOW, NOW + 9, window="5h", level=2, utilization_ratio=0.5)
    lasting = Mark(MarkKind.QUOTA, NOW, None, model_id="m1")
    assert await store.insert([first], AUDIT) == 1
    assert await store.replace(marked(first, warned, lasting), 1, None) == 2
    await store.aclose()
    again = SqlStore(url)
    await again.start()
    loaded = await again.load()
    await again.aclose()
    assert loaded.revision == 2
    assert set(loaded.records[0].credential.marks) == {warned, lasting}
    assert replace(loaded.records[0].credential, marks=()) == replace(
        first.credential, state_version=2
    )
    assert loaded.records[0].sealed == first.sealed


async def test_a_taken_id_or_idempotency_key_writes_nothing(store: SqlStore) -> None:
    assert await store.insert([record("a")], AUDIT) == 1
    assert await store.insert([record("a", idempotency_key="other")], AUDIT) is None
    assert await store.insert([record("b", idempotency_key="i-a")], AUDIT) is None
    assert [r.credential.id for r in (await store.load()).records] == ["a"]
    assert await store.revision() == 1


async def test_no_idempotency_key_is_no_conflict(store: SqlStore) -> None:
    assert await store.insert([record("a", idempotency_key="")], None) == 1
    assert await store.insert([record("b", idempotency_key="")], None) == 2


async def test_of_many_writers_of_one_version_one_wins(store: SqlStore) -> None:
    first = record()
    await store.insert([first], None)

    async def write(number: int) -> bool:
        mark = Mark(MarkKind.QUOTA, NOW, NOW + number, model_id=f"m{number}")
        try:
            await store.replace(marked(first, mark), 1, None)
        except RouterError as error:
            return error.reason is not Reason.VERSION_CONFLICT
        return True

    won = await asyncio.gather(*(write(number) for number in range(8)))
    assert sum(won) == 1
    loaded = (await store.load()).records[0].credential
    assert loaded.state_version == 2
    assert [mark.model_id for mark in loaded.marks] == [f"m{won.index(True)}"]


@pytest.mark.spec("CRD-6")
async def test_removal_takes_the_marks_along_in_one_step(store: SqlStore) -> None:
    first = record()
    await store.insert([first], None)
    await store.replace(marked(first, Mark(MarkKind.AUTH, NOW, NOW + 9)), 1, None)
    with pytest.raises(RouterError) as caught:
        await store.delete("c1", 1, None)
    assert caught.value.reason is Reason.VERSION_CONFLICT
    assert await store.delete("c1", 2, AUDIT) == 3
    assert await store.delete("c1", 0, AUDIT) is None
    async with store._reader.connect() as connection:
        assert (await connection.execute(sa.select(tables.marks))).all() == []
        entries = (await connection.execute(sa.select(tables.audit))).mappings().all()
    assert [(entry["actor"], entry["action"]) for entry in entries] == [("ann", "create")]


async def test_a_missing_row_cannot_be_replaced(store: SqlStore) -> None:
    with pytest.raises(RouterError) as caught:
        await store.replace(marked(record()), 1, None)
    assert caught.value.reason is Reason.VERSION_CONFLICT


async def test_the_first_deployment_key_is_everybodys(store: SqlStore) -> None:
    offered = [Sealed("k", bytes([number])) for number in range(6)]
    got = await asyncio.gather(*(store.deployment_key("hash", one) for one in offered))
    assert len({one.ciphertext for one in got}) == 1


@pytest.mark.spec("CRD-132")
@pytest.mark.parametrize(
    "damage",
    [
        {"settings": "{"},
        {"settings": "[]"},
        {"settings": '{"overage": "never"}'},
        {"kind": "carrier_pigeon"},
        {"system_state": "brand_new"},
    ],
    ids=str,
)
async def test_an_unreadable_row_is_quarantined_and_the_others_load(
    store: SqlStore, damage: dict[str, str]
) -> None:
    await store.insert([record("a")], None)
    await store.insert([record("b")], None)
    async with store._engine.begin() as connection:
        table = tables.credentials
        await connection.execute(sa.update(table).where(table.c.id == "a").values(**damage))
    loaded = {r.credential.id: r.credential for r in (await store.load()).records}
    assert loaded["a"].system_state is SystemState.QUARANTINED
    assert loaded["a"].spec.provider == "anthropic"
    assert loaded["b"].system_state is SystemState.OK


async def test_the_migrated_tables_are_those_that_the_code_speaks_of(store: SqlStore) -> None:
    def columns(connection: sa.Connection) -> dict[str, set[str]]:
        inspector = sa.inspect(connection)
        return {
            name: {str(column["name"]) for column in inspector.get_columns(name)}
            for name in inspector.get_table_names()
            if name != database.VERSION_TABLE
        }

    async with store._reader.connect() as connection:
        found = await connection.run_sync(columns)
    expected = {t.name: set(t.columns.keys()) for t in tables.metadata.tables.values()}
    assert found == expected


async def test_a_store_that_is_down_says_so(tmp_path: Path) -> None:
    store = SqlStore("postgresql://nobody@127.0.0.1:1/x")
    with pytest.raises(RouterError) as caught:
        await store.revision()
    await store.aclose()
    assert caught.value.reason is Reason.STORE_UNAVAILABLE
    assert caught.value.retry_after_s == 1.0


KILLED = """
import asyncio, os, sys
from tests.integration.credentials.test_store import NOW, marked, record
from services.credentials.adapters.store_sql import SqlStore
from services.credentials.model import Mark, MarkKind

async def main():
    store = SqlStore(sys.argv[1])
    await store.start()
    now = record()
    await store.insert([now], None)
    for number in range(1, 1000):
        after = marked(now, Mark(MarkKind.QUOTA, NOW, NOW + number, level=number))
        await store.replace(after, now.credential.state_version, None)
        now = after
        print(number, flush=True)

asyncio.run(main())
"""


@pytest.mark.spec("CRD-131")
async def test_a_killed_writer_leaves_the_old_record_or_the_new_one(url: str) -> None:
    acknowledged = await asyncio.to_thread(kill_a_writer, url)
    store = SqlStore(url)
    await store.start()
    loaded = (await store.load()).records[0].credential
    await store.aclose()
    assert loaded.state_version - 1 in (acknowledged, acknowledged + 1)
    assert [mark.level for mark in loaded.marks] == [loaded.state_version - 1]


def kill_a_writer(url: str) -> int:
    """Return the last version that a killed writer said it had stored."""
    acknowledged = 0
    command = [sys.executable, "-c", textwrap.dedent(KILLED), url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for line in child.stdout:
            acknowledged = int(line)
            if acknowledged == 12:
                child.kill()
    return acknowledged


def test_the_cipher_shows_no_key() -> None:
    cipher = AesGcmCipher([b"k" * 32])
    assert "kkk" not in repr(cipher)
