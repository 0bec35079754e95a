"""Schemas of tools as this dialect takes them.

A tool is strict only when its client asked for it *and* its schema has the strict form already:
every object closed, all its properties required, and no keyword that strict mode refuses. Forcing
other schemas into that form would make models send null for what a client left optional.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.reading import mapping, peek, rows
from services.domain.wire.subschemas import DEFINITIONS, EMPTY_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_STRICT_DEPTH = 10
MAX_STRICT_PROPERTIES = 1000

_REFUSED = frozenset(
    [
        "oneOf",
        "allOf",
        "not",
        "if",
        "then",
        "else",
        "patternProperties",
        "prefixItems",
        "dependentRequired",
        "dependentSchemas",
        "$schema",
        "$id",
        "ref",
    ]
)
_NAMES_A_SHAPE = frozenset(["type", "$ref", "enum", "const", "anyOf"])


def rooted_schema(source: bytes) -> bytes:
    """Return ``source`` with an object at its root, which the dialect demands."""
    schema = peek(source)
    if not isinstance(schema, dict):
        return EMPTY_SCHEMA
    if schema.get("type") == "object":
        return source
    if "type" in schema or any(key in schema for key in ("anyOf", "oneOf", "allOf", "$ref")):
        return source
    rest = source.strip()[1:]
    comma = b"" if rest.lstrip().startswith(b"}") else b","
    return b'{"type":"object"' + comma + rest


def is_strict_form(source: bytes) -> bool:
    """Return whether strict mode takes the schema as it is."""
    told = mapping(peek(source))
    if told.get("type") != "object":
        return False
    names = _names_of_definitions(told)
    check = _Check(names)
    return check.accepts(told, 0) and check.properties <= MAX_STRICT_PROPERTIES


def _names_of_definitions(schema: Mapping[str, object]) -> frozenset[str]:
    return frozenset(f"#/{key}/{name}" for key in DEFINITIONS for name in mapping(schema.get(key)))


class _Check:
    """Walks one schema and counts its properties."""

    def __init__(self, definitions: frozenset[str]) -> None:
        self.properties = 0
        self._definitions = definitions | {"#"}

    def accepts(self, schema: object, depth: int) -> bool:
        """Whether this schema and all below it have the strict form."""
        if not isinstance(schema, dict) or depth > MAX_STRICT_DEPTH:
            return False
        if _REFUSED & schema.keys() or not _NAMES_A_SHAPE & schema.keys():
            return False
        if "$ref" in schema and schema["$ref"] not in self._definitions:
            return False
        below = [*rows(schema.get("anyOf")), *self._inner(schema)]
        return self._is_closed(schema) and all(self.accepts(each, depth + 1) for each in below)

    def _inner(self, schema: Mapping[str, object]) -> list[object]:
        properties = mapping(schema.get("properties"))
        self.properties += len(properties)
        inner = [*properties.values()]
        for key in DEFINITIONS:
            inner += mapping(schema.get(key)).values()
        if "array" in _types(schema):
            inner.append(schema.get("items"))
        return inner

    def _is_closed(self, schema: Mapping[str, object]) -> bool:
        if "object" not in _types(schema) and "properties" not in schema:
            return True
        required = {name for name in rows(schema.get("required")) if isinstance(name, str)}
        is_all = required == set(mapping(schema.get("properties")))
        return schema.get("additionalProperties") is False and is_all


def _types(schema: Mapping[str, object]) -> list[object]:
    kind = schema.get("type")
    return kind if isinstance(kind, list) else [kind]
