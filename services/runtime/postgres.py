"""Engines for PostgreSQL: timeouts, a bounded pool, and no round trip that is not needed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from sqlalchemy import event, exc
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from services.domain.errors import Reason, RouterError

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

    # What drivers hand to event listeners is untyped: Any in this module's listeners.

CONNECT_TIMEOUT_S = 5.0
COMMAND_TIMEOUT_S = 10.0
KEPT_CONNECTIONS = 10
MORE_CONNECTIONS = 5
"""Connections above the kept ones, closed after use."""


def postgres_engine(url: URL, schema: str, *, is_autocommit: bool) -> AsyncEngine:
    """Return an engine for one owner's tables; nothing is opened before its first connection."""
    arguments: dict[str, object] = {
        "timeout": CONNECT_TIMEOUT_S,
        "command_timeout": COMMAND_TIMEOUT_S,
    }
    if schema:
        arguments["server_settings"] = {"search_path": schema}
    if "sslmode" in url.query:  # libpq's name; the driver calls it ssl
        arguments["ssl"] = str(url.query["sslmode"])
        url = url.difference_update_query(["sslmode"])
    more: dict[str, Any] = {"isolation_level": "AUTOCOMMIT"} if is_autocommit else {}
    engine = create_async_engine(
        url.set(drivername="postgresql+asyncpg"),
        connect_args=arguments,
        pool_size=KEPT_CONNECTIONS,
        max_overflow=MORE_CONNECTIONS,
        pool_timeout=CONNECT_TIMEOUT_S,
        hide_parameters=True,
        **more,
    )

    @event.listens_for(engine.sync_engine, "checkout")
    def check(connection: Any, *_: Any) -> None:
        # The driver knows when the other end has closed: no round trip is needed to find out.
        if connection.driver_connection.is_closed():
            raise exc.InvalidatePoolError

    return engine


def connection_errors() -> tuple[type[Exception], ...]:
    """Return what is raised of connections that broke, where SQLAlchemy lets it through or is not
    asked.

    The driver's own errors are there once it is used: the embedded shape never loads it.
    """
    driver: Any = sys.modules.get("asyncpg")
    if driver is None:
        return (OSError, TimeoutError)
    own = (driver.PostgresError, driver.InterfaceError, driver.InternalClientError)
    return (OSError, TimeoutError, *own)


def unavailable(error: Exception) -> RouterError:
    """Return what callers are told of a store that does not answer."""
    return RouterError(
        Reason.STORE_UNAVAILABLE,
        f"the store does not answer ({type(error).__name__})",
        retry_after_s=1.0,
    )
