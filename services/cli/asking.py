"""Asks a running router over HTTP; whatever keeps it from answering is one line for the user."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import aiohttp
import orjson
from yarl import URL

from services.runtime.launch import StartError
from services.runtime.sources import ConfigError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from contextlib import AbstractAsyncContextManager

TIMEOUT_S = 120.0
MOST_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Answered:
    """A good answer."""

    document: Mapping[str, object]
    headers: Mapping[str, str]


class Asker:
    """Asks one router with one key."""

    def __init__(self, session: aiohttp.ClientSession, server: str) -> None:
        self._session = session
        self._server = server

    @property
    def server(self) -> str:
        """Return the router's address, without a slash at its end."""
        return self._server

    async def look(self, path: str) -> tuple[int, Answered]:
        """Return the status and the document at a path, whatever they are.

        Raises:
            StartError: the router is not there.
        """
        return await self._sent("GET", path, None, {}, {})

    async def get(self, path: str) -> Answered:
        """Return the document at a path.

        Raises:
            StartError: the router is not there, or refuses; says why.
        """
        return await self._asked("GET", path, None, {})

    async def order(
        self,
        method: str,
        path: str,
        body: bytes | None,
        *,
        query: Mapping[str, str],
        headers: Mapping[str, str],
    ) -> Mapping[str, object]:
        """Return the document that answers an order of an operator.

        Raises:
            StartError: the router is not there, or refuses; says why in its words.
        """
        sent = {"content-type": "application/json", **headers}
        status, answered = await self._sent(method, path, body, sent, query)
        if not 200 <= status < 300:
            raise StartError(_said(answered.document))
        return answered.document

    async def post(
        self, path: str, body: bytes, *, headers: Mapping[str, str] | None = None
    ) -> Answered:
        """Return the answer to a JSON body.

        Raises:
            StartError: the router is not there, or refuses; says why.
        """
        sent = {"content-type": "application/json", **(headers or {})}
        return await self._asked("POST", path, body, sent)

    async def _asked(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Answered:
        status, answered = await self._sent(method, path, body, headers, {})
        if status != 200:
            url = self._server + path
            raise StartError(f"{url} answered {status}: {_said(answered.document)}")
        return answered

    async def _sent(
        self,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
        query: Mapping[str, str],
    ) -> tuple[int, Answered]:
        url = URL(self._server + path, encoded=True).update_query(query)
        try:
            async with self._session.request(
                method, url, data=body, headers=headers, allow_redirects=False
            ) as answer:
                read = await answer.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise StartError(
                f"no router answers at {self._server} ({type(error).__name__}): start one with"
                " `pointsman serve`, or name it with --server"
            ) from None
        shown = {name.lower(): value for name, value in answer.headers.items()}
        return answer.status, Answered(_document(read), shown)


def asking(server: str, key: str) -> AbstractAsyncContextManager[Asker]:
    """Give what asks ``server`` with a router key."""
    return addressed(server, {"x-router-key": key})


@contextlib.asynccontextmanager
async def addressed(server: str, headers: Mapping[str, str]) -> AsyncIterator[Asker]:
    """Give what asks ``server`` with headers that each question has."""
    address = server if "://" in server else f"http://{server}"
    if not is_address(address):
        raise ConfigError(f"--server {server}: must be http://HOST:PORT or https://HOST")
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
        yield Asker(session, address.rstrip("/"))


def is_address(text: str) -> bool:
    """Return whether a text is the root of an HTTP server."""
    try:
        url = URL(text)
    except ValueError:
        return False
    return url.scheme in ("http", "https") and bool(url.host)


def _document(read: bytes) -> Mapping[str, object]:
    try:
        found = orjson.loads(read)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _said(document: Mapping[str, object]) -> str:
    error = document.get("error")
    message = error.get("message") if isinstance(error, dict) else None
    return str(message or "no reason given")[:MOST_SHOWN]
