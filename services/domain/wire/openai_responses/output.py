"""Items of an upstream's ``output`` as blocks, and how an answer ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.custom_tools import arguments_of
from services.domain.wire.ids import made_call_id
from services.domain.wire.model import (
    Refusal,
    Stop,
    StopReason,
    Text,
    ToolUse,
    UpstreamError,
)
from services.domain.wire.openai_responses.error import told_error
from services.domain.wire.openai_responses.state import thinking_of
from services.domain.wire.openai_responses.tools import flat_name
from services.domain.wire.reading import join_surrogates, mapping, rows, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Block, Thinking

CALLS = frozenset(["function_call", "custom_tool_call"])


def blocks_of(item: Mapping[str, object], response_id: str, ordinal: int) -> list[Block]:
    """Return the blocks of one output item; ``ordinal`` is its place, for calls without id.

    Items of tools that the vendor runs itself have no block: what they found is in the text.
    """
    kind = text(item.get("type"))
    if kind == "message":
        return [block for part in rows(item.get("content")) if (block := _said(mapping(part)))]
    if kind == "reasoning":
        thinking = whole_thinking(item)
        return [thinking] if thinking.text or thinking.state else []
    if kind in CALLS:
        call = call_of(item, response_id, ordinal)
        return [] if call is None else [call]
    return []


def _said(part: Mapping[str, object]) -> Block | None:
    if part.get("type") == "refusal":
        words = text(part.get("refusal"))
        return Refusal(join_surrogates(words)) if words else None
    words = text(part.get("text"))
    return Text(join_surrogates(words)) if words else None


def whole_thinking(item: Mapping[str, object]) -> Thinking:
    """Return a reasoning item as a block that can be written again."""
    thinking = thinking_of(item)
    return type(thinking)(join_surrogates(thinking.text), thinking.state)


def call_of(item: Mapping[str, object], response_id: str, ordinal: int) -> ToolUse | None:
    """Return a call; None when it has no name. A custom call's text becomes its one argument."""
    name = text(item.get("name"))
    if not name:
        return None
    if item.get("type") == "custom_tool_call":
        arguments = arguments_of(text(item.get("input")))
    else:
        words = text(item.get("arguments"))
        blank = words.strip() in ("", "null")
        arguments = b"{}" if blank else join_surrogates(words).encode()
    call_id = text(item.get("call_id")) or made_call_id(response_id, ordinal)
    return ToolUse(call_id, flat_name(text(item.get("namespace")), name), arguments)


def failure_of(response: Mapping[str, object]) -> UpstreamError | None:
    """Return the error of an answer that is none: failed, cancelled, or cut for no known reason."""
    status = text(response.get("status"))
    error = response.get("error")
    if status in ("failed", "cancelled") or error:
        return told_error(error or {"message": f"upstream answer is {status}"})
    reason = _cut_reason(response)
    if status == "incomplete" and reason not in ("max_output_tokens", "content_filter"):
        return told_error({"code": "incomplete", "message": "upstream answer is incomplete"})
    return None


def _cut_reason(response: Mapping[str, object]) -> str:
    return text(mapping(response.get("incomplete_details")).get("reason"))


def stop_of(response: Mapping[str, object], *, has_calls: bool, has_refusal: bool) -> Stop:
    """Return the stop of an answer; it is a tool stop if and only if a call was made."""
    if text(response.get("status")) == "incomplete":
        is_filtered = _cut_reason(response) == "content_filter"
        return Stop(StopReason.REFUSAL if is_filtered else StopReason.MAX_TOKENS)
    if has_calls:
        return Stop(StopReason.TOOL_USE)
    return Stop(StopReason.REFUSAL if has_refusal else StopReason.END_TURN)


def ending_of(stop: Stop, *, has_output: bool, has_refusal: bool) -> tuple[str, str | None]:
    """Return status and cut reason to show for a stop; a refusal told in words is complete."""
    if stop.reason.is_limit:
        return "incomplete", "max_output_tokens"
    if stop.reason is StopReason.REFUSAL and not has_refusal:
        return "incomplete", "content_filter"
    if stop.reason is StopReason.MALFORMED and not has_output:
        return "failed", None
    return "completed", None
