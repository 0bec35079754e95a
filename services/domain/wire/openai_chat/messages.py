"""System blocks and turns as chat messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.wire.billing import without_billing_header
from services.domain.wire.content import result_text
from services.domain.wire.ids import short_id
from services.domain.wire.labels import (
    CONTINUE_TEXT,
    FAILED_RESULT_LABEL,
    attachment_label,
)
from services.domain.wire.model import (
    Media,
    Opaque,
    Refusal,
    Role,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    TransformAction,
)
from services.domain.wire.openai_chat.render import (
    content_member,
    is_result_attachment,
    opaque_part,
    user_parts,
)
from services.domain.wire.pairing import paired

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.model import Block, Request, SystemBlock, Target, Turn
    from services.domain.wire.openai_chat.render import Rendering

_Message = dict[str, object]


def encode_messages(request: Request, target: Target, rendering: Rendering) -> list[_Message]:
    """Return all messages in the order that a chat upstream demands.

    Raises:
        UnbuildableError: a block cannot be expressed in this dialect.
    """
    groups = _system_groups(request, rendering)
    messages: list[_Message] = []
    for place, turn in paired(request.turns, rendering.transforms):
        is_results = bool(turn.blocks) and all(isinstance(b, ToolResult) for b in turn.blocks)
        while groups and groups[0][0].after_turn <= place and not is_results:
            messages.append(_system(groups.pop(0), target, rendering))
        messages += _turn(turn, rendering)
    messages += [_system(group, target, rendering) for group in groups]
    if not rendering.is_native and messages and messages[-1]["role"] == "assistant":
        _continue(messages, rendering)
    return messages


def _continue(messages: list[_Message], rendering: Rendering) -> None:
    """Add the user text that stands for continuing a final assistant turn in place."""
    content = messages[-1].get("content")
    if isinstance(content, str):
        messages[-1]["content"] = content.rstrip()
    messages.append({"role": "user", "content": CONTINUE_TEXT})
    rendering.note("prefill", TransformAction.SYNTHESISED, "messages")


def _system_groups(request: Request, rendering: Rendering) -> list[list[SystemBlock]]:
    """Return the system blocks by message, in order.

    The client's own messages are kept apart; of a foreign request all leading blocks are one
    message. Blank blocks are left out.
    """
    groups: list[list[SystemBlock]] = []
    last: tuple[int, int, str] | None = None
    for block in sorted(_without_billing(request, rendering), key=_place):
        if not block.text.strip():
            continue
        native_key = (block.after_turn, block.origin_index, str(block.origin))
        key = native_key if rendering.is_native else (block.after_turn, -1, "")
        if key != last:
            groups.append([])
            last = key
        groups[-1].append(block)
    return groups


def _place(block: SystemBlock) -> int:
    return block.after_turn


def _without_billing(request: Request, rendering: Rendering) -> list[SystemBlock]:
    kept = None if rendering.is_native else without_billing_header(request.system)
    if kept is None:
        return list(request.system)
    rendering.note("billing_header", TransformAction.DROPPED, "system[0]")
    return kept


def _system(group: list[SystemBlock], target: Target, rendering: Rendering) -> _Message:
    is_developer = rendering.is_native and target.is_vendor and group[0].origin == "developer"
    role = "developer" if is_developer else "system"
    if rendering.is_native and any(block.raw for block in group):
        parts = [orjson.Fragment(b.raw) if b.raw else _text_part(b.text) for b in group]
        return {"role": role, "content": parts}
    if len(group) == 1:
        return {"role": role, "content": group[0].text}
    if target.is_vendor:
        return {"role": role, "content": [_text_part(block.text) for block in group]}
    return {"role": role, "content": "\n".join(block.text for block in group)}


def _text_part(text: str) -> _Message:
    return {"type": "text", "text": text}


def _turn(turn: Turn, rendering: Rendering) -> list[_Message]:
    path = f"messages[{turn.origin_index}]"
    if turn.role is Role.SYSTEM:
        texts = [block.text for block in turn.blocks if isinstance(block, Text)]
        return [{"role": "system", "content": "\n".join(texts)}]
    if turn.role is Role.ASSISTANT:
        message = _assistant(turn, rendering, path)
        return [] if message is None else [_with_extras(message, turn, rendering)]
    results = [block for block in turn.blocks if isinstance(block, ToolResult)]
    if results and len(results) == len(turn.blocks):
        return _results(results, rendering, path)
    parts = user_parts(turn.blocks, rendering, path)
    if not parts and not rendering.is_native:
        return []
    message = {"role": "user", "content": content_member(parts, turn.blocks)}
    return [_with_extras(message, turn, rendering)]


def _with_extras(message: _Message, turn: Turn, rendering: Rendering) -> _Message:
    if rendering.is_native:
        message.update({key: orjson.Fragment(raw) for key, raw in turn.extras})
    return message


def _assistant(turn: Turn, rendering: Rendering, path: str) -> _Message | None:
    message: _Message = {"role": "assistant"}
    calls = [_call(b, rendering) for b in turn.blocks if isinstance(b, ToolUse)]
    message["content"] = _assistant_content(turn.blocks, rendering, path)
    thoughts = [block.text for block in turn.blocks if isinstance(block, Thinking)]
    if thoughts and rendering.is_native:
        message["reasoning_content"] = "".join(thoughts)
    elif thoughts:
        rendering.note("thinking", TransformAction.DROPPED, path)
    refusals = [block.text for block in turn.blocks if isinstance(block, Refusal)]
    if refusals:
        message["refusal"] = "".join(refusals)
    if calls:
        message["tool_calls"] = calls
    is_empty = message["content"] is None and not calls and not refusals
    if is_empty and not rendering.is_native:
        return None
    return message


def _assistant_content(blocks: Sequence[Block], rendering: Rendering, path: str) -> object:
    """Return the visible content: one string, or the parts the client had; null for none."""
    if rendering.is_native and any(isinstance(b, Text | Opaque) and b.raw for b in blocks):
        seen = [b for b in blocks if not isinstance(b, ToolUse | Thinking | Refusal)]
        return user_parts(seen, rendering, path)
    texts: list[str] = []
    has_empty = False
    for block in blocks:
        if isinstance(block, Text):
            has_empty = has_empty or not block.text
            texts.append(block.text)
        elif isinstance(block, Opaque):
            part = opaque_part(block, rendering, path)
            texts.append(str(part["text"]) if isinstance(part, dict) else "")
        elif isinstance(block, Media):
            rendering.note("assistant_media", TransformAction.DROPPED, path)
    kept = [text for text in texts if text.strip() or (rendering.is_native and text)]
    if kept:
        return "\n".join(kept)
    return "" if has_empty and rendering.is_native else None


def _call(call: ToolUse, rendering: Rendering) -> object:
    if rendering.is_native and call.raw:
        return orjson.Fragment(call.raw)
    arguments = call.arguments.decode("utf-8", "replace")
    function = {"name": call.name, "arguments": arguments if arguments.strip() else "{}"}
    return {"id": short_id(call.call_id), "type": "function", "function": function}


def _results(results: list[ToolResult], rendering: Rendering, path: str) -> list[_Message]:
    """Return one message per result, and one user message with all media they returned."""
    messages: list[_Message] = []
    media: list[object] = []
    for result in results:
        messages.append(_result(result, rendering))
        attached = [block for block in result.blocks if is_result_attachment(block)]
        if attached:
            media.append(_text_part(attachment_label(short_id(result.call_id))))
            media += user_parts(attached, rendering, path)
            rendering.note("tool_result_media", TransformAction.PROJECTED, path)
    if media:
        messages.append({"role": "user", "content": media})
    return messages


def _result(result: ToolResult, rendering: Rendering) -> _Message:
    texts = [block for block in result.blocks if isinstance(block, Text)]
    content: object
    if rendering.is_native and not result.is_error and any(block.raw for block in texts):
        content = user_parts(texts, rendering, "tool_result")
    else:
        content = result_text(result, rendering)
        if result.is_error:
            content = f"{FAILED_RESULT_LABEL}\n{content}"
    message: _Message = {"role": "tool", "tool_call_id": short_id(result.call_id)}
    if rendering.is_native and result.name:
        message["name"] = result.name
    message["content"] = content
    return message
