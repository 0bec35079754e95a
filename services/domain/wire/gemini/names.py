"""Members of this dialect by either spelling: ``functionCall`` and ``function_call``."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.scanner import Node, Plan

_CAPITAL = re.compile(r"(?<!^)([A-Z])")


@lru_cache(maxsize=256)
def snake(name: str) -> str:
    """Return a camel-case name in snake case."""
    return _CAPITAL.sub(r"_\1", name).lower()


def member(told: Mapping[str, object], name: str) -> object:
    """Return the value of a member; None for null and for absent."""
    value = told.get(name)
    return told.get(snake(name)) if value is None else value


def child(node: Node | None, name: str) -> Node | None:
    """Return the node of a member; None when it is absent or null."""
    if node is None:
        return None
    for key in (name, snake(name)):
        found = node.members.get(key)
        if found is not None and found.value is not None:
            return found
    return None


def both(plan: Plan) -> Plan:
    """Return a plan that opens its members by either spelling."""
    opened: dict[str, Plan] = {}
    for name, inner in plan.items():
        opened[name] = opened[snake(name)] = both(inner)
    return opened
