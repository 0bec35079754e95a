"""Tool schemas as chat upstreams take them.

Three things make compatible servers refuse a schema: ``pattern``, an array that does not say of
what, and an alternative without type. A schema that needs no change keeps its bytes.
"""

from __future__ import annotations

import hashlib

from services.domain.wire.exact import dump_exact, load_exact
from services.domain.wire.subschemas import Json, with_inner

_ALL_TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"]
_NAMES_A_SHAPE = frozenset(
    ["type", "$ref", "enum", "const", "anyOf", "oneOf", "allOf", "properties", "items"]
)


def chat_schema(source: bytes) -> bytes:
    """Return ``source`` as a chat upstream takes it; what cannot be read stays as it is."""
    if b'"pattern"' not in source and b'"array"' not in source and b'"anyOf"' not in source:
        return source
    try:
        schema = load_exact(source)
    except ValueError:
        return source
    cleaned = _clean(schema) if isinstance(schema, dict) else schema
    return source if cleaned == schema else dump_exact(cleaned)


def _clean(schema: Json) -> Json:
    cleaned = with_inner(schema, _clean)
    branches, pattern = cleaned.get("anyOf"), cleaned.get("pattern")
    if isinstance(branches, list):
        cleaned["anyOf"] = [_typed(branch) for branch in branches]
    if isinstance(pattern, str):
        del cleaned["pattern"]
        _note_pattern(cleaned, pattern)
    if schema.get("type") == "array" and "items" not in schema and "prefixItems" not in schema:
        cleaned["items"] = {}
    return cleaned


def _typed(branch: object) -> object:
    if isinstance(branch, dict) and not _NAMES_A_SHAPE & branch.keys():
        return {"type": list(_ALL_TYPES), **branch}
    return branch


def _note_pattern(cleaned: Json, pattern: str) -> None:
    """Leave a digest, so that schemas that differ in a pattern only still differ."""
    note = f"[pattern {hashlib.sha256(pattern.encode('utf-8', 'replace')).hexdigest()[:8]}]"
    before = cleaned.get("description")
    cleaned["description"] = f"{before} {note}" if isinstance(before, str) and before else note
