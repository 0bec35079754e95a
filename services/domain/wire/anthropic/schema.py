"""Tool schemas as the Messages dialect takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.exact import dump_exact, load_exact

if TYPE_CHECKING:
    from collections.abc import Mapping

EMPTY_SCHEMA = b'{"type":"object","properties":{}}'
"""Schema of a tool that declares none."""

OPEN_SCHEMA = b'{"type":"object","additionalProperties":true}'
"""Schema of a tool that is known from the history only."""

_UNIONS = ("allOf", "anyOf", "oneOf")
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SINGLES = (
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
)
_LISTS = (*_UNIONS, "prefixItems", "items")


def clean_schema(schema: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return a schema whose root is an object, without ``pattern``, and the codes of what was done.

    A schema that needs nothing keeps its bytes. Keywords are told by their position: a property
    that happens to be called ``pattern`` stays. What cannot be read becomes the empty object.
    """
    try:
        value = load_exact(schema)
        if not isinstance(value, dict):
            return EMPTY_SCHEMA, ("schema_replaced",)
        codes: list[str] = []
        if any(isinstance(value.get(key), list) for key in _UNIONS):
            value = _folded(value)
            codes.append("schema_root_folded")
        if value.get("type") != "object":
            value = {**value, "type": "object"}
            codes.append("schema_root_object")
        if b'"pattern"' in schema and _drop_patterns(value):
            codes.append("schema_pattern_dropped")
        if not codes:
            return schema, ()
        return dump_exact(value), tuple(codes)
    except ValueError:
        return EMPTY_SCHEMA, ("schema_replaced",)


def _folded(root: Mapping[str, object]) -> dict[str, object]:
    """Return the root with the branches of its unions merged into its properties.

    A branch of ``allOf`` binds, so what it requires is required; one of the others is a choice.
    """
    folded = {key: value for key, value in root.items() if key not in _UNIONS}
    properties = _mapping(folded.get("properties"))
    required = _names(folded.get("required"))
    for union in _UNIONS:
        branches = root.get(union)
        for branch in branches if isinstance(branches, list) else []:
            for name, declared in _mapping(_mapping(branch).get("properties")).items():
                properties.setdefault(name, declared)
            if union == "allOf":
                required += _names(_mapping(branch).get("required"))
    folded["type"] = "object"
    folded["properties"] = properties
    if required:
        folded["required"] = list(dict.fromkeys(required))
    return folded


def _drop_patterns(schema: object) -> bool:
    """Remove ``pattern`` keywords in place; return whether there were any."""
    if not isinstance(schema, dict):
        return False
    found = isinstance(schema.get("pattern"), str)
    if found:
        del schema["pattern"]
    for key in _MAPS:
        for child in _mapping(schema.get(key)).values():
            found |= _drop_patterns(child)
    for key in _SINGLES:
        found |= _drop_patterns(schema.get(key))
    for key in _LISTS:
        children = schema.get(key)
        for child in children if isinstance(children, list) else []:
            found |= _drop_patterns(child)
    return found


def _mapping(value: object) -> dict[str, object]:
    return dict(value) if isinstance(value, dict) else {}


def _names(value: object) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
