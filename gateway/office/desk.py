"""The table of operations: finds the one that a path and a method name, and carries it out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gateway.office.exclusions import ExclusionDesk
from gateway.office.pool import PoolDesk
from services.domain.errors import InvalidRequestError, Reason, RouterError
from services.runtime.schema import hint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gateway.exclusions import Exclusions
    from gateway.office.keys import KeyDesk
    from gateway.office.ledger import LedgerDesk
    from gateway.office.model import Document, Operation, Order
    from gateway.office.ports import Pool

ROOT = "/admin/v1/"
LONGEST_NAME = 128

Named = tuple["Operation", "Mapping[str, str]"]
"""An operation with what its path names."""


class Office:
    """All that operators can ask for."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._operations = tuple(
            (operation, tuple(operation.path.split("/"))) for operation in operations
        )

    def find(self, path: str) -> Mapping[str, Named]:
        """Return the operations at a path by method; none: it is not there.

        A path that is spelt out goes before one with a name in its place.
        """
        if not path.startswith(ROOT):
            return {}
        parts = path.removeprefix(ROOT).rstrip("/").split("/")
        found: dict[str, Named] = {}
        for operation, pattern in self._operations:
            names = _names(pattern, parts)
            if names is not None and operation.method not in found:
                found[operation.method] = (operation, names)
        return found

    async def carry_out(self, operation: Operation, order: Order) -> Document | None:
        """Return what an operation answers; None: nothing.

        Raises:
            RouterError: it cannot be done; says why, and what to change.
        """
        for name in order.query:
            if name not in operation.query:
                fix = f"unknown parameter; {hint(name, operation.query)}"
                raise InvalidRequestError.of(name[:64], fix)
        try:
            async with asyncio.timeout(operation.timeout_s):
                return await operation.run(order)
        except TimeoutError:
            message = f"not done within {operation.timeout_s:.0f} s: try again"
            raise RouterError(Reason.STORE_UNAVAILABLE, message) from None


def office_of(
    keys: KeyDesk, ledger: LedgerDesk, pool: Pool | None, exclusions: Exclusions | None
) -> Office:
    """Return the office over what a router keeps; what is None is not kept here."""
    operations = [*keys.operations, *ledger.operations]
    if pool is not None:
        operations += PoolDesk(pool).operations
    if exclusions is not None:
        operations += ExclusionDesk(exclusions).operations
    return Office(operations)


def _names(pattern: tuple[str, ...], parts: list[str]) -> dict[str, str] | None:
    """Return what a path names under a pattern; None: it is another path."""
    if len(pattern) != len(parts):
        return None
    names = {}
    for wanted, part in zip(pattern, parts, strict=True):
        if wanted.startswith("{"):
            if not 0 < len(part) <= LONGEST_NAME:
                return None
            names[wanted.strip("{}")] = part
        elif wanted != part:
            return None
    return names
