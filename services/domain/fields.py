"""Fields of messages: what fills them in, checks of single ones, and money on the wire.

Every complaint names the field and what it must be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

from services.domain.errors import InvalidRequestError

Fields: TypeAlias = Mapping[str, object]
"""The fields of a message by their names; None is an absent one.

They are filled in where they belong: a message within another is written and read again on each
level that it passes.
"""

MAX_COUNT = 2**31
"""Token counts are below it."""
MAX_FIRST_ATTEMPT = 1_000_000
"""Others are counted on from it, in 32 bits."""
SESSION_KEY_BYTES = 16
_ACTION_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_MICRO = 1e6
_INT64_MAX = 2**63 - 1
_INT64_MIN = -(2**63)


def text(value: str, field: str) -> str:
    """Return a required text.

    Raises:
        InvalidRequestError: it is empty.
    """
    if not value:
        raise InvalidRequestError.of(field, "must not be empty")
    return value


def header(value: str, field: str) -> str:
    """Return a text that goes into an HTTP header.

    Raises:
        InvalidRequestError: none can hold it.
    """
    if _CONTROL.search(value):
        raise InvalidRequestError.of(field, "must be one line without control characters")
    return value


def header_name(value: str, field: str) -> str:
    """Return the name of an HTTP header, in lower case.

    Raises:
        InvalidRequestError: it is none.
    """
    if not _HEADER_NAME.fullmatch(value):
        raise InvalidRequestError.of(field, "must be the name of a header")
    return value.lower()


def action_id(value: str, field: str) -> str:
    """Return the name of an action; it is a part of keys and of lines in logs.

    Raises:
        InvalidRequestError: it is no such name.
    """
    if not _ACTION_ID.fullmatch(value):
        raise InvalidRequestError.of(field, "must be 1 to 64 letters, digits, _ or -")
    return value


def session_key(value: bytes, field: str) -> bytes:
    """Return the key of a session; empty: there is none.

    Raises:
        InvalidRequestError: it has another length.
    """
    if len(value) not in (0, SESSION_KEY_BYTES):
        raise InvalidRequestError.of(field, f"must be empty or {SESSION_KEY_BYTES} bytes")
    return value


def count(value: int, field: str) -> int:
    """Return a number of tokens or things, [0, 2^31).

    Raises:
        InvalidRequestError: it is out of range.
    """
    if not 0 <= value < MAX_COUNT:
        raise InvalidRequestError.of(field, f"must be at least 0 and below {MAX_COUNT}")
    return value


def first_attempt(value: int, field: str) -> int:
    """Return the number of a first attempt.

    Raises:
        InvalidRequestError: it is out of range.
    """
    if not 1 <= value <= MAX_FIRST_ATTEMPT:
        raise InvalidRequestError.of(field, f"must be 1 to {MAX_FIRST_ATTEMPT}")
    return value


def within(value: float, most: float, field: str) -> float:
    """Return a number in [0, most].

    Raises:
        InvalidRequestError: it is out of range or not a number.
    """
    if not 0.0 <= value <= most:
        raise InvalidRequestError.of(field, f"must be a number from 0 to {most:g}")
    return value


def usd(micro_usd: int) -> float:
    """Return money of either sign."""
    return micro_usd / _MICRO


def micro_usd(amount_usd: float) -> int:
    """Return whole micro-USD, rounded half away from zero and kept within 64 bits."""
    size = abs(amount_usd) * _MICRO
    if not size < _INT64_MAX:
        return _INT64_MIN if amount_usd < 0 else _INT64_MAX
    whole = int(size)
    rounded = whole + (size - whole >= 0.5)
    return rounded if amount_usd >= 0 else -rounded
