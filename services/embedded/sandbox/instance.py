"""Makes a small JSON value that a schema accepts."""

from __future__ import annotations

from collections.abc import Mapping

Json = Mapping[str, object]

WORD = "sandbox"
MAX_DEPTH = 16
"""Deepest nesting that is followed; a schema that contains itself ends here."""


def instance(schema: object, root: Json | None = None, depth: int = 0) -> object:
    """Return a value that fits ``schema``: required members only, texts that say ``sandbox``."""
    if not isinstance(schema, Mapping) or depth > MAX_DEPTH:
        return None
    whole = schema if root is None else root
    if "const" in schema:
        return schema["const"]
    if "default" in schema:
        return schema["default"]
    match schema:
        case {"enum": [first, *_]}:
            return first
        case {"$ref": str(name)}:
            return instance(_referred(name, whole), whole, depth + 1)
        case {"anyOf": [first, *_]} | {"oneOf": [first, *_]}:
            return instance(first, whole, depth + 1)
        case {"allOf": [*parts]}:
            merged = {k: v for part in parts if isinstance(part, Mapping) for k, v in part.items()}
            return instance(merged, whole, depth + 1)
    return _of_type(schema, whole, depth)


def _of_type(schema: Json, root: Json, depth: int) -> object:
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
            item = instance(schema.get("items", {}), root, depth + 1)
            return [item] * (count if isinstance(count, int) else 0)
    properties = schema.get("properties")
    required = schema.get("required")
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return {}
    return {name: instance(properties.get(name), root, depth + 1) for name in required}


def _word(schema: Json) -> str:
    least, most = schema.get("minLength"), schema.get("maxLength")
    word = WORD.ljust(least, ".") if isinstance(least, int) else WORD
    return word[:most] if isinstance(most, int) else word


def _number(schema: Json) -> object:
    for key, step in (("minimum", 0), ("exclusiveMinimum", 1), ("maximum", 0)):
        bound = schema.get(key)
        if isinstance(bound, int | float) and not isinstance(bound, bool):
            is_above = key == "maximum" and bound >= 1
            return 1 if is_above else bound + step
    return 0 if schema.keys() & {"multipleOf", "exclusiveMaximum"} else 1


def _referred(name: str, root: Json) -> object:
    at: object = root
    for step in name.removeprefix("#").strip("/").split("/"):
        at = at.get(step) if isinstance(at, Mapping) and step else at
    return at
