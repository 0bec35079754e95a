"""Asks a running router over HTTP; whatever keeps it from answering is one line for the user."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import aiohttp
import orjson

from services.runtime.launch import StartError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

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

    async def get(self, path: str) -> Answered:
        """Return the document at a path.

        Raises:
            StartError: the router is not there, or refuses; says why.
        """
        return await self._asked("GET", path, None, {})

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
        url = self._server + path
        try:
            async with self._session.request(method, url, data=body, headers=headers) as answer:
                read = await answer.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise StartError(
                f"no router answers at {self._server} ({type(error).__name__}): start one with"
                " `pointsman serve`, or name it with --server"
            ) from None
        document = _document(read)
        if answer.status != 200:
            raise StartError(f"{url} answered {answer.status}: {_said(document)}")
        return Answered(document, {name.lower(): value for name, value in answer.headers.items()})


@contextlib.asynccontextmanager
async def asking(server: str, key: str) -> AsyncIterator[Asker]:
    """Give what asks ``server`` with a router key."""
    address = server.rstrip("/")
    if not address.startswith(("http://", "https://")):
        address = f"http://{address}"
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    headers = {"x-router-key": key}
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
        yield Asker(session, address)


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
