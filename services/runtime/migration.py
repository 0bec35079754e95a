"""Runs migrations by Alembic; imported only when a database has to change.

Alembic takes longer to import than all that a start does otherwise with a database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import text
from sqlalchemy.schema import CreateSchema

from services.runtime.database import VERSION_TABLE, NotMigratedError, table_schema

if TYPE_CHECKING:
    from pathlib import Path

    from alembic.runtime.migration import MigrationContext
    from sqlalchemy.engine import Connection

    # What Alembic hands to its steps is untyped: Any in this module.


def upgrade(connection: Connection, folder: Path, schema: str) -> None:
    """Bring the tables of one owner to the newest revision, in the transaction that runs.

    Raises:
        NotMigratedError: the database is newer than this program.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(
            text("SELECT pg_advisory_xact_lock(hashtext(:name))"),
            {"name": f"pointsman migrate {schema}"},
        )
        connection.execute(CreateSchema(schema, if_not_exists=True))
    scripts = ScriptDirectory(str(folder))

    def steps(revision: Any, _: MigrationContext) -> Any:
        return scripts._upgrade_revs("heads", revision)  # noqa: SLF001 - as Alembic's own pages show

    with EnvironmentContext(Config(), scripts, fn=steps) as environment:
        environment.configure(
            connection=connection,
            version_table=VERSION_TABLE,
            version_table_schema=table_schema(connection, schema),
        )
        try:
            environment.run_migrations()
        except CommandError as error:
            raise NotMigratedError(
                f"the tables of {schema!r} are newer than this program: {error}"
            ) from error
