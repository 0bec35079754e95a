"""Responses as its client reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.wire.reading import mapping, rows, text
from tests.unit.domain.wire.recorded.answers import Told, Usage
from tests.unit.domain.wire.recorded.clients.plain import count, frames_of, joined

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.unit.domain.wire.recorded.clients.plain import Json


def whole_response(body: Json) -> Told:
    """Return what is read of a whole answer."""
    assert body["object"] == "response"
    return _told_response(body)


def _told_response(body: Mapping[str, object]) -> Told:
    usage = mapping(body["usage"])
    told, output = count(usage, "input_tokens"), count(usage, "output_tokens")
    assert usage["total_tokens"] == told + output
    items = [mapping(item) for item in rows(body["output"])]
    parts = [mapping(part) for item in items for part in rows(item.get("content"))]
    calls = [item for item in items if item["type"] == "function_call"]
    summaries = [mapping(part) for item in items for part in rows(item.get("summary"))]
    reason = mapping(body["incomplete_details"]).get("reason")
    return Told(
        text=joined(part.get("text") for part in parts),
        thinking=joined(part["text"] for part in summaries),
        refusal=joined(part.get("refusal") for part in parts),
        calls=tuple((text(c["name"]), json.loads(text(c["arguments"]))) for c in calls),
        stop=" ".join(filter(None, (text(body["status"]), text(reason)))),
        usage=Usage(
            told,
            count(mapping(usage["input_tokens_details"]), "cached_tokens"),
            output,
            count(mapping(usage["output_tokens_details"]), "reasoning_tokens"),
        ),
        call_ids=tuple(text(call["call_id"]) for call in calls),
        model=text(body["model"]),
    )


def streamed_response(sent: bytes) -> Told:
    """Return what is read of a stream."""
    frames = [(name, json.loads(data)) for name, data in frames_of(sent)]
    assert all(name == told["type"] for name, told in frames)
    assert [told["sequence_number"] for _, told in frames] == list(range(len(frames)))
    names = [name.removeprefix("response.") for name, _ in frames]
    assert names[:2] == ["created", "in_progress"]
    assert not {"completed", "incomplete", "failed"} & set(names[:-1])
    items = _streamed_items([(name, told) for name, (_, told) in zip(names, frames, strict=True)])
    final = mapping(frames[-1][1]["response"])
    assert [dict(mapping(item)) for item in rows(final["output"])] == items
    assert (final["status"], len(final)) == (names[-1], len(frames[0][1]["response"]))
    if final["status"] == "failed":
        parts = [mapping(part) for item in items for part in rows(item.get("content"))]
        error = text(mapping(final["error"])["code"])
        return Told(text=joined(part.get("text") for part in parts), error=error)
    return _told_response(final)


def _streamed_items(frames: list[tuple[str, Json]]) -> list[Json]:
    """Return the items as their done events tell them; deltas must add up to the same."""
    items: list[Json] = []
    grown = ""
    for name, told in frames:
        if name == "output_item.added":
            assert told["output_index"] == len(items)
            grown = ""
        elif name.endswith(".delta"):
            grown += text(told["delta"])
        elif name.endswith(".done") and name not in ("output_item.done", "content_part.done"):
            said = [told.get(key) for key in ("text", "refusal", "arguments") if key in told]
            assert said == [grown] or not said
        elif name == "output_item.done":
            items.append(dict(mapping(told["item"])))
            assert json.dumps(grown, ensure_ascii=False)[1:-1] in json.dumps(
                items[-1], ensure_ascii=False
            )
    return items
