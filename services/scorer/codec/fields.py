"""The check of fields that only this contract has."""

from __future__ import annotations

from services.domain.errors import FieldViolation, InvalidRequestError, Reason


def knob(value: float, most: float, field: str) -> float:
    """Return a knob in [0, most].

    Raises:
        InvalidRequestError: it is out of range or not a number; the reason says that it is a knob.
    """
    if not 0 <= value <= most:
        fault = FieldViolation(field, f"must be a number from 0 to {most:g}")
        raise InvalidRequestError((fault,), reason=Reason.INVALID_ROUTING_KNOBS)
    return value
