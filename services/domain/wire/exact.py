"""JSON whose numbers are written again as they were read, for what is edited and sent on."""

from __future__ import annotations

import json

import orjson

from services.domain.wire.reading import TooDeepError, dump, limit_depth, refuse_constant


class Number:
    """A number by its digits."""

    __slots__ = ("lexeme",)

    def __init__(self, lexeme: str) -> None:
        self.lexeme = lexeme

    def __float__(self) -> float:
        return float(self.lexeme)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and self.lexeme == other.lexeme

    def __hash__(self) -> int:
        return hash(self.lexeme)


def load_exact(source: bytes) -> object:
    """Return the value of a JSON text with every number as a :class:`Number`.

    Raises:
        ValueError: the text is no JSON, or is nested too deeply.
    """
    try:
        value: object = json.loads(
            source.decode(), parse_float=Number, parse_int=Number, parse_constant=refuse_constant
        )
    except RecursionError:
        raise TooDeepError from None
    limit_depth(value, source)
    return value


def dump_exact(value: object) -> bytes:
    """Return compact JSON; numbers that were read by :func:`load_exact` keep their digits."""
    return dump(value, _as_written)


def _as_written(value: object) -> object:
    if isinstance(value, Number):
        return orjson.Fragment(value.lexeme.encode())
    raise TypeError(f"{type(value).__name__} is no JSON")
