"""How large the prompt of a request is. Pure.

Tokens are estimated: bytes of text by four, media at rates of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.model import ToolUse

if TYPE_CHECKING:
    from services.domain.wire.features import Features
    from services.domain.wire.model import Request


def input_tokens_of(request: Request, features: Features) -> int:
    """Return the estimated tokens of system, messages, tools and media."""
    tools = sum(len(tool.name) + len(tool.description) + len(tool.schema) for tool in request.tools)
    calls = sum(
        len(block.name) + len(block.arguments)
        for turn in request.turns
        for block in turn.blocks
        if isinstance(block, ToolUse)
    )
    return max(1, features.text_tokens + (tools + calls) // 4 + features.media_tokens)
