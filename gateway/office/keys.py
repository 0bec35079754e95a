"""Router keys as operators keep them: made, listed, ended and replaced."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from pydantic import Field

from gateway.keys import key_of, new_token
from gateway.model import Denial, InstallationId, Scope
from gateway.office.model import Operation
from gateway.office.reading import read
from services.domain.errors import Reason, RouterError
from services.runtime.settings import Section

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.model import RouterKey
    from gateway.office.model import Document, Order
    from gateway.ports import KeyStore
    from services.runtime.clock import Clock

LONGEST_GRACE_S = 86_400
LONGEST_LIFE_S = 100 * 366 * 86_400
"""Of a key that expires."""
LAST_UNIX_S = dt.datetime.max.replace(tzinfo=dt.UTC, microsecond=0).timestamp()
"""Of the calendar; what was stored before lives were bounded may end later."""
_STATES = {None: "live", Denial.INVALID: "revoked", Denial.EXPIRED: "expired"}
_OWNER = frozenset({"installation"})


class NewKey(Section):
    """A key to be made; ``expires_in_seconds`` 0: it does not expire."""

    name: str = Field(min_length=1, max_length=128)
    scope: Scope = Scope.ROUTING
    expires_in_seconds: float = Field(default=0, ge=0, le=LONGEST_LIFE_S, allow_inf_nan=False)


class Replacement(Section):
    """How a key is replaced."""

    grace_seconds: int = Field(default=0, ge=0, le=LONGEST_GRACE_S)
    """How long the old token works besides."""


class KeyDesk:
    """Keeps the keys of one store; ``forget`` hears the digest of each token that changed."""

    def __init__(
        self, store: KeyStore, clock: Clock, forget: Callable[[str], None] = lambda _: None
    ) -> None:
        self._store = store
        self._clock = clock
        self._forget = forget

    @property
    def operations(self) -> tuple[Operation, ...]:
        """What can be asked."""
        return (
            Operation("GET", "keys", self.all, query=_OWNER),
            Operation("POST", "keys", self.create, 201, query=_OWNER),
            Operation("DELETE", "keys/{id}", self.revoke, 204, query=_OWNER),
            Operation("POST", "keys/{id}/rotate", self.rotate, 201, query=_OWNER),
        )

    async def all(self, order: Order) -> Document:
        """Return every key of an installation, ended ones too."""
        owner = await self._owner(order)
        spent = await self._store.spent(owner)
        keys = await self._store.list_keys(owner)
        return {"keys": [self._shown(key, spent.get(key.id, 0)) for key in keys]}

    async def create(self, order: Order) -> Document:
        """Make a key and return it with its token, which is kept nowhere."""
        wanted = read(NewKey, order.body)
        owner, now_unix_s = await self._owner(order), self._clock.now_unix_s()
        token, life_s = new_token(wanted.scope), wanted.expires_in_seconds
        key = key_of(
            token,
            owner,
            name=wanted.name,
            now_unix_s=now_unix_s,
            scope=wanted.scope,
            expires_unix_s=now_unix_s + life_s if life_s else None,
        )
        if not await self._store.add(key):
            raise RouterError(Reason.VERSION_CONFLICT, "the new token is stored already: try again")
        return {"key": self._shown(key), "token": token}

    async def revoke(self, order: Order) -> None:
        """End a key at once."""
        owner, name = await self._owner(order), order.names["id"]
        old = await self._found(owner, name)
        if not await self._store.revoke(owner, name, self._clock.now_unix_s()):
            raise _unknown(name)
        self._forget(old.digest)

    async def rotate(self, order: Order) -> Document:
        """Replace a key by one of the same name and scope and return that with its token."""
        wanted = read(Replacement, order.body)
        owner, name = await self._owner(order), order.names["id"]
        old, now_unix_s = await self._found(owner, name), self._clock.now_unix_s()
        token = new_token(old.scope)
        successor = await self._store.rotate(
            owner,
            name,
            key_of(token, owner, name=old.name, now_unix_s=now_unix_s, scope=old.scope),
            retire_unix_s=now_unix_s + wanted.grace_seconds,
            now_unix_s=now_unix_s,
        )
        if successor is None:
            raise _unknown(name)
        self._forget(old.digest)
        return {"key": self._shown(successor), "token": token}

    async def _owner(self, order: Order) -> InstallationId:
        named = InstallationId(order.query.get("installation", ""))
        if not named:
            return await self._store.default_installation()
        if not await self._store.has_installation(named):
            raise RouterError(
                Reason.NOT_FOUND,
                f"no installation {named[:64]!r}: leave it out for the default one",
                metadata={"field": "installation"},
            )
        return named

    async def _found(self, owner: InstallationId, name: str) -> RouterKey:
        keys = await self._store.list_keys(owner)
        found = next((key for key in keys if key.id == name), None)
        if found is None:
            raise _unknown(name)
        return found

    def _shown(self, key: RouterKey, spent_micros: int = 0) -> Document:
        denial = key.denial_at(self._clock.now_unix_s())
        return {
            "id": key.id,
            "name": key.name,
            "scope": key.scope.value,
            "shown": f"{key.display_prefix}…{key.display_suffix}" if key.display_prefix else "",
            "state": _STATES[denial],
            "created": _when(key.created_unix_s),
            "expires": _when(key.expires_unix_s),
            "revoked": _when(key.revoked_unix_s),
            "spent_micros": spent_micros,
        }


def _unknown(name: str) -> RouterError:
    message = f"no live key {name[:64]}: `pointsman keys list` shows the ids"
    return RouterError(Reason.NOT_FOUND, message, metadata={"field": "id"})


def _when(unix_s: float | None) -> str | None:
    if unix_s is None:
        return None
    return dt.datetime.fromtimestamp(min(unix_s, LAST_UNIX_S), dt.UTC).isoformat(timespec="seconds")
