"""Items of a request of this dialect as its client wrote them, but for what has been edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.wire.instructions import by_message, by_turns_before
from services.domain.wire.model import Text, ToolResult, ToolUse
from services.domain.wire.openai_responses.history import assistant_items, result_item, user_items
from services.domain.wire.openai_responses.items import ITEM_PLAN
from services.domain.wire.openai_responses.parts import content_blocks
from services.domain.wire.scanner import scan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.model import Block, Request, SystemBlock, Turn
    from services.domain.wire.openai_chat.render import Rendering


def own_items(request: Request, rendering: Rendering) -> list[object]:
    """Return the items in the client's order; calls and results stay where they were."""
    items: list[object] = []
    listed = by_turns_before(b for b in request.system if b.origin != "instructions")
    for place in range(len(request.turns) + 1):
        items += _instructions(listed.get(place, ()))
        if place < len(request.turns):
            items += _turn(request.turns[place], rendering)
    return items


def _instructions(blocks: Sequence[SystemBlock]) -> list[object]:
    items: list[object] = []
    for group in by_message(blocks):
        words = [Text(block.text) for block in group]
        raw = group[0].raw
        if raw and (_texts(_content(raw)) or [""]) == _texts(words):
            items.append(orjson.Fragment(raw))
            continue
        role = "developer" if group[0].origin == "developer" else "system"
        parts = [{"type": "input_text", "text": block.text} for block in words]
        items.append({"type": "message", "role": role, "content": parts})
    return items


def _turn(turn: Turn, rendering: Rendering) -> list[object]:
    items: list[object] = []
    at = 0
    for key, raw in turn.extras:
        place, _, count = key.partition("+")
        start, end = int(place), int(place) + int(count)
        items += _blocks(turn, turn.blocks[at:start], rendering)
        blocks = turn.blocks[start:end]
        if _content(raw) == blocks:
            items.append(orjson.Fragment(raw))
        else:
            items += _blocks(turn, blocks, rendering)
        at = end
    return items + _blocks(turn, turn.blocks[at:], rendering)


def _blocks(turn: Turn, blocks: Sequence[Block], rendering: Rendering) -> list[object]:
    items: list[object] = []
    path = f"input[{turn.origin_index}]"
    for block in blocks:
        if isinstance(block, ToolResult):
            items.append(orjson.Fragment(block.raw) if block.raw else result_item(block, rendering))
        elif isinstance(block, ToolUse) and block.raw:
            items.append(orjson.Fragment(block.raw))
        elif turn.role.value == "assistant":
            items += assistant_items((block,), rendering, path)
        else:
            items += user_items((block,), rendering, path)
    return items


def _content(raw: bytes) -> tuple[Block, ...]:
    item = scan(raw, ITEM_PLAN).root
    return content_blocks(item.members.get("content"), "content")


def _texts(blocks: Sequence[Block]) -> list[str]:
    return [block.text for block in blocks if isinstance(block, Text)]
