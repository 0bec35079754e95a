"""Databases are private, migrated once, and name what is wrong with them."""

from __future__ import annotations

import asyncio
import importlib
import sqlite3
import stat
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import exc, text

from services.domain.errors import Reason, RouterError
from services.runtime import database
from services.runtime.postgres_pool import PostgresPool
from services.runtime.sqlite import BUSY_TIMEOUT_MS

FIRST = """
from alembic import op
import sqlalchemy as sa
revision = "0001"
down_revision = None
def upgrade():
    op.create_table("things", sa.Column("id", sa.Integer, primary_key=True))
"""

SECOND = """
from alembic import op
import sqlalchemy as sa
revision = "0002"
down_revision = "0001"
def upgrade():
    op.add_column("things", sa.Column("name", sa.Text))
"""


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    folder = tmp_path / "migrations"
    (folder / "versions").mkdir(parents=True)
    (folder / "versions" / "0001_first.py").write_text(FIRST)
    return folder


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/new/folder/test.db"
    found: str = request.getfixturevalue("postgres_url")
    return found.replace("+asyncpg", "")


async def test_migrating_goes_step_by_step_and_is_idempotent(url: str, scripts: Path) -> None:
    before = await database.migration_status(url, scripts, "owner")
    assert (before.current, before.head) == ("", "0001")
    assert (await database.migrate(url, scripts, "owner")).is_current
    assert (await database.migrate(url, scripts, "owner")).is_current
    (scripts / "versions" / "0002_second.py").write_text(SECOND)
    assert (await database.migration_status(url, scripts, "owner")).current == "0001"
    assert (await database.migrate(url, scripts, "owner")).current == "0002"
    engine = database.open_engine(url, schema="owner")
    async with engine.begin() as connection:
        await connection.execute(text("INSERT INTO things (id, name) VALUES (1, 'x')"))
    async with database.read_only(engine).connect() as connection:
        assert (await connection.execute(text("SELECT name FROM things"))).scalar() == "x"
    await engine.dispose()


async def test_many_migrators_at_once_do_it_once(url: str, scripts: Path) -> None:
    done = await asyncio.gather(*(database.migrate(url, scripts, "owner") for _ in range(4)))
    assert {status.current for status in done} == {"0001"}


async def test_a_file_that_another_program_just_makes_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    engine = database.open_engine(f"sqlite:///{path}")
    opening = asyncio.ensure_future(engine.connect().__aenter__())
    for _ in range(20):
        await asyncio.sleep(0.01)
    assert not opening.done()
    other.execute("ROLLBACK")
    other.close()
    connection = await opening
    assert (await connection.execute(text("PRAGMA journal_mode"))).scalar() == "wal"
    await connection.close()
    await engine.dispose()


async def test_a_newer_database_is_refused(url: str, scripts: Path) -> None:
    second = scripts / "versions" / "0002_second.py"
    second.write_text(SECOND)
    await database.migrate(url, scripts, "owner")
    second.unlink()
    with pytest.raises(database.NotMigratedError, match="newer"):
        await database.migrate(url, scripts, "owner")


async def test_postgresql_is_only_checked_at_start(postgres_url: str, scripts: Path) -> None:
    engine = database.open_engine(postgres_url, schema="owner")
    with pytest.raises(database.NotMigratedError, match="pointsman migrate up"):
        await database.prepare(engine, scripts, "owner")
    await database.migrate(engine, scripts, "owner")
    await database.prepare(engine, scripts, "owner")
    await engine.dispose()


async def test_sqlite_migrates_at_start_into_a_file_for_its_owner_alone(
    tmp_path: Path, scripts: Path
) -> None:
    path = tmp_path / "made" / "a.db"
    engine = database.open_engine(f"sqlite:///{path}")
    assert not path.exists()
    await database.prepare(engine, scripts, "owner")
    async with engine.connect() as connection:
        facts = [
            (await connection.execute(text(f"PRAGMA {name}"))).scalar()
            for name in ("journal_mode", "foreign_keys", "busy_timeout")
        ]
        assert facts == ["wal", 1, BUSY_TIMEOUT_MS]
        modes = {stat.S_IMODE(found.stat().st_mode) for found in path.parent.iterdir()}
    await engine.dispose()
    assert modes == {0o600}


async def test_an_unusable_database_is_named(tmp_path: Path, scripts: Path) -> None:
    (tmp_path / "file").write_text("")
    engine = database.open_engine(f"{tmp_path}/file/below.db")
    with pytest.raises(database.DatabaseError, match=r"file/below\.db cannot be used"):
        await database.prepare(engine, scripts, "owner")
    with pytest.raises(RouterError) as caught, database.store_errors():
        async with engine.connect():
            pass
    assert caught.value.reason is Reason.STORE_UNAVAILABLE
    await engine.dispose()


async def test_a_database_that_does_not_answer_is_named_without_its_password(
    scripts: Path,
) -> None:
    url = "postgresql://u:canary-pass@127.0.0.1:1/x?sslmode=disable"
    with pytest.raises(database.DatabaseError, match=r"127\.0\.0\.1:1/x cannot be used") as caught:
        await database.migration_status(url, scripts, "owner")
    assert "canary-pass" not in str(caught.value)
    assert "canary-pass" not in database.display_name(url)


