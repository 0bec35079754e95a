"""Builders that the tests of the chat codec share: frames and targets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.model import Target
from services.domain.wire.openai_chat.stream import ChatStreamDecoder
from services.domain.wire.openai_chat.writer import ChatStreamEncoder
from tests.unit.domain.wire.contexts import context

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Event

DONE = b"data: [DONE]\n\n"


def frame(
    delta: Mapping[str, object] | None = None, finish: str | None = None, **extra: object
) -> bytes:
    """Return one upstream chunk as it travels."""
    chunk = {
        "id": "chatcmpl-up",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "upstream-model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **extra,
    }
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def call(index: int | None = 0, call_id: str | None = None, **function: str) -> bytes:
    """Return a chunk with one fragment of a tool call."""
    fragment: dict[str, object] = {"function": function}
    if index is not None:
        fragment["index"] = index
    if call_id is not None:
        fragment["id"] = call_id
    return frame({"tool_calls": [fragment]})


def decoded(stream: bytes) -> list[Event]:
    """Return all events of a stream that came in one piece."""
    decoder = ChatStreamDecoder()
    return [*decoder.feed(stream), *decoder.finish()]


def encoded(events: list[Event], *, is_usage_wanted: bool = True) -> list[dict[str, object]]:
    """Return the chunks written for ``events``; the end mark is a chunk ``{"done": True}``."""
    raw = ChatStreamEncoder(context(is_usage_wanted=is_usage_wanted)).feed(events)
    frames = [part.removeprefix(b"data: ") for part in raw.split(b"\n\n") if part]
    return [{"done": True} if part == b"[DONE]" else json.loads(part) for part in frames]


def target(
    facts: ModelFacts | None = None,
    *,
    is_vendor: bool = False,
    max_output_tokens: int | None = None,
    affinity_key: str = "",
) -> Target:
    """Return a chat target."""
    return Target(
        family=WireFamily.OPENAI_CHAT,
        provider="openai" if is_vendor else "compat",
        model_id="routed-model",
        upstream_id="upstream-model",
        facts=facts or ModelFacts(),
        max_output_tokens=max_output_tokens,
        is_vendor=is_vendor,
        affinity_key=affinity_key,
    )
