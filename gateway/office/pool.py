"""Upstream credentials as operators keep them. What goes in of secrets never comes out again."""

from __future__ import annotations

import secrets as randomness
from typing import TYPE_CHECKING

from gateway.office.model import LONG_TIMEOUT_S, Operation
from gateway.office.reading import read
from services.domain.errors import InvalidRequestError, Reason, RouterError
from services.runtime.settings import CredentialSettings, Section

if TYPE_CHECKING:
    from gateway.office.model import Document, Order
    from gateway.office.ports import Facts, Pool

SECRETS = frozenset({"secret", "refresh_token", "headers", "proxy"})
"""Fields of a body that hold key material."""
FIXED = ("provider", "kind", "installation")
"""What a credential is for as long as it lives."""


class Scoped(Section):
    """Which marks to clear; ``model`` empty: all."""

    model: str = ""


class PoolDesk:
    """Keeps one pool of credentials."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @property
    def operations(self) -> tuple[Operation, ...]:
        """What can be asked."""
        root, one = "credentials", "credentials/{id}"
        return (
            Operation("GET", root, self.all),
            Operation("POST", root, self.create, 201, secrets=SECRETS),
            Operation("POST", f"{root}/reencrypt", self.reencrypt, timeout_s=LONG_TIMEOUT_S),
            Operation("GET", one, self.one),
            Operation("PATCH", one, self.change, secrets=SECRETS),
            Operation("DELETE", one, self.remove, 204),
            Operation("POST", f"{one}/reset", self.reset),
        )

    async def all(self, order: Order) -> Document:
        """Return every credential."""
        return {"credentials": list(await self._pool.all())}

    async def one(self, order: Order) -> Document:
        """Return one credential."""
        return {"credential": await self._found(order)}

    async def create(self, order: Order) -> Document:
        """Store a credential and return it."""
        wanted = read(CredentialSettings, order.body)
        key = order.idempotency_key or randomness.token_hex(16)
        return {"credential": await self._pool.create(wanted, key, order.actor)}

    async def change(self, order: Order) -> Document:
        """Change what the body states and return the credential."""
        for name in FIXED:
            if name in order.body:
                fix = "cannot change: remove the credential and add another"
                raise InvalidRequestError.of(name, fix)
        before = await self._found(order)
        wanted = read(CredentialSettings, {"provider": before["provider"], **order.body})
        return {"credential": await self._pool.change(before, wanted, order.actor)}

    async def remove(self, order: Order) -> None:
        """Remove a credential that the configuration does not state."""
        found = await self._found(order)
        if found["origin"] != "stored":
            name = found["fingerprint"]
            raise RouterError(
                Reason.INVALID_REQUEST,
                f"{name} is stated in the configuration: remove it there, or"
                f" `pointsman credentials disable {name}`",
                metadata={"field": "id"},
            )
        await self._pool.remove(order.names["id"], order.actor)

    async def reset(self, order: Order) -> Document:
        """Clear marks and return how many stood."""
        wanted = read(Scoped, order.body)
        name = order.names["id"]
        count = await self._pool.reset(name, wanted.model, order.actor)
        return {"id": name, "cleared": count}

    async def reencrypt(self, order: Order) -> Document:
        """Seal every secret anew and return how many were."""
        return await self._pool.reencrypt(order.actor)

    async def _found(self, order: Order) -> Facts:
        name = order.names["id"]
        found = next((one for one in await self._pool.all() if one["id"] == name), None)
        if found is None:
            message = f"no credential {name[:64]}: `pointsman credentials list` shows the ids"
            raise RouterError(Reason.CREDENTIAL_NOT_FOUND, message, metadata={"field": "id"})
        return found
