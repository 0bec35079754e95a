"""Keeps credentials, through a router or in the store, whose changes running routers adopt."""

from __future__ import annotations

import contextlib
import datetime as dt
import getpass
import os
import secrets as randomness
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.adapters.pool import PoolClient
from gateway.office.desk import Office
from gateway.office.pool import PoolDesk
from services.cli import output
from services.cli.desks import Reach, Store, at_desk
from services.cli.keyring import fact_of, rows_of
from services.cli.options import is_text
from services.credentials.build.opening import opened
from services.domain.vocab import CredentialKind
from services.embedded.host import catalog_of
from services.embedded.settings import Settings
from services.runtime.clock import SystemClock
from services.runtime.config import ConfigError
from services.runtime.launch import StartError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from services.cli.desks import Desk
    from services.runtime.config import Document

    Facts = Mapping[str, object]

__all__ = [
    "Reach",
    "Sources",
    "add",
    "change",
    "list_all",
    "reencrypt",
    "remove",
    "reset",
    "show",
    "switch",
]

ROOT = "credentials"
WARNED_NOTE = (
    "note: a credential with an early warning serves after every clean one, whatever its priority"
)
_COLUMNS = ("fingerprint", "provider", "kind", "label", "enabled", "state", "priority", "origin")
_CLOCK = SystemClock()


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the secrets of a credential come from, which are never arguments; and their end."""

    secret_env: str = ""
    refresh_token_env: str = ""
    expires_at: str = ""


def list_all(reach: Reach, *, as_json: bool) -> None:
    """Print all credentials."""

    async def work(desk: Desk) -> Facts:
        return await desk.ask("GET", ROOT)

    found = rows_of(at_desk(reach, STORE, work), ROOT)
    output.rows(found if as_json else [_row(one) for one in found], as_json=as_json)
    marks = [mark["kind"] for one in found for mark in rows_of(one, "marks")]
    if "warning" in marks and not as_json:
        print(WARNED_NOTE, file=sys.stderr)


def show(reach: Reach, name: str, *, as_json: bool) -> None:
    """Print one credential.

    Raises:
        StartError: there is none of that name, or several.
    """

    async def work(desk: Desk) -> Facts:
        return await _named(desk, name)

    output.facts(at_desk(reach, STORE, work), as_json=as_json)


def add(
    reach: Reach,
    kind: CredentialKind,
    stated: Mapping[str, object],
    sources: Sources,
    *,
    as_json: bool,
) -> None:
    """Store a credential and print it.

    Raises:
        ConfigError: an option cannot be used.
        RouterError, StartError: a setting cannot be used, or a credential like it exists.
    """
    body = {**_stated(stated), **_secrets(sources)}
    if kind is not CredentialKind.NONE and not body.keys() & {"secret", "refresh_token"}:
        body["secret"] = _asked()
    key = randomness.token_hex(16)

    async def work(desk: Desk) -> Facts:
        return await desk.ask("POST", ROOT, body=body, key=key)

    _print_one(at_desk(reach, STORE, work), as_json=as_json)


def change(
    reach: Reach, name: str, stated: Mapping[str, object], sources: Sources, *, as_json: bool
) -> None:
    """Change a credential and print it.

    Raises:
        ConfigError: an option cannot be used, or there is none.
        RouterError, StartError: a setting cannot be used, or there is no such credential.
    """
    body = {**_stated(stated), **_secrets(sources)}
    if not body:
        raise ConfigError("credentials set: name what to change, such as --priority")
    _print_one(at_desk(reach, STORE, _changing(name, body)), as_json=as_json)


def switch(reach: Reach, name: str, *, is_enabled: bool, as_json: bool) -> None:
    """Switch a credential on or off and print it.

    Raises:
        StartError: there is none of that name, or several.
    """
    _print_one(at_desk(reach, STORE, _changing(name, {"enabled": is_enabled})), as_json=as_json)


def reset(reach: Reach, name: str, model: str, *, as_json: bool) -> None:
    """Clear a credential's marks and print how many stood.

    Raises:
        StartError: there is none of that name, or several.
    """

    async def work(desk: Desk) -> Facts:
        found = await _named(desk, name)
        return await desk.ask("POST", ROOT, str(found["id"]), "reset", body={"model": model})

    output.facts(at_desk(reach, STORE, work), as_json=as_json)


def reencrypt(reach: Reach, *, as_json: bool) -> None:
    """Seal every secret anew and print how many were.

    Raises:
        StartError: some cannot be read with the keys that are set; the others are sealed anew.
    """

    async def work(desk: Desk) -> Facts:
        return await desk.ask("POST", ROOT, "reencrypt")

    done = at_desk(reach, STORE, work)
    output.facts(done, as_json=as_json)
    if done["unreadable"]:
        raise StartError(
            f"{done['unreadable']} credentials cannot be read: keep the older keys in"
            " encryption_keys, and look at `pointsman credentials list` for quarantined ones"
        )


def remove(reach: Reach, name: str, *, as_json: bool) -> None:
    """Remove a credential.

    Raises:
        RouterError, StartError: there is none of that name, several, or it is stated in the
            configuration.
    """

    async def work(desk: Desk) -> object:
        found = await _named(desk, name)
        await desk.ask("DELETE", ROOT, str(found["id"]))
        return found["id"]

    output.facts({"id": at_desk(reach, STORE, work), "state": "removed"}, as_json=as_json)


def _changing(name: str, body: Facts) -> Callable[[Desk], Awaitable[Facts]]:
    async def work(desk: Desk) -> Facts:
        found = await _named(desk, name)
        return await desk.ask("PATCH", ROOT, str(found["id"]), body=body)

    return work


async def _named(desk: Desk, name: str) -> Facts:
    every = rows_of(await desk.ask("GET", ROOT), ROOT)
    found = [one for one in every if name in (one["id"], one["fingerprint"], one["label"])]
    if len(found) == 1:
        return found[0]
    what = "several credentials are named" if found else "no credential is named"
    raise StartError(f"{what} {name!r}: `pointsman credentials list` shows ids and fingerprints")


def _print_one(document: Facts, *, as_json: bool) -> None:
    output.facts(fact_of(document, "credential"), as_json=as_json)


def _row(one: Facts) -> Facts:
    """Return what a list shows of a credential."""
    marks = " ".join(
        ":".join(str(mark[part]) for part in ("kind", "window", "model") if mark[part])
        for mark in rows_of(one, "marks")
    )
    return {**{name: one[name] for name in _COLUMNS}, "marks": marks}


@contextlib.asynccontextmanager
async def _opened(document: Document) -> AsyncIterator[Office]:
    settings = document.section(Settings)
    catalog = catalog_of(document, settings, is_sandboxed=False)
    async with opened(settings.services.credentials, settings, catalog, _CLOCK) as channel:
        yield Office(PoolDesk(PoolClient(channel)).operations)


def _database(document: Document) -> str:
    return document.section(Settings).services.credentials.database


STORE = Store(_database, _opened)


def _stated(options: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of a body that options state."""
    body = {name: value for name, value in options.items() if value is not None}
    aliases = body.get("aliases")
    if isinstance(aliases, list):
        body["aliases"] = dict(_alias(text) for text in aliases)
    return body


