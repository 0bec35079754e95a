"""Blocks of an answer as parts, and the object that carries them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.wire.arguments import as_object
from services.domain.wire.gemini.parts import own_signature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.model import RenderContext, ToolUse

JsonPart = dict[str, object]


def text_part(words: str) -> JsonPart:
    """Return a part of visible text."""
    return {"text": words}


def thought_parts(words: str, signature: str, *, is_shown: bool) -> list[JsonPart]:
    """Return the parts of a thought; a signature without words stands on an empty text."""
    if words and is_shown:
        part: JsonPart = {"text": words, "thought": True}
    elif signature:
        part = {"text": ""}
    else:
        return []
    return [{**part, "thoughtSignature": signature} if signature else part]


def call_part(call: ToolUse) -> JsonPart:
    """Return the part of a call; what it holds is an object, whatever the model wrote."""
    args, _ = as_object(call.arguments)
    told: JsonPart = {"id": call.call_id} if call.call_id else {}
    part: JsonPart = {"functionCall": {**told, "name": call.name, "args": orjson.Fragment(args)}}
    signature = own_signature(call.state)
    if signature:
        part["thoughtSignature"] = signature
    return part


def answer_object(
    parts: Sequence[JsonPart], finish: str, answer_id: str, context: RenderContext
) -> dict[str, object]:
    """Return the answer object of one frame; without ``finish`` the answer goes on."""
    candidate: dict[str, object] = {"content": {"role": "model", "parts": list(parts)}}
    if finish:
        candidate["finishReason"] = finish
    candidate["index"] = 0
    return {
        "candidates": [candidate],
        "modelVersion": context.model_id,
        "responseId": answer_id,
    }
