"""Chat Completions as its client reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.wire.reading import mapping, rows, text
from tests.unit.domain.wire.recorded.answers import Told, Usage
from tests.unit.domain.wire.recorded.clients.plain import count, frames_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.unit.domain.wire.recorded.clients.plain import Json


def whole_completion(body: Json) -> Told:
    """Return what is read of a whole completion."""
    assert body["object"] == "chat.completion"
    (choice,) = map(mapping, rows(body["choices"]))
    return _told_chat(body, mapping(choice["message"]), text(choice["finish_reason"]))


def _told_chat(body: Mapping[str, object], message: Mapping[str, object], finish: str) -> Told:
    usage = mapping(body["usage"])
    prompt, output = count(usage, "prompt_tokens"), count(usage, "completion_tokens")
    assert usage["total_tokens"] == prompt + output
    calls = [mapping(call) for call in rows(message.get("tool_calls"))]
    functions = [mapping(call["function"]) for call in calls]
    assert message["content"] is None or message["content"]
    return Told(
        text=text(message["content"]),
        thinking=text(message.get("reasoning_content")),
        refusal=text(message.get("refusal")),
        calls=tuple((text(f["name"]), json.loads(text(f["arguments"]))) for f in functions),
        stop=finish,
        usage=Usage(
            prompt,
            count(mapping(usage["prompt_tokens_details"]), "cached_tokens"),
            output,
            count(mapping(usage["completion_tokens_details"]), "reasoning_tokens"),
        ),
        call_ids=tuple(text(call["id"]) for call in calls),
        model=text(body["model"]),
    )


def streamed_completion(sent: bytes) -> Told:
    """Return what is read of a stream."""
    datas = [data for _, data in frames_of(sent)]
    chunks = [json.loads(data) for data in datas if data != "[DONE]"]
    is_failed = "error" in chunks[-1]
    assert datas.count("[DONE]") == (not is_failed)
    plain = chunks[:-1]
    assert len({(chunk["id"], chunk["created"], chunk["model"]) for chunk in plain}) <= 1
    choices = [mapping(row) for chunk in plain for row in rows(chunk["choices"])]
    message: Json = {"content": ""}
    calls: list[Json] = []
    for number, choice in enumerate(choices):
        delta = dict(mapping(choice["delta"]))
        assert (delta.pop("role", "") == "assistant") == (number == 0)
        for fragment in map(mapping, rows(delta.pop("tool_calls", None))):
            _add_fragment(calls, fragment)
        for key, words in delta.items():
            message[key] = text(message.get(key)) + text(words)
    finishes = [text(c["finish_reason"]) for c in choices if c["finish_reason"] is not None]
    if is_failed:
        assert not finishes
        error = mapping(chunks[-1]["error"])
        return Told(text=text(message["content"]), error=text(error["code"] or error["type"]))
    assert datas[-1] == "[DONE]"
    assert chunks[-1]["choices"] == []
    (finish,) = finishes
    assert choices[-1] == {"index": 0, "delta": {}, "finish_reason": finish}
    message |= {"content": message["content"] or None, "tool_calls": calls}
    return _told_chat(chunks[-1], message, finish)


def _add_fragment(calls: list[Json], fragment: Mapping[str, object]) -> None:
    """Add one fragment of a call; the first of each names it and says nothing yet."""
    function = mapping(fragment["function"])
    if "id" in fragment:
        assert fragment["index"] == len(calls)
        assert function["arguments"] == ""
        calls.append({"id": fragment["id"], "function": dict(function)})
        return
    assert fragment["index"] == len(calls) - 1
    known = dict(mapping(calls[-1]["function"]))
    known["arguments"] = text(known["arguments"]) + text(function["arguments"])
    calls[-1]["function"] = known
