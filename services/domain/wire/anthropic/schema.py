"""Tool schemas as the Messages dialect takes them."""

from __future__ import annotations

from services.domain.wire.exact import dump_exact, load_exact
from services.domain.wire.reading import mapping, rows
from services.domain.wire.subschemas import EMPTY_SCHEMA, Json, with_inner

OPEN_SCHEMA = b'{"type":"object","additionalProperties":true}'
"""Schema of a tool that is known from the history only."""

_UNIONS = ("allOf", "anyOf", "oneOf")


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
        if b'"pattern"' in schema and (bare := _without_patterns(value)) != value:
            value = bare
            codes.append("schema_pattern_dropped")
        if not codes:
            return schema, ()
        return dump_exact(value), tuple(codes)
    except ValueError:
        return EMPTY_SCHEMA, ("schema_replaced",)


def _folded(root: Json) -> Json:
    """Return the root with the branches of its unions merged into its properties.

    A branch of ``allOf`` binds, so what it requires is required; one of the others is a choice.
    """
    folded = {key: value for key, value in root.items() if key not in _UNIONS}
    properties = dict(mapping(folded.get("properties")))
    required = _names(folded.get("required"))
    for union in _UNIONS:
        for branch in map(mapping, rows(root.get(union))):
            for name, declared in mapping(branch.get("properties")).items():
                properties.setdefault(name, declared)
            if union == "allOf":
                required += _names(branch.get("required"))
    folded["type"] = "object"
    folded["properties"] = properties
    if required:
        folded["required"] = list(dict.fromkeys(required))
    return folded


def _without_patterns(schema: Json) -> Json:
    bare = with_inner(schema, _without_patterns)
    if isinstance(bare.get("pattern"), str):
        del bare["pattern"]
    return bare


def _names(value: object) -> list[str]:
    return [name for name in rows(value) if isinstance(name, str)]
