"""Whole answers of this dialect, to and from canonical ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.assemble import Assembler, shown_usage, without_half_call
from services.domain.wire.gemini.parts import own_signature, read_chunk
from services.domain.wire.gemini.render import (
    answer_object,
    call_part,
    text_part,
    thought_parts,
)
from services.domain.wire.gemini.stops import finish_of
from services.domain.wire.gemini.stream import GeminiStreamDecoder
from services.domain.wire.gemini.usage import usage_member
from services.domain.wire.model import (
    Refusal,
    Text,
    Thinking,
    ToolUse,
    WireError,
)
from services.domain.wire.reading import dump

if TYPE_CHECKING:
    from services.domain.wire.gemini.render import JsonPart
    from services.domain.wire.model import RenderContext, Response


def decode_response(body: bytes) -> Response:
    """Return the canonical form of a whole answer; of several candidates the first counts.

    Raises:
        WireError: the body is no answer; an error body and an answer without end included.
    """
    chunk = read_chunk(body)
    if chunk is None:
        raise WireError("", "answer is not a JSON object")
    if chunk.told.get("error"):
        raise WireError("error", "answer is an error")
    assembler = Assembler()
    assembler.feed(GeminiStreamDecoder().whole(chunk))
    if assembler.response is None:
        why = assembler.failure.error.vendor_code if assembler.failure else ""
        raise WireError("candidates[0]", f"answer is not complete: {why}")
    return assembler.response


def encode_response(response: Response, context: RenderContext) -> bytes:
    """Return ``response`` as a whole answer object."""
    parts: list[JsonPart] = []
    for block in without_half_call(response.blocks, response.stop):
        match block:
            case Text(text=words) | Refusal(text=words):
                parts += [text_part(words)] if words else []
            case Thinking(text=words, state=state):
                is_shown = context.is_reasoning_wanted
                parts += thought_parts(words, own_signature(state), is_shown=is_shown)
            case ToolUse():
                parts.append(call_part(block))
            case _:
                continue
    finish = finish_of(response.stop)
    answer = answer_object(parts or [text_part("")], finish, context.new_id(""), context)
    answer["usageMetadata"] = usage_member(shown_usage(response, context))
    return dump(answer)
