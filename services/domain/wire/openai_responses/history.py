"""System blocks and turns of another dialect as items of this one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from services.domain.vocab import WireFamily
from services.domain.wire.billing import without_billing_header
from services.domain.wire.ids import short_id
from services.domain.wire.labels import CONTINUE_TEXT, FAILED_RESULT_LABEL
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
from services.domain.wire.openai_chat.render import user_parts
from services.domain.wire.pairing import paired
from services.domain.wire.reading import mapping, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.model import Block, Request, Target, Turn
    from services.domain.wire.openai_chat.render import Rendering

FAMILY = WireFamily.OPENAI_RESPONSES
_Item = dict[str, object]


def foreign_instructions(request: Request, rendering: Rendering) -> str:
    """Return the leading system blocks as one text, without one client's changing first line."""
    leading = [block for block in request.system if not block.after_turn]
    kept = without_billing_header(leading)
    if kept is not None:
        rendering.note("billing_header", TransformAction.DROPPED, "system[0]")
    words = [block.text for block in (leading if kept is None else kept)]
    return "\n".join(line for line in words if line.strip())


def foreign_items(request: Request, target: Target, rendering: Rendering) -> list[object]:
    """Return all items: calls next to their results, later system blocks in their places.

    Raises:
        UnbuildableError: a block cannot be expressed in this dialect.
    """
    waiting = sorted(
        (block for block in request.system if block.after_turn and block.text.strip()),
        key=lambda block: block.after_turn,
    )
    items: list[object] = []
    is_said_last = False
    turns = paired(request.turns, rendering.transforms)
    for place, turn in _without_blank_end(turns):
        is_results = bool(turn.blocks) and all(isinstance(b, ToolResult) for b in turn.blocks)
        while waiting and waiting[0].after_turn <= place and not is_results:
            items.append(_developer(waiting.pop(0).text))
        said = _turn(turn, target, rendering)
        items += said
        is_said_last = turn.role is Role.ASSISTANT if said else is_said_last
    items += [_developer(block.text) for block in waiting]
    if is_said_last:
        items.append(_message("user", [{"type": "input_text", "text": CONTINUE_TEXT}]))
        rendering.note("prefill", TransformAction.SYNTHESISED, "messages")
    return items


def _without_blank_end(turns: list[tuple[int, Turn]]) -> list[tuple[int, Turn]]:
    """Return the turns; a final assistant turn has no blanks at its end."""
    place, turn = turns[-1] if turns else (0, None)
    last = turn.blocks[-1] if turn is not None and turn.blocks else None
    if turn is None or turn.role is not Role.ASSISTANT or not isinstance(last, Text):
        return turns
    trimmed = replace(last, text=last.text.rstrip())
    return [*turns[:-1], (place, replace(turn, blocks=(*turn.blocks[:-1], trimmed)))]


def _developer(words: str) -> _Item:
    return _message("developer", [{"type": "input_text", "text": words}])


def _message(role: str, content: Sequence[object]) -> _Item:
    return {"type": "message", "role": role, "content": list(content)}


def _turn(turn: Turn, target: Target, rendering: Rendering) -> list[object]:
    path = f"messages[{turn.origin_index}]"
    if turn.role is Role.SYSTEM:
        return [_developer(b.text) for b in turn.blocks if isinstance(b, Text) and b.text.strip()]
    if turn.role is Role.ASSISTANT:
        return assistant_items(turn.blocks, rendering, path, is_switched=target.is_model_switched)
    return user_items(turn.blocks, rendering, path)


def user_items(blocks: Sequence[Block], rendering: Rendering, path: str) -> list[object]:
    """Return results as items of their own, and all else as one message behind them."""
    items: list[object] = [result_item(b, rendering) for b in blocks if isinstance(b, ToolResult)]
    rest = [block for block in blocks if not isinstance(block, ToolResult)]
    if len(rest) == 1 and isinstance(rest[0], Opaque) and rest[0].family is FAMILY:
        return [*items, orjson.Fragment(rest[0].raw)]
    parts = input_parts(rest, rendering, path)
    return [*items, _message("user", parts)] if parts else items


