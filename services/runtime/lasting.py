"""What of the configuration lasts as long as the process, and what may change while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from services.runtime import schema
from services.runtime.settings import CommonSettings, Section

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

C = TypeVar("C", bound=CommonSettings)

CHANGING = frozenset({"providers", "credentials", "catalog", "routing"})
"""Tables that are taken over while a process runs."""
LASTING: Mapping[str, tuple[str, ...]] = {"routing": ("strategy", "shadow")}
"""Keys of these tables that are not: other services would have to run."""


def effective(first: C, newer: C) -> C:
    """Return newer settings in which what lasts is as it was at the start."""
    update: dict[str, object] = {}
    for name in type(first).model_fields:
        value, at_start = getattr(newer, name), getattr(first, name)
        if name not in CHANGING:
            update[name] = at_start
        elif isinstance(value, Section) and name in LASTING:
            kept = {key: getattr(at_start, key) for key in LASTING[name]}
            update[name] = value.model_copy(update=kept)
    return newer.model_copy(update=update)


def waiting_keys(first: BaseModel, newer: BaseModel, at: str = "") -> list[str]:
    """Return the keys that differ and count after a restart only; ``at``: where these stand."""
    keys = (f"{at}.{key}" if at else key for key in changed_keys(first, newer))
    return [key for key in keys if not _is_changing(key)]


def changed_keys(before: BaseModel, after: BaseModel) -> list[str]:
    """Return the dotted keys whose values differ; a table that came or went is one key."""
    old, new = dict(schema.leaves(before)), dict(schema.leaves(after))
    found = [path for path in dict.fromkeys((*old, *new)) if old.get(path) != new.get(path)]
    told = (path if path in old and path in new else _table_of(path) for path in found)
    return list(dict.fromkeys(".".join(path) for path in told))


def _table_of(path: schema.Path) -> schema.Path:
    """Return the table of a key; the list as a whole where it is one of a list's."""
    listed = next((depth for depth, key in enumerate(path) if key.isdigit()), 0)
    return path[: listed or max(1, len(path) - 1)]


def _is_changing(key: str) -> bool:
    table, _, rest = key.partition(".")
    return table in CHANGING and rest not in LASTING.get(table, ())
