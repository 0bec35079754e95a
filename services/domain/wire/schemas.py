"""Declared schemas of tools as validators: Draft 7, no remote reference, bounded patterns."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING

from jsonschema import Draft7Validator, ValidationError, validators
from jsonschema.exceptions import SchemaError
from referencing import Registry
from referencing.exceptions import Unresolvable

from services.domain.wire.patterns import is_match
from services.domain.wire.reading import load, mapping, rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, TypeAlias

    from jsonschema.protocols import Validator

    _Json: TypeAlias = Any  # what its stubs take for JSON is a union that no reader returns

MAX_ERRORS = 128
"""Faults of one value that are looked at."""

_FAILURES = (Unresolvable, RecursionError, ArithmeticError, TypeError, ValueError, LookupError)
"""What a validator may meet in a schema that is well-formed and still of no use."""


MAX_CACHED_BYTES = 16 * 1024
"""Schemas up to this size are kept: a client declares the same ones on every turn."""


class UncheckableError(Exception):
    """A schema that nothing can be checked against."""


def extra_keys(value: Mapping[str, object], schema: Mapping[str, object]) -> list[str]:
    """Return the keys of a value that its schema names neither by name nor by pattern."""
    named = mapping(schema.get("properties"))
    patterns = mapping(schema.get("patternProperties"))
    return [
        key
        for key in value
        if key not in named and not any(is_match(pattern, key) is not False for pattern in patterns)
    ]


class Schema:
    """One tool's schema, ready to check arguments."""

    def __init__(self, source: bytes) -> None:
        """Read the schema.

        Raises:
            UncheckableError: it is no schema.
        """
        try:
            told = load(source)
            if not isinstance(told, dict):
                raise UncheckableError
            _Validator.check_schema(told)
            self._validator = _Validator(told, registry=Registry())
        except (SchemaError, *_FAILURES) as error:
            raise UncheckableError from error
        named = [name for name in rows(told.get("required")) if isinstance(name, str)]
        self.optional = frozenset(mapping(told.get("properties"))) - frozenset(named)
        """Members that are declared and need not be there."""

    def faults(self, value: object) -> list[ValidationError]:
        """Return what is wrong with ``value``; nothing: it is valid.

        Raises:
            UncheckableError: the schema fails on it.
        """
        found: list[ValidationError] = []
        try:
            for fault in self._validator.iter_errors(value):
                found.append(fault)
                if len(found) >= MAX_ERRORS:
                    break
        except _FAILURES as error:
            raise UncheckableError from error
        return found


def schema_of(source: bytes) -> Schema:
    """Return the schema that a tool declares.

    Raises:
        UncheckableError: it is no schema.
    """
    return Schema(source) if len(source) > MAX_CACHED_BYTES else _cached(source)


@functools.lru_cache(maxsize=256)
def _cached(source: bytes) -> Schema:
    return Schema(source)


def _pattern(
    validator: Validator, pattern: object, value: object, schema: Mapping[str, object]
) -> Iterator[ValidationError]:
    if isinstance(value, str) and isinstance(pattern, str) and is_match(pattern, value) is False:
        yield ValidationError("does not match the pattern")


def _pattern_properties(
    validator: Validator, patterns: object, value: object, schema: Mapping[str, object]
) -> Iterator[ValidationError]:
    for pattern, inner in mapping(patterns).items():
        for key, member in mapping(value).items():
            # What cannot be said in time holds no member to a schema.
            if is_match(pattern, key):
                yield from _within(validator, key, member, inner)


def _within(
    validator: Validator, key: str, member: _Json, schema: object
) -> Iterator[ValidationError]:
    """Yield the faults of a member, each under its key."""
    for fault in validator.evolve(schema=schema).iter_errors(member):
        fault.path.appendleft(key)
        yield fault


def _additional(
    validator: Validator, additional: object, value: object, schema: Mapping[str, object]
) -> Iterator[ValidationError]:
    if not isinstance(value, dict) or additional is True:
        return
    extras = extra_keys(value, schema)
    if isinstance(additional, dict):
        for key in extras:
            yield from _within(validator, key, value[key], additional)
    elif extras:
        yield ValidationError("has members that are not allowed")


def _unique(
    validator: Validator, unique: object, value: object, schema: Mapping[str, object]
) -> Iterator[ValidationError]:
    if not unique or not isinstance(value, list):
        return
    if len({json.dumps(each, sort_keys=True) for each in value}) < len(value):
        yield ValidationError("has an item twice")


_Validator = validators.extend(  # type: ignore[no-untyped-call]  # its stubs say nothing of it
    Draft7Validator,
    {
        "additionalProperties": _additional,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "uniqueItems": _unique,
    },
)
