"""Builders that the tests of the Messages codec share: bodies, frames and targets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.anthropic.stream import MessagesStreamDecoder
from services.domain.wire.anthropic.writer import MessagesStreamEncoder
from services.domain.wire.model import Request, Role, Target, Turn
from tests.unit.domain.wire.contexts import context

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.domain.wire.model import Block, Event

Json = dict[str, object]


def frame(kind: str, **members: object) -> bytes:
    """Return one upstream event as it travels."""
    data = json.dumps({"type": kind, **members}, ensure_ascii=False)
    return f"event: {kind}\ndata: {data}\n\n".encode()


def start(**usage: object) -> bytes:
    """Return the event that opens an upstream answer."""
    message: Json = {
        "id": "msg_up",
        "type": "message",
        "role": "assistant",
        "model": "upstream-model",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 1, **usage},
    }
    return frame("message_start", message=message)


def opened(index: int, **block: object) -> bytes:
    """Return the event that opens a block."""
    return frame("content_block_start", index=index, content_block=block)


def delta(index: int, **members: object) -> bytes:
    """Return a delta of a block."""
    return frame("content_block_delta", index=index, delta=members)


def closed(index: int) -> bytes:
    """Return the event that closes a block."""
    return frame("content_block_stop", index=index)


def ending(reason: str = "end_turn", **usage: object) -> bytes:
    """Return the two events that end an answer."""
    members: Json = {"stop_reason": reason, "stop_sequence": None}
    last = frame("message_delta", delta=members, usage={"output_tokens": 30, **usage})
    return last + frame("message_stop")


def text_block(index: int, *words: str) -> bytes:
    """Return a whole block of text."""
    deltas = b"".join(delta(index, type="text_delta", text=word) for word in words)
    return opened(index, type="text", text="") + deltas + closed(index)


def tool_block(index: int, call_id: str, name: str, *parts: str) -> bytes:
    """Return a whole block of a tool call."""
    deltas = b"".join(delta(index, type="input_json_delta", partial_json=part) for part in parts)
    return opened(index, type="tool_use", id=call_id, name=name, input={}) + deltas + closed(index)


RICH_STREAM = (
    start(cache_read_input_tokens=900)
    + frame("ping")
    + opened(0, type="thinking", thinking="", signature="")
    + delta(0, type="thinking_delta", thinking="Überlegen \U0001f600")
    + delta(0, type="signature_delta", signature="c2ln")
    + closed(0)
    + text_block(1, "Grüß ", "Gott \U0001f600")
    + tool_block(2, "toolu_1", "look", '{"a"', ":1}")
    + tool_block(3, "toolu_2", "stop")
    + ending("tool_use")
)
"""A recorded-like stream with every kind of block and multi-byte text."""


def decoded(stream: bytes) -> list[Event]:
    """Return all events of a stream that came in one piece."""
    decoder = MessagesStreamDecoder()
    return [*decoder.feed(stream), *decoder.finish()]


def written(events: Iterable[Event]) -> list[Json]:
    """Return the frames that an encoder writes for ``events``, each event name checked."""
    encoder = MessagesStreamEncoder(context())
    return frames_of(b"".join(encoder.feed([event]) for event in events))


def frames_of(stream: bytes) -> list[Json]:
    """Return the data of each frame; every frame is named by its type."""
    frames: list[Json] = []
    for raw in stream.split(b"\n\n")[:-1]:
        name, data = raw.split(b"\n")
        frames.append(json.loads(data.removeprefix(b"data: ")))
        assert name == b"event: " + str(frames[-1]["type"]).encode()
    return frames


def kinds(frames: list[Json]) -> list[object]:
    """Return the types of frames."""
    return [each["type"] for each in frames]


def target(
    facts: ModelFacts | None = None,
    *,
    upstream_id: str = "upstream",
    cap: int | None = None,
    is_model_switched: bool = False,
) -> Target:
    """Return a Messages target."""
    return Target(
        family=WireFamily.ANTHROPIC,
        provider="acme",
        model_id="routed-model",
        upstream_id=upstream_id,
        facts=facts or ModelFacts(),
        max_output_tokens=cap,
        is_model_switched=is_model_switched,
    )


def foreign(*turns: tuple[Role, list[Block]]) -> Request:
    """Return a canonical request of a chat client."""
    return Request(
        family=WireFamily.OPENAI_CHAT,
        model="routed-model",
        is_stream=False,
        turns=tuple(Turn(role, tuple(blocks), i) for i, (role, blocks) in enumerate(turns)),
    )
