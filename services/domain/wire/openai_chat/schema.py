"""Tool schemas as chat upstreams take them.

Three things make compatible servers refuse a schema: ``pattern``, an array that does not say of
what, and an alternative without type. Keywords are known by their place: a *property* that is
called ``pattern`` is data. A schema that needs no change keeps its bytes.
"""

from __future__ import annotations

import hashlib

from services.domain.wire.exact import dump_exact, load_exact

_ALL_TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"]
_OF_SCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
_OF_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_OF_ONE = (
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
)
_NAMES_A_SHAPE = frozenset(
    ["type", "$ref", "enum", "const", "anyOf", "oneOf", "allOf", "properties", "items"]
)


def chat_schema(source: bytes) -> bytes:
    """Return ``source`` as a chat upstream takes it; what cannot be read stays as it is."""
    if b'"pattern"' not in source and b'"array"' not in source and b'"anyOf"' not in source:
        return source
    try:
        schema = load_exact(source)
        cleaned = _clean(schema)
        return source if cleaned == schema else dump_exact(cleaned)
    except ValueError:
        return source


def _clean(schema: object) -> object:
    if not isinstance(schema, dict):
        return schema
    cleaned: dict[str, object] = {}
    for key, value in schema.items():
        if key == "pattern" and isinstance(value, str):
            continue
        cleaned[key] = _member(key, value)
    if isinstance(schema.get("pattern"), str):
        _note_pattern(cleaned, schema["pattern"])
    if schema.get("type") == "array" and "items" not in schema and "prefixItems" not in schema:
        cleaned["items"] = {}
    return cleaned


def _member(key: str, value: object) -> object:
    if key in _OF_NAMED and isinstance(value, dict):
        return {name: _clean(inner) for name, inner in value.items()}
    if key in _OF_SCHEMAS and isinstance(value, list):
        branches = [_clean(inner) for inner in value]
        return [_typed(branch) for branch in branches] if key == "anyOf" else branches
    if key in _OF_ONE:
        return _clean(value)
    return value


def _typed(branch: object) -> object:
    if isinstance(branch, dict) and not _NAMES_A_SHAPE & branch.keys():
        return {"type": list(_ALL_TYPES), **branch}
    return branch


def _note_pattern(cleaned: dict[str, object], pattern: str) -> None:
    """Leave a digest, so that schemas that differ in a pattern only still differ."""
    note = f"[pattern {hashlib.sha256(pattern.encode('utf-8', 'replace')).hexdigest()[:8]}]"
    before = cleaned.get("description")
    cleaned["description"] = f"{before} {note}" if isinstance(before, str) and before else note
