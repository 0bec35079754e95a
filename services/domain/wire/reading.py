"""Typed looks into parsed JSON, and reading and writing it without ever failing on odd strings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NoReturn

import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping

NOTHING: Mapping[str, object] = {}


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def load(text: bytes | str) -> object:
    """Return the value of a JSON text; lone surrogates in strings are carried as they are.

    For decisions only: integers beyond 64 bits become floats.

    Raises:
        ValueError: the text is no JSON, or is nested too deeply.
    """
    try:
        value: object = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            value = json.loads(text, parse_constant=_refuse_constant)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error
    return value


def dump(value: object) -> bytes:
    """Return compact JSON; what is no Unicode in a string is written as U+FFFD."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return orjson.dumps(_well_formed(value))


def join_surrogates(text: str) -> str:
    """Return ``text`` with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _well_formed(value: object) -> object:
    if isinstance(value, str):
        return join_surrogates(value)
    if isinstance(value, dict):
        return {join_surrogates(str(key)): _well_formed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_well_formed(item) for item in value]
    return value


def mapping(value: object) -> Mapping[str, object]:
    """Return ``value`` when it is an object, else an empty one."""
    return value if isinstance(value, dict) else NOTHING


def rows(value: object) -> list[object]:
    """Return ``value`` when it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    """Return ``value`` when it is a string, else the empty one."""
    return value if isinstance(value, str) else ""


def whole(value: object) -> int | None:
    """Return ``value`` when it is a whole number (``5`` or ``5.0``), else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None
