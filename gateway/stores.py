"""Opens the stores that the gateway owns, as its settings say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gateway.adapters.ledger import SqlLedgerStore
from gateway.adapters.sessions import SqlSessionStore
from gateway.adapters.store import SqlKeyStore
from gateway.ledger.book import Book
from gateway.ledger.journal import Journal
from gateway.remembering import Remembering
from gateway.sessions.memory import Sessions
from services.runtime.database import is_sqlite, sqlite_path

if TYPE_CHECKING:
    from gateway.ledger.book import Listener
    from gateway.settings import GatewaySettings
    from services.domain.catalog import Catalog
    from services.runtime.clock import Clock

LEDGER_FOLDER = "~/.pointsman/ledger"


def open_key_store(settings: GatewaySettings, clock: Clock) -> SqlKeyStore:
    """Return the store of router keys, not yet started."""
    return SqlKeyStore(settings.database, clock)


def open_ledger_store(settings: GatewaySettings) -> SqlLedgerStore:
    """Return the store of the ledger's rows, not yet started."""
    return SqlLedgerStore(settings.database)


def open_ledger(
    settings: GatewaySettings, catalog: Catalog, clock: Clock, settled: Listener | None = None
) -> Book:
    """Return the ledger, not yet started; ``settled`` hears of rows as they are made."""
    journal = Journal(journal_folder(settings), max_bytes=settings.ledger_journal_max_bytes)
    return Book(open_ledger_store(settings), journal, catalog, clock, settled)


def journal_folder(settings: GatewaySettings) -> Path:
    """Return the folder of the ledger's journal."""
    if settings.ledger_journal:
        return Path(settings.ledger_journal).expanduser()
    file = sqlite_path(settings.database) if is_sqlite(settings.database) else None
    return file.with_suffix(".ledger") if file is not None else Path(LEDGER_FOLDER).expanduser()


def open_sessions(settings: GatewaySettings, clock: Clock) -> Remembering:
    """Return the sessions of a gateway, not yet started."""
    store = SqlSessionStore(settings.database)
    return Remembering(store, Sessions(store, clock, is_shared=not is_sqlite(settings.database)))
