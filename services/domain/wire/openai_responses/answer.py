"""The answer object of this dialect and its items, as clients see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.custom_tools import input_of
from services.domain.wire.ids import short_id
from services.domain.wire.model import Refusal, Text, Thinking, ToolUse
from services.domain.wire.openai_responses.state import encrypted_of
from services.domain.wire.openai_responses.tools import CallForm
from services.domain.wire.openai_responses.usage import usage_member

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.domain.wire.model import Block, RenderContext, Usage

Item = dict[str, object]

DONE = "completed"
"""Status of a whole item."""


def answer_object(
    response_id: str,
    context: RenderContext,
    status: str,
    output: Sequence[Mapping[str, object]] = (),
    *,
    usage: Usage | None = None,
    cut_reason: str | None = None,
    error: Mapping[str, object] | None = None,
) -> Item:
    """Return the answer object; members that only the client's request knows are unsaid."""
    return {
        "id": response_id,
        "object": "response",
        "created_at": context.created_unix_s,
        "status": status,
        "error": error,
        "incomplete_details": None if cut_reason is None else {"reason": cut_reason},
        "instructions": None,
        "max_output_tokens": None,
        "model": context.model_id,
        "output": list(output),
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": False,
        "temperature": None,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "truncation": "disabled",
        "usage": None if usage is None else usage_member(usage),
        "user": None,
        "metadata": {},
    }


def item_of(block: Block, context: RenderContext, forms: Mapping[str, CallForm]) -> Item | None:
    """Return a block as a done item with an id of its own; None for blocks without a form here.

    Raises:
        MalformedCallError: a call of a custom tool is not its one text.
    """
    match block:
        case Text(text=words):
            return message_item(context.new_id("msg_"), DONE, [text_part(words)])
        case Refusal(text=words):
            return message_item(context.new_id("msg_"), DONE, [refusal_part(words)])
        case Thinking(text=words, state=state):
            item = reasoning_item(context.new_id("rs_"), [summary_part(words)] if words else [])
            encrypted = encrypted_of(state)
            return item if encrypted is None else item | {"encrypted_content": encrypted}
        case ToolUse():
            form = forms.get(block.name, CallForm(block.name))
            return call_item(block, form, context)
        case _:
            return None


def message_item(item_id: str, status: str, content: Sequence[Item]) -> Item:
    """Return a message of the assistant."""
    return {
        "id": item_id,
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": list(content),
    }


def text_part(words: str) -> Item:
    """Return visible text as a part of a message."""
    return {"type": "output_text", "text": words, "annotations": [], "logprobs": []}


def refusal_part(words: str) -> Item:
    """Return a refusal as a part of a message."""
    return {"type": "refusal", "refusal": words}


def summary_part(words: str) -> Item:
    """Return reasoning text as a part of a summary."""
    return {"type": "summary_text", "text": words}


def reasoning_item(item_id: str, summary: Sequence[Item]) -> Item:
    """Return a reasoning item without its state."""
    return {"id": item_id, "type": "reasoning", "summary": list(summary)}


def call_item(call: ToolUse, form: CallForm, context: RenderContext) -> Item:
    """Return a call in the form in which the client knows its tool.

    Raises:
        MalformedCallError: a call of a custom tool is not its one text.
    """
    place = {"namespace": form.namespace} if form.namespace else {}
    known: Item = {"call_id": short_id(call.call_id), "name": form.name, **place}
    if form.is_custom:
        words = input_of(call.arguments)
        head = {"id": context.new_id("ctc_"), "type": "custom_tool_call", "status": DONE}
        return head | known | {"input": words}
    arguments = call.arguments.decode("utf-8", "replace").strip() or "{}"
    head = {"id": context.new_id("fc_"), "type": "function_call", "status": DONE}
    return head | known | {"arguments": arguments}
