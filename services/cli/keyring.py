"""Makes, lists, ends and replaces router keys, through a router or in the store."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from gateway.office.desk import Office
from gateway.office.keys import KeyDesk
from gateway.settings import GatewaySettings
from gateway.stores import open_key_store
from services.cli import output
from services.cli.desks import Reach, Store, at_desk
from services.runtime.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from services.cli.desks import Desk
    from services.runtime.config import Document

    Facts = Mapping[str, object]

_CLOCK = SystemClock()


def create(
    reach: Reach, installation: str, name: str, scope: str, life_s: float, *, as_json: bool
) -> None:
    """Make a key and print its token; ``life_s`` 0: it does not expire."""
    body = {"name": name, "scope": scope, "expires_in_seconds": life_s}

    async def work(desk: Desk) -> Facts:
        return await desk.ask("POST", "keys", query=_owner(installation), body=body)

    _print_made(at_desk(reach, STORE, work), as_json=as_json)


def list_keys(reach: Reach, installation: str, *, as_json: bool) -> None:
    """Print the keys of an installation."""

    async def work(desk: Desk) -> Facts:
        return await desk.ask("GET", "keys", query=_owner(installation))

    output.rows(rows_of(at_desk(reach, STORE, work), "keys"), as_json=as_json)


def revoke(reach: Reach, installation: str, key_id: str, *, as_json: bool) -> None:
    """End a key."""

    async def work(desk: Desk) -> None:
        await desk.ask("DELETE", "keys", key_id, query=_owner(installation))

    at_desk(reach, STORE, work)
    output.facts({"id": key_id, "state": "revoked"}, as_json=as_json)


def rotate(reach: Reach, installation: str, key_id: str, grace_s: int, *, as_json: bool) -> None:
    """Replace a key and print the new token."""

    async def work(desk: Desk) -> Facts:
        body, owner = {"grace_seconds": grace_s}, _owner(installation)
        return await desk.ask("POST", "keys", key_id, "rotate", query=owner, body=body)

    _print_made(at_desk(reach, STORE, work), as_json=as_json)


def rows_of(document: Facts, name: str) -> Sequence[Facts]:
    """Return the things that a document lists under a name."""
    found = document.get(name)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def fact_of(document: Facts, name: str) -> Facts:
    """Return the thing that a document has under a name."""
    found = document.get(name)
    return found if isinstance(found, dict) else {}


def database_of(document: Document) -> str:
    """Return the address of the store of keys and of the ledger."""
    return document.section(GatewaySettings, "gateway").database


@contextlib.asynccontextmanager
async def _opened(document: Document) -> AsyncIterator[Office]:
    store = open_key_store(document.section(GatewaySettings, "gateway"), _CLOCK)
    try:
        await store.start()
        yield Office(KeyDesk(store, _CLOCK).operations)
    finally:
        await store.aclose()


STORE = Store(database_of, _opened)


def _owner(installation: str) -> Mapping[str, str]:
    return {"installation": installation} if installation else {}


def _print_made(made: Facts, *, as_json: bool) -> None:
    if as_json:
        output.as_json_text(dict(made))
        return
    key = fact_of(made, "key")
    shown = {"id": key.get("id"), "name": key.get("name")}
    output.facts({**shown, "token (shown once)": made.get("token")}, as_json=False)
