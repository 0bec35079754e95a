"""Typed looks into the tables of catalog documents; every complaint says where and what to do."""

from __future__ import annotations

import datetime
import difflib
from typing import TYPE_CHECKING

import orjson

from services.domain.catalog.values import CatalogError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def refuse_unknown(entry: Mapping[str, object], known: frozenset[str], where: str) -> None:
    """Refuse an entry that holds a key outside ``known``."""
    for key in entry:
        if key not in known:
            near = difflib.get_close_matches(key, sorted(known), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise CatalogError(f"{where}: unknown key {key!r}{hint}")


def tables(value: object, where: str) -> list[Mapping[str, object]]:
    """Return a list of tables."""
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise CatalogError(f"{where}: must be a list of tables")
    return value


def text_of(entry: Mapping[str, object], key: str, where: str) -> str:
    """Return a text that is not empty."""
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise CatalogError(f"{where}: {key} must be a text that is not empty")
    return value


def names_of(entry: Mapping[str, object], key: str, where: str) -> tuple[str, ...]:
    """Return a list of texts, each once; empty when it is not set."""
    value = entry.get(key, [])
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise CatalogError(f"{where}: {key} must be a list of texts")
    if len(set(value)) != len(value):
        raise CatalogError(f"{where}: {key} names one thing twice")
    return tuple(value)


def whole_of(entry: Mapping[str, object], key: str, where: str) -> int | None:
    """Return a whole number of tokens; None when it is not set or 0."""
    value = entry.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise CatalogError(f"{where}: {key} must be a whole number of tokens, 0 or more")
    return value or None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < float("inf") else None


def price_of(row: Mapping[str, object], key: str, where: str) -> float:
    """Return a price in USD per million tokens."""
    number = _number(row.get(key))
    if number is None:
        raise CatalogError(f"{where}: {key} must be set, in USD per million tokens, 0 or more")
    return number


def ratio_of(row: Mapping[str, object], key: str, where: str) -> float | None:
    """Return a multiple of the input price; None when it is not set."""
    if key not in row:
        return None
    number = _number(row[key])
    if number is None:
        raise CatalogError(f"{where}: {key} must be a multiple of the input price, 0 or more")
    return number


def share_of(entry: Mapping[str, object], key: str, where: str) -> float | None:
    """Return a number from 0 to 1; None when it is not set."""
    if key not in entry:
        return None
    number = _number(entry[key])
    if number is None or number > 1:
        raise CatalogError(f"{where}: {key} must be a number from 0 to 1")
    return number


def choice_of(entry: Mapping[str, object], key: str, values: Iterable[str], where: str) -> str:
    """Return one of ``values``; the first when it is not set."""
    allowed = tuple(values)
    value = entry.get(key, allowed[0])
    if not isinstance(value, str) or value not in allowed:
        raise CatalogError(f"{where}: {key} must be one of {', '.join(filter(None, allowed))}")
    return value


def flag_of(entry: Mapping[str, object], key: str, where: str, *, default: bool) -> bool:
    """Return a switch, ``default`` when it is not set."""
    value = optional_flag_of(entry, key, where)
    return default if value is None else value


def optional_flag_of(entry: Mapping[str, object], key: str, where: str) -> bool | None:
    """Return a switch, None when it is not set."""
    value = entry.get(key)
    if value is None or isinstance(value, bool):
        return value
    raise CatalogError(f"{where}: {key} must be true or false")


def day_of(entry: Mapping[str, object], key: str, where: str) -> str:
    """Return a day as text, as in 2026-11-30; empty when it is not set."""
    value = entry.get(key, "")
    if value != "" and not (isinstance(value, str) and _is_day(value)):
        raise CatalogError(f'{where}: {key} must be a day, as in "2026-11-30"')
    return str(value)


def _is_day(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def members_of(entry: Mapping[str, object], key: str, where: str) -> tuple[tuple[str, bytes], ...]:
    """Return the members of a table as JSON text, in order; empty when it is not set."""
    told = entry.get(key, {})
    if not isinstance(told, dict):
        raise CatalogError(f"{where}: {key} must be a table of members of the request body")
    try:
        return tuple((name, orjson.dumps(value)) for name, value in told.items())
    except orjson.JSONEncodeError:
        raise CatalogError(f"{where}: {key} holds what is no JSON, such as a date") from None
