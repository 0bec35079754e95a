"""Well-formed bodies, answers, streams and errors of every dialect, to be spoiled by fuzzing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from services.domain.vocab import WireFamily
from services.domain.wire.model import ProviderState
from services.domain.wire.state.sealing import Sealed, seal, with_state

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

_STATE = ProviderState(WireFamily.GEMINI, "signature", "c2ln", model="m")
SEALED = seal(Sealed(_STATE, is_of_call=True))
"""State of one vendor in what a client of another keeps."""
CARRYING_ID = with_state("call_9", _STATE)
"""Id of a call that carries state."""

USER_ID = '{"device_id":"d","account_uuid":"","session_id":"s"}'