def _secrets(sources: Sources) -> dict[str, object]:
    body: dict[str, object] = {}
    if sources.secret_env:
        body["secret"] = _variable(sources.secret_env, "--secret-env")
    if sources.refresh_token_env:
        body["refresh_token"] = _variable(sources.refresh_token_env, "--refresh-token-env")
    if sources.expires_at:
        body["expires_at"] = _time(sources.expires_at)
    return body


def _variable(name: str, option: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise ConfigError(f"{option}: the variable {name} is not set")
    if not is_text(value):
        raise ConfigError(f"{option}: the variable {name} must be text in UTF-8")
    return value


def _asked() -> str:
    """Return a secret that is typed without being shown, or stands in the input."""
    is_typed = sys.stdin.isatty()
    given = (getpass.getpass("secret: ") if is_typed else sys.stdin.readline()).strip()
    if not is_text(given):
        raise ConfigError("the secret that was read must be text in UTF-8")
    return given


def _alias(text: str) -> tuple[str, str]:
    model, mark, name = text.partition("=")
    if not (mark and model and name):
        raise ConfigError(f"--alias {text}: must be MODEL=NAME")
    return model, name


def _time(text: str) -> str:
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError("--expires-at: must be a time such as 2030-01-31T12:00:00Z") from None
    return (found if found.tzinfo else found.replace(tzinfo=dt.UTC)).isoformat()