def test_other_databases_are_refused() -> None:
    with pytest.raises(database.DatabaseError, match="not supported"):
        database.open_engine("mysql://x/y")


@pytest.mark.parametrize("package", ["gateway", "services.credentials.adapters"])
def test_names_of_migrations_begin_with_their_revisions(package: str) -> None:
    file = importlib.import_module(package).__file__
    assert file is not None
    folder = Path(file).parent / "migrations"
    scripts = ScriptDirectory(str(folder))
    assert database.head_of(folder) == scripts.get_current_head()
    for script in scripts.walk_revisions():
        assert Path(script.path).name.startswith(f"{script.revision}_")


async def test_a_database_that_fits_is_opened_without_the_migrator(
    tmp_path: Path, scripts: Path
) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    await database.migrate(url, scripts, "owner")
    program = (
        "import asyncio, pathlib, sys; from services.runtime import database;"
        f" asyncio.run(database.migrate({url!r}, pathlib.Path({str(scripts)!r}), 'owner'));"
        " sys.exit('alembic' in sys.modules)"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
    assert await process.wait() == 0


async def test_a_connection_that_the_server_closed_is_not_used_again(postgres_url: str) -> None:
    engine = database.open_engine(postgres_url, is_autocommit=True)
    other = database.open_engine(postgres_url)
    async with engine.connect() as connection:
        closed = (await connection.execute(text("SELECT pg_backend_pid()"))).scalar_one()
    async with other.connect() as connection:
        await connection.execute(text(f"SELECT pg_terminate_backend({closed})"))
    await asyncio.sleep(0.1)  # the end of the connection arrives
    async with engine.connect() as connection:
        assert (await connection.execute(text("SELECT pg_backend_pid()"))).scalar_one() != closed
    await engine.dispose()
    await other.dispose()


READER = """
import sqlite3, sys
reader = sqlite3.connect(sys.argv[1])
print(reader.execute("SELECT count(*) FROM things").fetchone()[0])
reader.close()
"""


async def read_outside(path: Path) -> int:
    """Return how many rows another process finds; it opens the file and closes it again."""
    reader = await asyncio.create_subprocess_exec(
        sys.executable, "-c", READER, str(path), stdout=asyncio.subprocess.PIPE
    )
    told, _ = await reader.communicate()
    return int(told)


async def test_a_reader_outside_takes_nothing_from_a_writer_with_several_connections(
    tmp_path: Path,
) -> None:
    path = tmp_path / "shared.db"
    first, second = (database.open_engine(f"sqlite:///{path}") for _ in range(2))
    async with first.begin() as connection:
        await connection.execute(text("CREATE TABLE things (id INTEGER PRIMARY KEY)"))
    async with second.begin() as connection:
        await connection.execute(text("INSERT INTO things VALUES (1)"))
    assert await read_outside(path) == 1
    async with second.begin() as connection:
        await connection.execute(text("INSERT INTO things VALUES (2)"))
    assert await read_outside(path) == 2
    await first.dispose()
    await second.dispose()


KILL_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND datname = current_database()
"""


async def test_a_server_that_ends_connections_in_any_state_is_a_store_that_is_down(
    postgres_url: str,
) -> None:
    engine, pool = database.open_engine(postgres_url), PostgresPool(postgres_url, "public")
    failures: list[Exception] = []

    async def by_engine() -> None:
        with database.store_errors():
            async with engine.begin() as connection:
                await connection.execute(text("SELECT pg_sleep(0.002)"))

    async def by_pool() -> None:
        await pool.fetch_one("SELECT pg_sleep(0.002)")

    async def again(work: Callable[[], Awaitable[None]]) -> None:
        while not is_over.is_set():
            try:
                await work()
            except Exception as error:  # noqa: BLE001 - what comes is looked at below
                failures.append(error)

    is_over, other = asyncio.Event(), database.open_engine(postgres_url, is_autocommit=True)
    users = [asyncio.create_task(again(work)) for work in (by_engine, by_pool) for _ in range(5)]
    async with other.connect() as killer:
        for _ in range(150):
            await killer.execute(text(KILL_OTHERS))
            await asyncio.sleep(0.01)
    is_over.set()
    await asyncio.gather(*users)
    await engine.dispose()
    await other.dispose()
    await pool.aclose()
    assert {type(error) for error in failures} == {RouterError}
    assert {getattr(error, "reason", None) for error in failures} == {Reason.STORE_UNAVAILABLE}


@pytest.mark.parametrize(
    "error",
    [
        exc.InvalidRequestError("This connection is closed"),  # the pool's words
        exc.ResourceClosedError("This Connection is closed"),
        exc.PendingRollbackError("Can't reconnect until invalid transaction is rolled back."),
    ],
)
def test_a_connection_that_went_away_under_a_request_is_a_store_that_is_down(
    error: Exception,
) -> None:
    with pytest.raises(RouterError) as caught, database.store_errors():
        raise error
    assert caught.value.reason is Reason.STORE_UNAVAILABLE


def test_an_invalid_request_of_ours_stays_a_fault_of_the_program() -> None:
    with pytest.raises(exc.NoSuchTableError), database.store_errors():
        raise exc.NoSuchTableError("nothing to do with connections")
