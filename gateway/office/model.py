"""An order of an operator, and the operation that it names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    Document: TypeAlias = "Mapping[str, object]"

TIMEOUT_S = 10.0
"""How long an operation may take that says nothing else."""
LONG_TIMEOUT_S = 110.0
"""How long one may take that looks at everything there is."""
DEFAULT_ACTOR = "admin"


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked of an operation."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Parts of the path that name things."""
    query: Mapping[str, str] = field(default_factory=dict)
    body: Document = field(default_factory=dict, repr=False)
    """May hold secrets."""
    actor: str = DEFAULT_ACTOR
    """Who asks, for the audit log."""
    idempotency_key: str = ""
    """Repeats with the same one make nothing anew; empty: each order is another."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that operators may ask for."""

    method: str
    path: str
    """Below the root of the admin API; ``{id}`` stands for a name."""
    run: Callable[[Order], Awaitable[Document | None]]
    """Raises RouterError where it cannot be done."""
    status: int = 200
    query: frozenset[str] = frozenset()
    """Parameters that it takes."""
    secrets: frozenset[str] = frozenset()
    """Fields of the body that hold secrets."""
    timeout_s: float = TIMEOUT_S
