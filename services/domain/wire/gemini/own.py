"""A request of this dialect as a body again after the product rewrote its history."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.wire.gemini.history import result_part
from services.domain.wire.gemini.media import media_part
from services.domain.wire.gemini.names import child
from services.domain.wire.gemini.render import call_part, text_part
from services.domain.wire.gemini.request import PLAN, system_blocks
from services.domain.wire.model import Media, Refusal, Role, Text, ToolResult, ToolUse, WireError
from services.domain.wire.reading import dump
from services.domain.wire.scanner import scan

if TYPE_CHECKING:
    from services.domain.wire.model import Block, Request, Turn

_TOOLS = ("tools", "toolConfig", "tool_config")
_SYSTEM = ("systemInstruction", "system_instruction")


def encode_own(request: Request) -> bytes:
    """Return the body of a request of this dialect, each part as its client wrote it."""
    body: dict[str, object] = {}
    for key, raw in request.native:
        if key in _SYSTEM:
            if _is_system_kept(raw, request):
                body[key] = orjson.Fragment(raw)
        elif key not in _TOOLS or request.tools:
            body[key] = orjson.Fragment(raw)
    if request.system and not body.keys() & set(_SYSTEM):
        parts = [
            orjson.Fragment(b.raw) if b.raw else text_part(b.text)
            for b in sorted(request.system, key=lambda block: block.after_turn)
        ]
        body["systemInstruction"] = {"parts": parts}
    body["contents"] = [_content(turn) for turn in request.turns]
    body |= {key: orjson.Fragment(raw) for key, raw in request.extras}
    return _limited(dump(body), request)


def _is_system_kept(raw: bytes, request: Request) -> bool:
    """Whether the instructions are still those that the client wrote."""
    try:
        document = scan(b'{"systemInstruction":' + raw + b"}", PLAN)
        return system_blocks(child(document.root, "systemInstruction")) == request.system
    except WireError:
        return False


def _content(turn: Turn) -> dict[str, object]:
    extras = dict(turn.extras)
    content: dict[str, object] = {"parts": [_part(block) for block in turn.blocks]}
    if "role" not in extras:
        content["role"] = "model" if turn.role is Role.ASSISTANT else "user"
    return content | {key: orjson.Fragment(raw) for key, raw in extras.items() if raw}


def _part(block: Block) -> object:
    """Return a part as its client wrote it, and one that the product wrote in its own words."""
    match block:
        case Refusal(text=words):
            return text_part(words)
        case _ if block.raw:
            return orjson.Fragment(block.raw)
        case Text(text=words):
            return text_part(words)
        case ToolUse():
            return call_part(block)
        case ToolResult(blocks=blocks):
            words = "\n".join(inner.text for inner in blocks if isinstance(inner, Text))
            return result_part(block, block.name, words)
        case Media():
            return media_part(block, "contents")
        case _:
            return text_part("")


def _limited(body: bytes, request: Request) -> bytes:
    """Return ``body`` with the request's output limit, where it is no longer the client's."""
    limit = request.limits.max_output_tokens
    document = scan(body, PLAN)
    config = child(document.root, "generationConfig")
    if config is None:
        if limit is None:
            return body
        edit = document.root.with_member("generationConfig", f'{{"maxOutputTokens":{limit}}}')
        return document.splice([edit])
    told = child(config, "maxOutputTokens")
    if limit is None or (told is not None and told.value == limit):
        return body
    if told is None:
        return document.splice([config.with_member("maxOutputTokens", str(limit))])
    return document.splice([told.replaced_by(str(limit))])
