"""Where a command takes its order: to a running router, else to the store of the configuration.

Both sides carry out the same operations, so a command does the same either way.
"""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import quote, urlsplit

import orjson

from gateway.office.desk import ROOT
from gateway.office.model import Order
from gateway.office.pool import SECRETS
from gateway.settings import GatewaySettings
from services.cli.asking import Asker, addressed
from services.domain.errors import Reason, RouterError
from services.runtime import running
from services.runtime.config import ConfigError, read_document

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from gateway.office.desk import Office
    from gateway.office.model import Document as Body
    from services.runtime.config import Document

T = TypeVar("T")

ADMIN_VARIABLE = "POINTSMAN_ADMIN_TOKEN"


@dataclass(frozen=True, slots=True)
class Reach:
    """How a command was told to reach what it is about."""

    config: Path | None = None
    server: str | None = None
    """Address of a router; None: not said; empty: none."""


@dataclass(frozen=True, slots=True)
class Store:
    """A store that can be opened where no router runs on it."""

    database: Callable[[Document], str]
    """Returns its address, beside which a router says that it runs."""
    opened: Callable[[Document], AbstractAsyncContextManager[Office]]


class Desk(Protocol):
    """Takes orders."""

    async def ask(
        self,
        method: str,
        *names: str,
        query: Mapping[str, str] | None = None,
        body: Body | None = None,
        key: str = "",
    ) -> Body:
        """Return the answer of the operation at the path of ``names``; empty: it has none.

        Raises:
            RouterError, StartError: it cannot be done; says why.
        """
        ...


def at_desk(reach: Reach, store: Store, work: Callable[[Desk], Awaitable[T]]) -> T:
    """Return what ``work`` returns at the desk that is to be used.

    Raises:
        ConfigError: a server is named and no admin token is set.
        StartError: the router or the store cannot be used, or refuses.
        RouterError: the order cannot be carried out.
    """
    document = read_document(reach.config)

    async def run() -> T:
        async with _opened(document, reach.server, store) as desk:
            return await work(desk)

    with document.naming_sources():
        return asyncio.run(run())


@contextlib.asynccontextmanager
async def _opened(document: Document, server: str | None, store: Store) -> AsyncIterator[Desk]:
    token = document.text("gateway.admin_token")
    if server and not token:
        raise ConfigError(f"{ADMIN_VARIABLE}: set it to the admin token of {server}")
    address = server
    if address is None and token:
        address = running.found(store.database(document))
    if not address:
        async with store.opened(document) as office:
            yield StoreDesk(office)
        return
    headers = {"authorization": f"Bearer {token}", "x-router-actor": _actor()}
    async with addressed(address, headers) as asker:
        yield ServerDesk(asker, address, document)


class StoreDesk:
    """Carries orders out on a store that this process opened."""

    def __init__(self, office: Office) -> None:
        self._office = office

    async def ask(
        self,
        method: str,
        *names: str,
        query: Mapping[str, str] | None = None,
        body: Body | None = None,
        key: str = "",
    ) -> Body:
        """Return the answer of an operation."""
        found = self._office.find(ROOT + "/".join(names)).get(method)
        if found is None:
            raise RouterError(Reason.NOT_FOUND, f"no route {ROOT}{'/'.join(names)}")
        operation, named = found
        order = Order(named, query or {}, body or {}, _actor(), key)
        done = await self._office.carry_out(operation, order)
        answer: Body = orjson.loads(orjson.dumps(done or {}))  # as a router would answer
        return answer


class ServerDesk:
    """Sends orders to a running router."""

    def __init__(self, asker: Asker, address: str, document: Document) -> None:
        self._asker = asker
        self._address = address
        self._document = document

    async def ask(
        self,
        method: str,
        *names: str,
        query: Mapping[str, str] | None = None,
        body: Body | None = None,
        key: str = "",
    ) -> Body:
        """Return the answer of an operation."""
        self._refuse_plaintext(body or {})
        path = ROOT + "/".join(quote(name, safe="") for name in names)
        headers = {"idempotency-key": key} if key else {}
        sent = None if body is None else orjson.dumps(body)
        return await self._asker.order(method, path, sent, query=query or {}, headers=headers)

    def _refuse_plaintext(self, body: Body) -> None:
        """Send no secret over a network in clear text.

        Raises:
            ConfigError: it would be.
        """
        brought = sorted(SECRETS & body.keys())
        if not brought or not is_open(self._address):
            return
        if self._document.section(GatewaySettings, "gateway").allow_plaintext_secrets:
            return
        raise ConfigError(
            f"--server {self._address}: the {brought[0]} would travel there in clear text: use"
            " https://, or set [gateway] allow_plaintext_secrets"
        )


def is_open(address: str) -> bool:
    """Return whether what is sent to an address can be read on the way."""
    parts = urlsplit(address if "://" in address else f"http://{address}")
    host = parts.hostname or ""
    if parts.scheme == "https" or host == "localhost":
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True


def _actor() -> str:
    return f"cli:{getpass.getuser()}"
