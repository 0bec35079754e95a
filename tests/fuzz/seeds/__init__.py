"""Well-formed bodies, answers, streams and errors of every dialect, to be spoiled by fuzzing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Json = Mapping[str, object]


class Seeds(NamedTuple):
    """What one dialect says when all is well; an unnamed frame has an empty name."""

    requests: tuple[Json, ...]
    answers: tuple[Json, ...]
    streams: tuple[tuple[tuple[str, Json], ...], ...]
    errors: tuple[Json, ...]


SCHEMA: Json = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    "properties": {
        "path": {"type": "string", "pattern": "^[a-z]+$", "description": "Where."},
        "pattern": {"type": ["string", "null"]},
        "count": {"type": "integer", "exclusiveMinimum": 0, "default": 1},
        "tree": {"$ref": "#/$defs/node"},
        "kinds": {"type": "array", "uniqueItems": True, "items": {"enum": ["a", 1, None]}},
        "either": {"oneOf": [{"type": "string"}, {"const": 3}], "allOf": [{"minLength": 1}]},
        "bare": {"description": "Of any type."},
    },
    "required": ["path", "gone"],
    "additionalProperties": False,
    "anyOf": [{"required": ["path"]}, {"properties": {"count": {"type": "integer"}}}],
}
"""A schema with what other dialects refuse."""

USER_ID = '{"device_id":"d","account_uuid":"","session_id":"s"}'
