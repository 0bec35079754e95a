"""Connections to PostgreSQL for the few statements of a hot path, each a transaction of its own.

A statement took 0.2 ms of CPU by way of SQLAlchemy and takes 0.04 ms here (one core, Python 3.11);
an action that is decided needs two or three. All else goes through the engine of
:mod:`services.runtime.postgres`.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import make_url

from services.runtime.postgres import (
    COMMAND_TIMEOUT_S,
    CONNECT_TIMEOUT_S,
    KEPT_CONNECTIONS,
    connection_errors,
    unavailable,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    # The driver has no types: its connections and rows are Any in this module.
    Connection = Any
    Row = Any

CLOSE_TIMEOUT_S = 1.0


class PostgresPool:
    """Runs single statements; opens connections as they are needed, up to a bound."""

    def __init__(self, url: str, schema: str) -> None:
        parsed = make_url(url).set(drivername="postgresql")
        self._dsn = parsed.render_as_string(hide_password=False)
        self._schema = schema
        self._idle: list[Connection] = []
        self._places = asyncio.Semaphore(KEPT_CONNECTIONS)
        self._is_closed = False

    async def fetch_one(self, statement: str, *values: object) -> Row | None:
        """Return the first row; None: there is none.

        Raises:
            RouterError: STORE_UNAVAILABLE.
        """
        return await self._on_one(lambda connection: connection.fetchrow(statement, *values))

    async def change(self, statement: str, *values: object) -> int:
        """Return how many rows a statement changed.

        Raises:
            RouterError: STORE_UNAVAILABLE.
        """
        tag = await self._on_one(lambda connection: connection.execute(statement, *values))
        return int(str(tag).rpartition(" ")[2])

    async def aclose(self) -> None:
        """Close the connections that nobody uses; the others close when they are given back."""
        self._is_closed = True
        idle, self._idle = self._idle, []
        for connection in idle:
            with contextlib.suppress(OSError, TimeoutError):
                await connection.close(timeout=CLOSE_TIMEOUT_S)

    async def _on_one(self, work: Callable[[Connection], Awaitable[Any]]) -> Any:
        try:
            async with self._places:
                connection = await self._taken()
                try:
                    result = await work(connection)
                except BaseException:
                    connection.terminate()  # what it was told, and what it did, is not known
                    raise
                self._give_back(connection)
                return result
        except connection_errors() as error:
            raise unavailable(error) from error

    async def _taken(self) -> Connection:
        """Return a connection whose other end has not closed, as far as the driver knows."""
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        import asyncpg  # the embedded shape never needs it

        return await asyncpg.connect(
            self._dsn,
            timeout=CONNECT_TIMEOUT_S,
            command_timeout=COMMAND_TIMEOUT_S,
            server_settings={"search_path": self._schema},
        )

    def _give_back(self, connection: Connection) -> None:
        if self._is_closed:
            connection.terminate()
        else:
            self._idle.append(connection)
