"""Checks of single fields. Every complaint names the field and what it must be."""

from __future__ import annotations

import math

from services.domain.errors import FieldViolation, InvalidRequestError, Reason

MAX_COUNT = 2**31
"""Token counts are below it."""
_MICRO = 1e6
_INT64_MAX = 2**63 - 1


def text(value: str, field: str) -> str:
    """Return a required text.

    Raises:
        InvalidRequestError: it is empty.
    """
    if not value:
        raise InvalidRequestError.of(field, "must not be empty")
    return value


def count(value: int, field: str) -> int:
    """Return a number of tokens or things, [0, 2^31).

    Raises:
        InvalidRequestError: it is out of range.
    """
    if not 0 <= value < MAX_COUNT:
        raise InvalidRequestError.of(field, f"must be at least 0 and below {MAX_COUNT}")
    return value


def share(value: float, field: str) -> float:
    """Return a number in [0, 1].

    Raises:
        InvalidRequestError: it is out of range or not a number.
    """
    if not 0.0 <= value <= 1.0:
        raise InvalidRequestError.of(field, "must be a number from 0 to 1")
    return value


def knob(value: float, most: float, field: str) -> float:
    """Return a knob in [0, most].

    Raises:
        InvalidRequestError: it is out of range or not a number; the reason says that it is a knob.
    """
    if not 0 <= value <= most:
        fault = FieldViolation(field, f"must be a number from 0 to {most:g}")
        raise InvalidRequestError((fault,), reason=Reason.INVALID_ROUTING_KNOBS)
    return value


def micro_usd(amount_usd: float) -> int:
    """Return whole micro-USD of an amount of at least 0, rounded half up, within 64 bits."""
    scaled = amount_usd * _MICRO
    return min(math.floor(scaled + 0.5), _INT64_MAX) if scaled < _INT64_MAX else _INT64_MAX


def usd(micro: int) -> float:
    """Return an amount in USD."""
    return micro / _MICRO
