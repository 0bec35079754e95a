"""What kind of action a request is, and how large its prompt is. Pure.

Tokens are estimated: bytes of text by four, images at a flat rate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import TurnType
from services.domain.wire.features import TOKENS_PER_IMAGE, LastKind
from services.domain.wire.model import ToolUse

if TYPE_CHECKING:
    from services.domain.wire.features import Features
    from services.domain.wire.model import Request

_PROBE_LIMIT_TOKENS = 4


def input_tokens_of(request: Request, features: Features) -> int:
    """Return the estimated tokens of system, messages, tools and images."""
    tools = sum(len(tool.name) + len(tool.description) + len(tool.schema) for tool in request.tools)
    calls = sum(
        len(block.name) + len(block.arguments)
        for turn in request.turns
        for block in turn.blocks
        if isinstance(block, ToolUse)
    )
    images = TOKENS_PER_IMAGE * features.image_count
    return max(1, features.text_tokens + (tools + calls) // 4 + images)


def turn_type_of(request: Request, features: Features) -> TurnType:
    """Return what kind of action a request is."""
    limit = request.limits.max_output_tokens
    if limit is not None and 1 <= limit <= _PROBE_LIMIT_TOKENS:
        return TurnType.PROBE
    if features.last_kind is LastKind.TOOL_RESULT:
        return TurnType.TOOL_RESULT
    return TurnType.MAIN_LOOP