def result_item(result: ToolResult, rendering: Rendering) -> _Item:
    """Return a result: one text where it is only text, else its parts."""
    path = "tool_result"
    blocks = [block if not isinstance(block, Opaque) else _told(block) for block in result.blocks]
    output: object
    if all(isinstance(block, Text) for block in blocks):
        output = "\n".join(block.text for block in blocks if isinstance(block, Text))
        if result.is_error:
            output = f"{FAILED_RESULT_LABEL}\n{output}"
    else:
        label = [{"type": "input_text", "text": FAILED_RESULT_LABEL}] if result.is_error else []
        output = [*label, *input_parts(blocks, rendering, path)]
    call_id = short_id(result.call_id)
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def _told(block: Opaque) -> Block:
    """Return a block of no known kind as text, so that its result is never empty for it."""
    return Text(block.rendering or block.raw.decode("utf-8", "replace"))


def input_parts(blocks: Sequence[Block], rendering: Rendering, path: str) -> list[object]:
    """Return blocks as parts of a message or of an output; blank texts are left out.

    Raises:
        UnbuildableError: a block cannot be expressed in this dialect.
    """
    parts: list[object] = []
    for block in blocks:
        if isinstance(block, Media) and block.kind == "document" and block.url:
            parts.append({"type": "input_file", "file_url": block.url})
        elif isinstance(block, Text) and block.text.strip():
            parts.append({"type": "input_text", "text": block.text})
        elif not isinstance(block, Text):
            parts += [_of_chat(part) for part in user_parts((block,), rendering, path)]
    return parts


def _of_chat(part: object) -> object:
    """Return the part of this dialect that stands for one of its sister's."""
    told = mapping(part)
    if told.get("type") == "image_url":
        image = mapping(told.get("image_url"))
        detail = {"detail": image["detail"]} if "detail" in image else {}
        return {"type": "input_image", "image_url": image.get("url"), **detail}
    if told.get("type") == "file":
        return {"type": "input_file", **mapping(told.get("file"))}
    if told.get("type") == "text":
        return {"type": "input_text", "text": text(told.get("text"))}
    return part


def assistant_items(
    blocks: Sequence[Block], rendering: Rendering, path: str, *, is_switched: bool = False
) -> list[object]:
    """Return what the assistant did: reasoning of this family, messages and calls, in order."""
    items: list[object] = []
    content: list[object] = []
    for block in blocks:
        part = _output_part(block, rendering, path)
        if part is not None:
            content.append(part)
            continue
        item = _assistant_item(block, rendering, path, is_switched=is_switched)
        if item is None:
            continue
        if content:
            items.append(_message("assistant", content))
            content = []
        items.append(item)
    return [*items, _message("assistant", content)] if content else items


def _output_part(block: Block, rendering: Rendering, path: str) -> object | None:
    match block:
        case Text(text=words):
            return {"type": "output_text", "text": words} if words.strip() else None
        case Refusal(text=words):
            return {"type": "refusal", "refusal": words}
        case Opaque(family=family, rendering=words) if family is not FAMILY and words:
            rendering.note("server_tool", TransformAction.PROJECTED, path)
            return {"type": "output_text", "text": words}
        case _:
            return None


def _assistant_item(
    block: Block, rendering: Rendering, path: str, *, is_switched: bool
) -> object | None:
    match block:
        case ToolUse():
            return call_item(block)
        case Thinking():
            return _reasoning(block, rendering, path, is_switched=is_switched)
        case Opaque(family=family, raw=raw) if family is FAMILY:
            return orjson.Fragment(raw)
        case Text():
            return None
        case _:
            rendering.note("opaque_block", TransformAction.DROPPED, path)
            return None


def call_item(call: ToolUse) -> _Item:
    """Return a call as an item; it needs no id of its own beside that of the call."""
    arguments = call.arguments.decode("utf-8", "replace")
    return {
        "type": "function_call",
        "call_id": short_id(call.call_id),
        "name": call.name,
        "arguments": arguments if arguments.strip() else "{}",
    }


def _reasoning(
    block: Thinking, rendering: Rendering, path: str, *, is_switched: bool
) -> object | None:
    """Return reasoning that this family issued; other reasoning is never shown to it."""
    own = [state for state in block.state if state.family is FAMILY]
    is_own_source = rendering.is_native and bool(block.raw) and len(own) == len(block.state)
    if is_own_source and not is_switched:
        return orjson.Fragment(block.raw)
    if not own or is_switched:
        rendering.note("thinking", TransformAction.DROPPED, path)
        return None
    item: _Item = {"type": "reasoning"}
    if own[0].item_id:
        item["id"] = own[0].item_id
    return item | {"summary": [], "encrypted_content": own[0].payload}
