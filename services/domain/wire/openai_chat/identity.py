"""Who asks, what only the client's own vendor knows, and under which key prompts are cached."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import orjson

from services.domain.vocab import WireFamily
from services.domain.wire.model import TransformAction
from services.domain.wire.openai_chat.refusals import is_refused

if TYPE_CHECKING:
    from services.domain.wire.model import Request, Target
    from services.domain.wire.openai_chat.render import Rendering

_SISTERS = frozenset([WireFamily.OPENAI_CHAT, WireFamily.OPENAI_RESPONSES])
_KNOWN_TO_SISTERS = frozenset(
    [
        "metadata",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
        "service_tier",
    ]
)
"""Members that mean the same in both dialects of one vendor."""


def add_identity(
    body: dict[str, object], request: Request, target: Target, rendering: Rendering
) -> None:
    """Add who asks and what only the client's own vendor knows; what stays behind is recorded."""
    if request.user:
        body["user"] = request.user
    is_sister = target.is_vendor and request.family in _SISTERS
    for key, raw in request.extras:
        if not rendering.is_native and not (is_sister and key in _KNOWN_TO_SISTERS):
            rendering.note("unknown_field", TransformAction.DROPPED, key)
        elif is_refused(key, None, target):
            rendering.note("refused_parameter", TransformAction.DROPPED, key)
        else:
            body[key] = orjson.Fragment(raw)
    if not target.is_vendor or "prompt_cache_key" in body:
        return
    cache_key = target.affinity_key or ("" if rendering.is_native else _prefix_key(request))
    if cache_key:
        body["prompt_cache_key"] = cache_key


def _prefix_key(request: Request) -> str:
    """Return a key of what leads every prompt of this kind; empty when nothing does."""
    leading = [block.text for block in request.system if not block.after_turn]
    if not leading and not request.tools:
        return ""
    digest = hashlib.sha256()
    for words in (*leading, *(f"{tool.name}\n{tool.description}" for tool in request.tools)):
        digest.update(words.encode("utf-8", "replace") + b"\0")
    for tool in request.tools:
        digest.update(tool.schema + b"\0")
    return f"prefix_{digest.hexdigest()[:32]}"


def add_quirks(
    body: dict[str, object], target: Target, rendering: Rendering, *, has_tools: bool
) -> None:
    """Add what this very endpoint wants where the client says nothing of it."""
    if rendering.is_native:
        return
    wanted = target.quirks.members + (target.quirks.tool_members if has_tools else ())
    for key, raw in wanted:
        is_said = key in body or (key == "reasoning" and "reasoning_effort" in body)
        if not is_said and not is_refused(key, None, target):
            body[key] = orjson.Fragment(raw)
            rendering.note("endpoint_default", TransformAction.SYNTHESISED, key)
