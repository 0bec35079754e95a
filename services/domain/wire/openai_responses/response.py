"""Whole answers of this dialect, to and from canonical ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.assemble import shown_usage, without_half_call
from services.domain.wire.custom_tools import MALFORMED, MalformedCallError
from services.domain.wire.model import Refusal, Response, ToolUse, WireError
from services.domain.wire.openai_responses.answer import answer_object, item_of
from services.domain.wire.openai_responses.error import error_member
from services.domain.wire.openai_responses.output import (
    blocks_of,
    ending_of,
    failure_of,
    stop_of,
)
from services.domain.wire.openai_responses.tools import call_forms
from services.domain.wire.openai_responses.usage import usage_of
from services.domain.wire.reading import dump, mapping, peek, rows, text

if TYPE_CHECKING:
    from services.domain.wire.model import Block, RenderContext


def decode_response(body: bytes) -> Response:
    """Return the canonical form of a whole answer.

    Raises:
        WireError: the body is no answer: an error, a failed one, or one that is not finished.
    """
    answer = peek(body)
    if not isinstance(answer, dict):
        raise WireError("", "answer is not a JSON object")
    if answer.get("error") or failure_of(answer) is not None:
        raise WireError("error", "answer is an error")
    if not isinstance(answer.get("output"), list):
        raise WireError("output", "answer has no output")
    if answer.get("status") in ("queued", "in_progress"):
        raise WireError("status", "answer is not finished")
    response_id = text(answer.get("id"))
    found = [
        block
        for ordinal, item in enumerate(rows(answer.get("output")))
        for block in blocks_of(mapping(item), response_id, ordinal)
    ]
    blocks = without_half_call(found, stop_of(answer, has_calls=False, has_refusal=False))
    return Response(
        id=response_id,
        model=text(answer.get("model")),
        blocks=tuple(blocks),
        stop=stop_of(answer, has_calls=_has(blocks, ToolUse), has_refusal=_has(blocks, Refusal)),
        usage=usage_of(answer.get("usage")),
    )


def _has(blocks: list[Block], kind: type[ToolUse] | type[Refusal]) -> bool:
    return any(isinstance(block, kind) for block in blocks)


def encode_response(response: Response, context: RenderContext) -> bytes:
    """Return ``response`` as a whole answer: one item for each block, in order."""
    forms = call_forms(context.tools)
    blocks = without_half_call(response.blocks, response.stop)
    response_id = context.new_id("resp_")
    status, reason = ending_of(
        response.stop, has_output=bool(blocks), has_refusal=_has(blocks, Refusal)
    )
    error = error_member(MALFORMED) if status == "failed" else None
    try:
        items = [item for block in blocks if (item := item_of(block, context, forms)) is not None]
    except MalformedCallError:
        items, status, reason, error = [], "failed", None, error_member(MALFORMED)
    answer = answer_object(
        response_id,
        context,
        status,
        items,
        usage=shown_usage(response, context),
        cut_reason=reason,
        error=error,
    )
    return dump(answer)
