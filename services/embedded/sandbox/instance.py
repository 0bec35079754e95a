"""Makes a small JSON value that a schema accepts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import repeat

Json = Mapping[str, object]

WORD = "sandbox"
MAX_DEPTH = 16
"""Deepest nesting that is followed; a schema that contains itself ends here."""
MAX_PARTS = 4_096
"""Most schemas that are followed for one value: one that contains itself twice would double."""
MAX_SIZE = 1_024
"""Longest text and list that a schema is given; it may ask for more than there is memory."""


def instance(schema: object) -> object:
    """Return a value that fits ``schema``: required members only, texts that say ``sandbox``."""
    return _part(schema, schema, repeat(True, MAX_PARTS), 0)


def _part(schema: object, whole: object, left: Iterator[bool], depth: int) -> object:
    """Return a value for a part of the ``whole``; each part takes one of those ``left``."""
    if not isinstance(schema, Mapping) or depth > MAX_DEPTH or not next(left, False):
        return None
    if "const" in schema:
        return schema["const"]
    if "default" in schema:
        return schema["default"]
    match schema:
        case {"enum": [first, *_]}:
            return first
        case {"$ref": str(name)}:
            return _part(_referred(name, whole), whole, left, depth + 1)
        case {"anyOf": [first, *_]} | {"oneOf": [first, *_]}:
            return _part(first, whole, left, depth + 1)
        case {"allOf": [*parts]}:
            merged = {k: v for part in parts if isinstance(part, Mapping) for k, v in part.items()}
            return _part(merged, whole, left, depth + 1)
    return _of_type(schema, whole, left, depth)


def _of_type(schema: Json, whole: object, left: Iterator[bool], depth: int) -> object:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0] if kind else None
    match kind:
        case "string":
            return _word(schema)
        case "integer" | "number":
            return _number(schema)
        case "boolean":
            return False
        case "null":
            return None
        case "array":
            count = schema.get("minItems")
            size = min(count, MAX_SIZE) if isinstance(count, int) else 0
            return [_part(schema.get("items", {}), whole, left, depth + 1) for _ in range(size)]
    properties = schema.get("properties")
    required = schema.get("required")
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return {}
    return {name: _part(properties.get(name), whole, left, depth + 1) for name in required}


def _word(schema: Json) -> str:
    least, most = schema.get("minLength"), schema.get("maxLength")
    word = WORD.ljust(min(least, MAX_SIZE), ".") if isinstance(least, int) else WORD
    return word[:most] if isinstance(most, int) else word


def _number(schema: Json) -> object:
    for key, step in (("minimum", 0), ("exclusiveMinimum", 1), ("maximum", 0)):
        bound = schema.get(key)
        if isinstance(bound, int | float) and not isinstance(bound, bool):
            is_above = key == "maximum" and bound >= 1
            return 1 if is_above else bound + step
    return 0 if schema.keys() & {"multipleOf", "exclusiveMaximum"} else 1


def _referred(name: str, whole: object) -> object:
    at = whole
    for step in name.removeprefix("#").strip("/").split("/"):
        at = at.get(step) if isinstance(at, Mapping) and step else at
    return at
