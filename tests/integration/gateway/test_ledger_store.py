"""One suite for every store of the ledger: in memory, SQLite, PostgreSQL."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
import sqlalchemy as sa

from gateway.adapters.ledger import ADDING_JSON, LEDGER, SPEND, SqlLedgerStore
from gateway.adapters.store import SCHEMA, SCRIPTS
from gateway.ledger.ports import LedgerStore, RowsRefusedError
from gateway.ledger.verify import Drift, verify
from gateway.model.record import AttemptOutcome, LedgerRow
from services.runtime.database import migrate
from services.runtime.postgres_pool import PostgresPool
from tests.fakes.ledger import MemoryLedgerStore
from tests.unit.gateway.ledger.cases import COST_MICROS, USAGE, record, rows

(ROW,) = rows(record(AttemptOutcome.SERVED, usage=USAGE))


def row(number: int, **changes: object) -> LedgerRow:
    return replace(ROW, action_id=f"act_{number}", **changes)  # type: ignore[arg-type]  # facts by name


@contextlib.asynccontextmanager
async def sql_store(request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[SqlLedgerStore]:
    if request.param == "sqlite":
        opened = SqlLedgerStore(f"sqlite:///{folder}/ledger.db")
    else:
        url = request.getfixturevalue("postgres_url")
        await migrate(url, SCRIPTS, SCHEMA)
        opened = SqlLedgerStore(url)
    await opened.start()
    yield opened
    await opened.aclose()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[LedgerStore]:
    if request.param == "memory":
        yield MemoryLedgerStore()
        return
    async with sql_store(request, tmp_path) as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SqlLedgerStore]:
    async with sql_store(request, tmp_path) as opened:
        yield opened


async def test_a_row_comes_back_as_it_was(store: LedgerStore) -> None:
    unknown = row(2, cost_micros=None, input_rate=None, cache_read_tokens=None, http_status=529)
    assert await store.add([ROW, unknown]) == 2
    assert [found for _, found in await store.page(0, 10)] == [ROW, unknown]


@pytest.mark.spec("OPS-56", "OPS-57", "OPS-74", "DSP-233")
async def test_a_row_that_is_there_changes_nothing_and_its_siblings_count(
    store: LedgerStore,
) -> None:
    second, summary = replace(ROW, attempt=2), replace(ROW, kind="switch_summary")
    assert await store.add([ROW]) == 1
    assert await store.add([ROW, second]) == 1
    assert await store.add([summary, replace(ROW, charged_micros=9), second]) == 1
    assert await store.spent(ROW.key_id) == 3 * COST_MICROS
    found = [found for _, found in await store.page(0, 10)]
    assert found == [ROW, second, summary]
    assert found[2].request_id == "act_1_summary"


@pytest.mark.spec("OPS-56")
async def test_of_a_row_that_comes_twice_in_one_batch_the_first_counts(store: LedgerStore) -> None:
    again = replace(ROW, charged_micros=9 * COST_MICROS)
    assert await store.add([ROW, again, row(2)]) == 2
    assert await store.spent(ROW.key_id) == 2 * COST_MICROS
    assert [found for _, found in await store.page(0, 10)] == [ROW, row(2)]


async def test_pages_are_in_order_and_whole(store: LedgerStore) -> None:
    await store.add([row(number) for number in range(25)])
    found: list[LedgerRow] = []
    after = 0
    while page := await store.page(after, 10):
        found += [each for _, each in page]
        after = page[-1][0]
    assert [each.action_id for each in found] == [f"act_{number}" for number in range(25)]


@pytest.mark.spec("OPS-66")
async def test_what_a_key_spent_is_a_counter_of_its_own(store: LedgerStore) -> None:
    assert await store.spent("key-1") == 0
    await store.add([row(1), row(2, key_id="key-2"), row(3, is_charged=False, charged_micros=0)])
    assert (await store.spent("key-1"), await store.spent("key-2")) == (COST_MICROS, COST_MICROS)


@pytest.mark.spec("OPS-56")
async def test_writers_at_once_lose_nothing_and_count_nothing_twice(store: LedgerStore) -> None:
    async def write(writer: int) -> int:
        added = 0
        for batch in range(5):
            own = [
                row(1000 * writer + 10 * batch + place, key_id=f"key-{place % 3}")
                for place in range(10)
            ]
            shared = [row(place, key_id=f"key-{place % 3}") for place in range(10)]
            added += await store.add([*own, *reversed(shared)])
        return added

    assert sum(await asyncio.gather(*(write(writer) for writer in range(1, 5)))) == 210
    audit = await verify(store)
    assert (audit.row_count, audit.charged_micros, audit.drifts) == (210, 210 * COST_MICROS, ())


async def test_places_are_given_in_the_order_of_commits(postgres_url: str) -> None:
    await migrate(postgres_url, SCRIPTS, SCHEMA)
    store, slow = SqlLedgerStore(postgres_url), PostgresPool(postgres_url, SCHEMA)
    connection = await slow._taken()
    async with connection.transaction():
        await connection.execute(ADDING_JSON, orjson.dumps([row(1)]).decode())
        quick = asyncio.create_task(store.add([row(2, key_id="key-2")]))
        await asyncio.sleep(0.2)
        assert await store.page(0, 10) == []
    assert await quick == 1
    assert [found for _, found in await store.page(0, 10)] == [row(1), row(2, key_id="key-2")]
    await connection.close()
    await store.aclose()


@pytest.mark.spec("OPS-68")
async def test_drift_is_found_and_named(database: SqlLedgerStore) -> None:
    await database.add([row(1), row(2, key_id="key-2"), row(3)])
    engine = database._engine
    async with engine.begin() as connection:
        await connection.execute(
            LEDGER.update().where(LEDGER.c.action_id == "act_1").values(cost_micros=1)
        )
        await connection.execute(
            SPEND.update().where(SPEND.c.key_id == "key-2").values(spent_micros=5)
        )
    audit = await verify(database)
    assert audit.drifts == (
        Drift("row", "act_1/1", "cost_micros", 1, COST_MICROS),
        Drift("key", "key-2", "spent_micros", 5, COST_MICROS),
    )


@pytest.mark.spec("OPS-68")
async def test_an_audit_sees_one_instant(database: SqlLedgerStore) -> None:
    await database.add([row(1)])
    async with database.snapshot() as snapshot:
        seen = [each async for each in snapshot.rows()]
        await database.add([row(2)])
        assert await snapshot.spent() == {"key-1": COST_MICROS}
    assert len(seen) == 1
    assert (await verify(database)).drifts == ()


async def test_a_batch_that_fails_stores_nothing(database: SqlLedgerStore) -> None:
    bad = row(2, model=None)
    with pytest.raises(RowsRefusedError):
        await database.add([row(1), bad])
    assert await database.page(0, 10) == []
    assert await database.spent("key-1") == 0


@pytest.mark.spec("OPS-66")
async def test_the_counter_is_read_by_its_primary_key(postgres_url: str) -> None:
    await migrate(postgres_url, SCRIPTS, SCHEMA)
    store = SqlLedgerStore(postgres_url)
    async with store._engine.connect() as connection:
        await connection.execute(sa.text("SET enable_seqscan = off"))
        plan = await connection.execute(
            sa.text("EXPLAIN SELECT spent_micros FROM key_spend WHERE key_id = 'x'")
        )
        assert "key_spend_pkey" in "\n".join(line for (line,) in plan)
    await store.aclose()


@pytest.mark.spec("OPS-73")
@pytest.mark.parametrize("odd", [{"requested_model": "\ud800"}, {"output_tokens": 2**63}])
async def test_rows_that_no_table_can_hold_are_refused_whole(
    database: SqlLedgerStore, odd: dict[str, object]
) -> None:
    with pytest.raises(RowsRefusedError):
        await database.add([row(1), row(2, **odd)])
    assert await database.page(0, 10) == []
    assert await database.add([row(1)]) == 1
