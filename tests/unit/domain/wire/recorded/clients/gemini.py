"""Gemini as its client reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.wire.reading import mapping, rows, text, whole
from tests.unit.domain.wire.recorded.answers import Told, Usage
from tests.unit.domain.wire.recorded.clients.plain import count, frames_of, joined

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.unit.domain.wire.recorded.clients.plain import Json


def whole_content(body: Json) -> Told:
    """Return what is read of a whole answer."""
    (candidate,) = map(mapping, rows(body["candidates"]))
    return _told_gemini(body, _parts(candidate), text(candidate["finishReason"]))


def _parts(candidate: Mapping[str, object]) -> list[Mapping[str, object]]:
    content = mapping(candidate["content"])
    assert content["role"] == "model"
    return [mapping(part) for part in rows(content["parts"])]


def _told_gemini(
    body: Mapping[str, object], parts: list[Mapping[str, object]], finish: str
) -> Told:
    usage = mapping(body["usageMetadata"])
    prompt, answer = count(usage, "promptTokenCount"), count(usage, "candidatesTokenCount")
    thoughts = whole(usage.get("thoughtsTokenCount")) or 0
    assert usage["totalTokenCount"] == prompt + answer + thoughts
    calls = [mapping(part["functionCall"]) for part in parts if "functionCall" in part]
    return Told(
        text=joined(part.get("text") for part in parts if not part.get("thought")),
        thinking=joined(part.get("text") for part in parts if part.get("thought")),
        calls=tuple((text(call["name"]), dict(mapping(call["args"]))) for call in calls),
        stop=finish,
        usage=Usage(
            prompt, whole(usage.get("cachedContentTokenCount")) or 0, answer + thoughts, thoughts
        ),
        call_ids=tuple(text(call["id"]) for call in calls),
        model=text(body["modelVersion"]),
    )


def streamed_content(sent: bytes) -> Told:
    """Return what is read of a stream."""
    frames = [json.loads(data) for _, data in frames_of(sent)]
    is_failed = "error" in frames[-1]
    plain = frames[:-1] if is_failed else frames
    assert len({(told["modelVersion"], told["responseId"]) for told in plain}) <= 1
    candidates = [mapping(row) for told in plain for row in rows(told["candidates"])]
    parts = [part for candidate in candidates for part in _parts(candidate)]
    unfinished = candidates if is_failed else candidates[:-1]
    assert not any("finishReason" in candidate for candidate in unfinished)
    if is_failed:
        error = mapping(frames[-1]["error"])
        words = joined(part.get("text") for part in parts)
        return Told(text=words, error=f"{error['code']} {error['status']}")
    return _told_gemini(frames[-1], parts, text(candidates[-1]["finishReason"]))
