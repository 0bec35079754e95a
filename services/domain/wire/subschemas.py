"""The schemas inside a JSON Schema.

Keywords are known by their place: a *property* that is called ``pattern`` is data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, object]

EMPTY_SCHEMA = b'{"type":"object","properties":{}}'
"""Schema of a tool that declares none."""

DEFINITIONS = ("$defs", "definitions")
_OF_NAMED = frozenset(["properties", "patternProperties", "dependentSchemas", *DEFINITIONS])
_OF_MANY = frozenset(["allOf", "anyOf", "oneOf", "prefixItems", "items"])
_OF_ONE = frozenset(
    [
        "additionalProperties",
        "contains",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    ]
)


def with_inner(schema: Json, change: Callable[[Json], Json]) -> Json:
    """Return ``schema`` with each schema directly inside it as ``change`` makes it.

    One that is only true or false stays.
    """
    told = dict(schema)
    for key, value in schema.items():
        if key in _OF_NAMED and isinstance(value, dict):
            told[key] = {
                name: change(inner) if isinstance(inner, dict) else inner
                for name, inner in value.items()
            }
        elif key in _OF_MANY and isinstance(value, list):
            told[key] = [change(inner) if isinstance(inner, dict) else inner for inner in value]
        elif key in _OF_ONE and isinstance(value, dict):
            told[key] = change(value)
    return told
