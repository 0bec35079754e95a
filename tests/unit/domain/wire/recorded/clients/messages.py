"""Messages as its client reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.wire.reading import mapping, rows, text
from tests.unit.domain.wire.recorded.answers import Told, Usage
from tests.unit.domain.wire.recorded.clients.plain import count, frames_of, joined

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.unit.domain.wire.recorded.clients.plain import Json


def whole_message(body: Json) -> Told:
    """Return what is read of a whole message."""
    assert (body["type"], body["role"]) == ("message", "assistant")
    return _told_message(body, [mapping(block) for block in rows(body["content"])])


def _told_message(body: Mapping[str, object], blocks: list[Mapping[str, object]]) -> Told:
    usage = mapping(body["usage"])
    cached = count(usage, "cache_read_input_tokens")
    prompt = count(usage, "input_tokens") + cached
    prompt += count(usage, "cache_creation_input_tokens")
    calls = [block for block in blocks if block["type"] == "tool_use"]
    stop = text(body["stop_reason"])
    return Told(
        text=joined(block["text"] for block in blocks if block["type"] == "text"),
        thinking=joined(block["thinking"] for block in blocks if block["type"] == "thinking"),
        calls=tuple((text(call["name"]), dict(mapping(call["input"]))) for call in calls),
        stop=f"{stop} {body['stop_sequence']}" if body["stop_sequence"] else stop,
        usage=Usage(prompt, cached, count(usage, "output_tokens"), None),
        call_ids=tuple(text(call["id"]) for call in calls),
        model=text(body["model"]),
    )


def streamed_message(sent: bytes) -> Told:
    """Return what is read of a stream."""
    frames = [(name, json.loads(data)) for name, data in frames_of(sent)]
    assert all(name == told["type"] for name, told in frames)
    kinds = [name for name, _ in frames if name != "ping"]
    if kinds == ["error"]:
        return Told(error=text(mapping(frames[0][1]["error"])["type"]))
    assert kinds[0] == "message_start"
    message = dict(mapping(frames[0][1]["message"]))
    assert (message["stop_reason"], message["stop_sequence"], message["content"]) == (
        None,
        None,
        [],
    )
    assert count(mapping(message["usage"]), "input_tokens") > 0
    blocks = _streamed_blocks([told for _, told in frames if "index" in told])
    if kinds[-1] == "error":
        assert not {"message_delta", "message_stop"} & set(kinds)
        error = mapping(mapping(frames[-1][1])["error"])
        return Told(text=joined(b.get("text") for b in blocks), error=text(error["type"]))
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert len(blocks) == kinds.count("content_block_start") == kinds.count("content_block_stop")
    final = frames[-2][1]
    return _told_message({**message, **final["delta"], "usage": final["usage"]}, blocks)


def _streamed_blocks(frames: list[Json]) -> list[Mapping[str, object]]:
    """Return the blocks that the events of one stream build, one at a time and in order."""
    blocks: list[Json] = []
    is_open = False
    for told in frames:
        if told["type"] == "content_block_start":
            assert not is_open
            assert told["index"] == len(blocks)
            blocks.append({**mapping(told["content_block"]), "json": ""})
            is_open = True
            continue
        assert is_open
        assert told["index"] == len(blocks) - 1
        block = blocks[-1]
        if told["type"] == "content_block_stop":
            is_open = False
            if block["type"] == "tool_use":
                block["input"] = json.loads(text(block["json"]) or "{}")
            continue
        delta = mapping(told["delta"])
        key, of = _DELTAS[text(delta["type"])]
        block[key] = text(block[key]) + text(delta[of])
    return list(blocks)


_DELTAS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "input_json_delta": ("json", "partial_json"),
}
