"""Checks and units of single fields. Every complaint names the field and what it must be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.errors import InvalidRequestError
from services.planner.model.question import Binding

if TYPE_CHECKING:
    from pointsman.common.v1 import binding_pb2

MAX_COUNT = 2**31
"""Token counts are below it."""
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


def count(value: int, field: str) -> int:
    """Return a number of tokens, [0, 2^31).

    Raises:
        InvalidRequestError: it is out of range.
    """
    if not 0 <= value < MAX_COUNT:
        raise InvalidRequestError.of(field, f"must be at least 0 and below {MAX_COUNT}")
    return value


def within(value: float, most: float, field: str) -> float:
    """Return a number in [0, most].

    Raises:
        InvalidRequestError: it is out of range or not a number.
    """
    if not 0.0 <= value <= most:
        raise InvalidRequestError.of(field, f"must be a number from 0 to {most:g}")
    return value


def usd(micro_usd: int, field: str) -> float:
    """Return money, or a price per million tokens, that is at least 0.

    Raises:
        InvalidRequestError: it is below 0.
    """
    if micro_usd < 0:
        raise InvalidRequestError.of(field, "must be at least 0")
    return micro_usd / _MICRO


def signed_usd(micro_usd: int) -> float:
    """Return money of either sign."""
    return micro_usd / _MICRO


def micro_usd(amount_usd: float) -> int:
    """Return whole micro-USD, rounded half away from zero and kept within 64 bits."""
    size = abs(amount_usd) * _MICRO
    whole = int(size)
    rounded = whole + (size - whole >= 0.5)
    signed = rounded if amount_usd >= 0 else -rounded
    if _INT64_MIN <= signed <= _INT64_MAX:
        return signed
    return _INT64_MAX if signed > 0 else _INT64_MIN


def binding(message: binding_pb2.BindingRef, field: str) -> Binding:
    """Return a binding whose model and provider are named.

    Raises:
        InvalidRequestError: one of them is not.
    """
    return Binding(
        text(message.model_id, f"{field}.model_id"),
        text(message.provider, f"{field}.provider"),
        message.upstream_id,
        message.binding_index,
    )
