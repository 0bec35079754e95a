"""Makes, lists, ends and replaces router keys in the store of the configuration."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from gateway.keys import key_of, new_token
from gateway.model import Denial, InstallationId, Scope
from gateway.settings import GatewaySettings
from gateway.stores import open_key_store
from services.cli import output
from services.runtime.clock import SystemClock
from services.runtime.config import read_document
from services.runtime.launch import StartError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
    from pathlib import Path

    from gateway.model import RouterKey
    from gateway.ports import KeyStore

T = TypeVar("T")

_CLOCK = SystemClock()
_STATES = {None: "live", Denial.INVALID: "revoked", Denial.EXPIRED: "expired"}


@dataclass(frozen=True, slots=True)
class NewKey:
    """What is wanted of a new key; ``expires_in_s`` 0: it does not expire."""

    name: str
    scope: str
    expires_in_s: float


def create(file: Path | None, installation: str, order: NewKey, *, as_json: bool) -> None:
    """Store a new key and print its token."""

    async def work(store: KeyStore, owner: InstallationId) -> tuple[RouterKey, str]:
        now_unix_s = _CLOCK.now_unix_s()
        token = new_token(Scope(order.scope))
        key = key_of(
            token,
            owner,
            name=order.name,
            now_unix_s=now_unix_s,
            scope=Scope(order.scope),
            expires_unix_s=now_unix_s + order.expires_in_s if order.expires_in_s else None,
        )
        if not await store.add(key):
            raise StartError("the new token is stored already: try again")
        return key, token

    _print_made(*_in_store(file, installation, work), as_json=as_json)


def list_keys(file: Path | None, installation: str, *, as_json: bool) -> None:
    """Print the keys of an installation."""

    async def work(store: KeyStore, owner: InstallationId) -> Sequence[RouterKey]:
        return await store.list_keys(owner)

    found = _in_store(file, installation, work)
    output.rows([_facts(key) for key in found], as_json=as_json)


def revoke(file: Path | None, installation: str, key_id: str, *, as_json: bool) -> None:
    """End a key.

    Raises:
        StartError: there is no live key of that id.
    """

    async def work(store: KeyStore, owner: InstallationId) -> None:
        if not await store.revoke(owner, key_id, _CLOCK.now_unix_s()):
            raise _unknown(key_id)

    _in_store(file, installation, work)
    output.facts({"id": key_id, "state": "revoked"}, as_json=as_json)


def rotate(
    file: Path | None, installation: str, key_id: str, grace_s: int, *, as_json: bool
) -> None:
    """Replace a key and print the new token.

    Raises:
        StartError: there is no live key of that id.
    """

    async def work(store: KeyStore, owner: InstallationId) -> tuple[RouterKey, str]:
        now_unix_s = _CLOCK.now_unix_s()
        old = next((key for key in await store.list_keys(owner) if key.id == key_id), None)
        if old is None:
            raise _unknown(key_id)
        token = new_token(old.scope)
        successor = await store.rotate(
            owner,
            key_id,
            key_of(token, owner, name=old.name, now_unix_s=now_unix_s, scope=old.scope),
            retire_unix_s=now_unix_s + grace_s,
            now_unix_s=now_unix_s,
        )
        if successor is None:
            raise _unknown(key_id)
        return successor, token

    _print_made(*_in_store(file, installation, work), as_json=as_json)


def _in_store(
    file: Path | None,
    installation: str,
    work: Callable[[KeyStore, InstallationId], Coroutine[None, None, T]],
) -> T:
    settings = read_document(file).section(GatewaySettings, "gateway")

    async def run() -> T:
        async with _opened(settings) as store:
            owner = InstallationId(installation) or await store.default_installation()
            return await work(store, owner)

    return asyncio.run(run())


@contextlib.asynccontextmanager
async def _opened(settings: GatewaySettings) -> AsyncIterator[KeyStore]:
    store = open_key_store(settings, _CLOCK)
    try:
        await store.start()
        yield store
    finally:
        await store.aclose()


def _unknown(key_id: str) -> StartError:
    return StartError(f"no live key {key_id}: `pointsman keys list` shows the ids")


def _print_made(key: RouterKey, token: str, *, as_json: bool) -> None:
    if as_json:
        output.as_json_text({"key": _facts(key), "token": token})
        return
    output.facts({"id": key.id, "name": key.name, "token (shown once)": token}, as_json=False)


def _facts(key: RouterKey) -> Mapping[str, object]:
    denial = key.denial_at(_CLOCK.now_unix_s())
    return {
        "id": key.id,
        "name": key.name,
        "scope": key.scope.value,
        "shown": f"{key.display_prefix}…{key.display_suffix}" if key.display_prefix else "",
        "state": _STATES[denial],
        "created": _when(key.created_unix_s),
        "expires": _when(key.expires_unix_s),
        "revoked": _when(key.revoked_unix_s),
    }


def _when(unix_s: float | None) -> str | None:
    if unix_s is None:
        return None
    return dt.datetime.fromtimestamp(unix_s, dt.UTC).isoformat(timespec="seconds")
