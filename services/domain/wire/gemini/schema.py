"""Tool schemas as this dialect takes them: a small part of JSON Schema, known keyword by keyword.

Schemas are hints for the model: what cannot be expressed is left out, and a schema of which nothing
can be kept is no schema at all. Numbers keep their digits.

Source: https://ai.google.dev/api/caching#Schema
"""

from __future__ import annotations

from services.domain.wire.exact import Number, dump_exact, load_exact
from services.domain.wire.gemini.folding import inlined, intersected
from services.domain.wire.subschemas import Json, with_inner

_KEPT = frozenset(
    [
        "title",
        "description",
        "nullable",
        "default",
        "example",
        "pattern",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    ]
)
_FORMATS = frozenset(["enum", "date-time", "float", "double", "int32", "int64"])
_TYPES = frozenset(["string", "number", "integer", "boolean", "object", "array"])
_BOUNDS = (("exclusiveMinimum", "minimum", True), ("exclusiveMaximum", "maximum", False))
_MAX_DEPTH = 32


def gemini_schema(source: bytes) -> bytes | None:
    """Return ``source`` reduced to what the dialect knows; None when nothing can be said.

    A schema that needs no change keeps its bytes.
    """
    try:
        schema = load_exact(source)
        if not isinstance(schema, dict):
            return None
        reduced = _reduced(inlined(schema), 0)
        if reduced == schema:
            return source
        return dump_exact(reduced) if reduced else None
    except (ValueError, RecursionError):  # references may nest what is written out of them
        return None


def plain_types(source: bytes) -> bytes:
    """Return a schema of this dialect as plain JSON Schema: its types in lower case, null as one.

    One that has them already, or cannot be read, keeps its bytes.
    """
    try:
        schema = load_exact(source)
    except ValueError:
        return source
    lowered = _lowered(schema) if isinstance(schema, dict) else schema
    return source if lowered == schema else dump_exact(lowered)


def _lowered(schema: Json) -> Json:
    told = with_inner(schema, _lowered)
    kind = told.get("type")
    if isinstance(kind, str) and kind.lower() in _TYPES:
        told["type"] = kind.lower()
    return _with_null(told)


def _with_null(schema: Json) -> Json:
    """Return a schema with null among its types, where it is nullable."""
    is_nullable = schema.get("nullable")
    if not isinstance(is_nullable, bool):
        return schema
    del schema["nullable"]
    if not is_nullable:
        return schema
    kind, values, branches = schema.get("type"), schema.get("enum"), schema.get("anyOf")
    if isinstance(kind, str):
        schema["type"] = [kind, "null"]
    if isinstance(values, list) and None not in values:
        schema["enum"] = [*values, None]
    if isinstance(branches, list):
        schema["anyOf"] = [*branches, {"type": "null"}]
    return schema


def _reduced(schema: object, depth: int) -> Json:
    """Return one schema with known keywords only, in the order in which they were written."""
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return {}
    schema = intersected(schema)
    told: Json = {}
    for key, value in schema.items():
        if key in _KEPT:
            told[key] = value
        elif key in ("anyOf", "oneOf") and isinstance(value, list):
            _alternatives(value, told, depth)
        else:
            _keyword(key, value, told, depth)
    for key, plain, is_lower in _BOUNDS:
        _widen(schema.get(key), plain, told, is_lower=is_lower)
    _limit_required(told)
    if isinstance(told.get("type"), str) and str(told["type"]).lower() == "array":
        told.setdefault("items", {})
    return told


def _keyword(key: str, value: object, told: Json, depth: int) -> None:
    match key:
        case "type":
            _type(value, told)
        case "properties" if isinstance(value, dict):
            told[key] = {name: _reduced(inner, depth + 1) for name, inner in value.items()}
        case "items" if isinstance(value, dict | bool):
            told[key] = _reduced(value, depth + 1)
        case "enum" if isinstance(value, list):
            words = [word for word in value if isinstance(word, str)]
            if words and len(words) == len([word for word in value if word is not None]):
                told[key] = words
                if None in value:
                    told["nullable"] = True
        case "const" if isinstance(value, str):
            told["enum"] = [value]
        case "format" if isinstance(value, str) and value in _FORMATS:
            told[key] = value
        case "required" | "propertyOrdering" if isinstance(value, list):
            told[key] = value
        case _:
            return


def _type(value: object, told: Json) -> None:
    """Say the type: one name, one name that may be null, or alternatives."""
    if isinstance(value, str):
        if value.lower() in _TYPES:
            told["type"] = value
        return
    names = value if isinstance(value, list) else []
    known = [name for name in names if isinstance(name, str) and name.lower() in _TYPES]
    if "null" in names:
        told["nullable"] = True
    if len(known) == 1:
        told["type"] = known[0]
    elif known:
        told["anyOf"] = [{"type": name} for name in known]


def _alternatives(branches: list[object], told: Json, depth: int) -> None:
    """Say ``anyOf``; a branch that is only null makes the schema nullable instead."""
    distinct: dict[bytes, Json] = {}
    for branch in branches:
        if isinstance(branch, dict) and branch.get("type") == "null":
            told["nullable"] = True
            continue
        reduced = _reduced(branch, depth + 1)
        if reduced:
            distinct.setdefault(dump_exact(reduced), reduced)
    found = list(distinct.values())
    if len(found) == 1 and not told.keys() & found[0].keys():
        told.update(found[0])
    elif found:
        told["anyOf"] = found


def _widen(bound: object, plain: str, told: Json, *, is_lower: bool) -> None:
    """Say an exclusive bound as an inclusive one; the stricter of both wins."""
    if not isinstance(bound, Number):
        return
    other = told.get(plain)
    if not isinstance(other, Number) or (float(bound) > float(other)) == is_lower:
        told[plain] = bound


def _limit_required(told: Json) -> None:
    """Keep only names of declared properties."""
    properties = told.get("properties")
    for key in ("required", "propertyOrdering"):
        names = told.get(key)
        if isinstance(names, list):
            known = properties if isinstance(properties, dict) else {}
            kept = [name for name in names if isinstance(name, str) and name in known]
            if kept:
                told[key] = kept
            else:
                del told[key]
