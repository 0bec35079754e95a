"""Typed looks into parsed JSON, and reading and writing it without ever failing on odd strings."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from sys import maxsize
from typing import TYPE_CHECKING, NoReturn

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NOTHING: Mapping[str, object] = {}

MAX_DEPTH = 100
"""Deepest nesting that is read: what is written again must stay below the limit of writers."""

MAX_COUNT = 2**53 - 1
"""Largest count that is believed: every JSON reader and every store can hold it."""

_INT64 = range(-(2**63), 2**64)


class TooDeepError(ValueError):
    """A value that is nested deeper than ``MAX_DEPTH``."""

    def __init__(self) -> None:
        super().__init__("nested too deeply")


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python would read.

    Raises:
        ValueError: always.
    """
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
        value = _load_odd(text)
    if len(text) > MAX_DEPTH:
        limit_depth(value, text)
    return value


def peek(text: bytes | str) -> object:
    """Return the value of a JSON text as :func:`load` does; None for what cannot be read."""
    try:
        return load(text)
    except ValueError:
        return None


def is_object(text: bytes | str) -> bool:
    """Return whether a text is one whole JSON object."""
    return isinstance(peek(text), dict)


def _load_odd(text: bytes | str) -> object:
    """Return the value of a text that the strict reader refuses: half pairs are no error here."""
    words = text.decode() if isinstance(text, bytes) else text
    try:
        value: object = json.loads(words, parse_constant=refuse_constant)
    except RecursionError:
        raise TooDeepError from None
    return value


def limit_depth(value: object, source: bytes | str, start: int = 0, end: int = maxsize) -> None:
    """Do nothing for a value that is nested no deeper than ``MAX_DEPTH``.

    It was read from ``source``, from ``start`` to ``end``; only one with that many brackets is
    looked at closely.

    Raises:
        TooDeepError: it is nested deeper.
    """
    if not isinstance(value, dict | list):
        return
    if isinstance(source, bytes):
        brackets = source.count(b"{", start, end) + source.count(b"[", start, end)
    else:
        brackets = source.count("{", start, end) + source.count("[", start, end)
    if brackets > MAX_DEPTH and _depth_over(value, MAX_DEPTH):
        raise TooDeepError


def _depth_over(value: object, limit: int) -> bool:
    level = [value]
    for _ in range(limit + 1):
        below: list[object] = []
        for each in level:
            if isinstance(each, dict):
                below.extend(each.values())
            elif isinstance(each, list):
                below.extend(each)
        level = [each for each in below if isinstance(each, dict | list)]
        if not level:
            return False
    return True


def dump(value: object, default: Callable[[object], object] | None = None) -> bytes:
    """Return compact JSON of any value that was read, integers with all their digits.

    What is no Unicode in a string is written as U+FFFD; ``default`` writes values of other types.
    """
    try:
        return orjson.dumps(value, default)
    except orjson.JSONEncodeError:
        return orjson.dumps(_well_formed(value), default)


def join_surrogates(text: str) -> str:
    """Return ``text`` with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def whole_pairs(text: str) -> tuple[str, str]:
    """Return text that can be written now, and a trailing half of a surrogate pair to hold."""
    if text.isascii():
        return text, ""
    held = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
    return join_surrogates(text[: len(text) - len(held)]), held


def _well_formed(value: object) -> object:
    if isinstance(value, str):
        return join_surrogates(value)
    if isinstance(value, dict):
        return {join_surrogates(str(key)): _well_formed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_well_formed(item) for item in value]
    if is_dataclass(value):
        return {each.name: _well_formed(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, int) and not isinstance(value, bool) and value not in _INT64:
        return orjson.Fragment(str(value).encode())
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


def well_formed(value: object) -> str:
    """Return ``value`` as :func:`text` does, with U+FFFD for half pairs, which no message holds."""
    return join_surrogates(text(value))


def count(value: object) -> int | None:
    """Return ``value`` when it is a whole number from 0 to ``MAX_COUNT``, else None."""
    number = whole(value)
    return number if number is not None and 0 <= number <= MAX_COUNT else None


def latest(told: object, before: int | None) -> int | None:
    """Return the count that was told last, ``before`` while it is none."""
    found = count(told)
    return before if found is None else found


def whole(value: object) -> int | None:
    """Return ``value`` when it is a whole number (``5`` or ``5.0``), else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None
