"""Builders that the tests of the Gemini codec share: frames, answers and targets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.catalog import ModelFacts
from services.domain.vocab import WireFamily
from services.domain.wire.gemini.stream import GeminiStreamDecoder
from services.domain.wire.model import Target

if TYPE_CHECKING:
    from services.domain.wire.model import Event

Json = dict[str, object]


def answer(*parts: Json, finish: str = "", **extra: object) -> Json:
    """Return one answer object."""
    candidate: Json = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "modelVersion": "upstream-model",
        "responseId": "up-1",
        **extra,
    }


def told(value: Json) -> bytes:
    """Return any object as a frame, with the line ends of the vendor."""
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\r\n\r\n"


def frame(*parts: Json, finish: str = "", **extra: object) -> bytes:
    """Return one answer object as a frame."""
    return told(answer(*parts, finish=finish, **extra))


def text(words: str, **extra: object) -> Json:
    """Return a part of text."""
    return {"text": words, **extra}


def call(name: str, args: object = None, **extra: object) -> Json:
    """Return a part that calls a function."""
    return {"functionCall": {"name": name, "args": {} if args is None else args}, **extra}


def decoded(stream: bytes) -> list[Event]:
    """Return all events of a stream that came in one piece."""
    decoder = GeminiStreamDecoder()
    return [*decoder.feed(stream), *decoder.finish()]


def target(facts: ModelFacts | None = None, *, max_output_tokens: int | None = None) -> Target:
    """Return a Gemini target."""
    return Target(
        family=WireFamily.GEMINI,
        provider="google",
        model_id="routed-model",
        upstream_id="upstream-model",
        facts=facts or ModelFacts(),
        max_output_tokens=max_output_tokens,
        is_vendor=True,
    )


def frames_of(sent: bytes) -> list[Json]:
    """Return the objects of the frames that a client was sent."""
    return [json.loads(raw.removeprefix(b"data: ")) for raw in sent.split(b"\n\n") if raw]
