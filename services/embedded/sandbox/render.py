"""Writes answers of the sandbox in both dialects, whole or as an event stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from services.embedded.sandbox.script import Answer
from services.embedded.sandbox.usage import InputTokens

PIECE_CHARS = 16
"""Characters of one delta of a stream."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with what its envelope needs."""

    id: str
    """Sixteen hexadecimal digits, made from the request."""
    model: str
    answer: Answer
    tokens: InputTokens
    is_usage_wanted: bool = True


def message(reply: Reply) -> dict[str, object]:
    """Return a whole Messages answer."""
    return {
        **_message_head(reply),
        "content": list(_content(reply)),
        "stop_reason": _stop_reason(reply.answer),
        "usage": _message_usage(reply),
    }


def message_events(reply: Reply) -> Iterator[bytes]:
    """Yield the events of a Messages stream."""
    usage = {**_message_usage(reply), "output_tokens": 1}
    head = {**_message_head(reply), "content": [], "stop_reason": None, "usage": usage}
    yield _event({"type": "message_start", "message": head})
    for index, block in enumerate(_content(reply)):
        is_text = block["type"] == "text"
        empty = {**block, "text": ""} if is_text else {**block, "input": {}}
        whole = reply.answer.text if is_text else orjson.dumps(block["input"]).decode()
        yield _event({"type": "content_block_start", "index": index, "content_block": empty})
        for piece in _pieces(whole):
            delta = (
                {"type": "text_delta", "text": piece}
                if is_text
                else {"type": "input_json_delta", "partial_json": piece}
            )
            yield _event({"type": "content_block_delta", "index": index, "delta": delta})
        yield _event({"type": "content_block_stop", "index": index})
    end = {"stop_reason": _stop_reason(reply.answer), "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": end, "usage": _message_usage(reply)})
    yield _event({"type": "message_stop"})


def completion(reply: Reply) -> dict[str, object]:
    """Return a whole Chat Completions answer."""
    said: dict[str, object] = {"role": "assistant", "content": reply.answer.text or None}
    if reply.answer.calls:
        said["tool_calls"] = _tool_calls(reply)
    choice = {"index": 0, "message": said, "finish_reason": _finish_reason(reply.answer)}
    return {
        **_completion_head(reply, "chat.completion"),
        "choices": [choice],
        "usage": _completion_usage(reply),
    }


def completion_events(reply: Reply) -> Iterator[bytes]:
    """Yield the events of a Chat Completions stream."""
    head = _completion_head(reply, "chat.completion.chunk")

    def chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _line({**head, "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(reply.answer.text):
        yield chunk({"content": piece})
    for index, call in enumerate(reply.answer.calls):
        function = {"name": call.name, "arguments": ""}
        opened = {**_tool_calls(reply)[index], "index": index, "function": function}
        yield chunk({"tool_calls": [opened]})
        for piece in _pieces(call.arguments):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, _finish_reason(reply.answer))
    if reply.is_usage_wanted:
        yield _line({**head, "choices": [], "usage": _completion_usage(reply)})
    yield b"data: [DONE]\n\n"


def message_error(status: int, text: str) -> dict[str, object]:
    """Return the body of a Messages error."""
    kinds = {429: "rate_limit_error", 529: "overloaded_error", 401: "authentication_error"}
    other = "invalid_request_error" if status < 500 else "api_error"
    return {"type": "error", "error": {"type": kinds.get(status, other), "message": text}}


def completion_error(status: int, text: str) -> dict[str, object]:
    """Return the body of a Chat Completions error."""
    other = "invalid_request_error" if status < 500 else "server_error"
    kind = "rate_limit_exceeded" if status == 429 else other
    return {"error": {"message": text, "type": kind, "param": None, "code": None}}


def _message_head(reply: Reply) -> dict[str, object]:
    return {
        "id": f"msg_sandbox_{reply.id}",
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "stop_sequence": None,
    }


def _content(reply: Reply) -> Iterator[dict[str, object]]:
    if reply.answer.text:
        yield {"type": "text", "text": reply.answer.text}
    for index, call in enumerate(reply.answer.calls):
        yield {
            "type": "tool_use",
            "id": f"toolu_sandbox_{reply.id}_{index}",
            "name": call.name,
            "input": orjson.loads(call.arguments),
        }


def _stop_reason(answer: Answer) -> str:
    if answer.is_cut:
        return "max_tokens"
    return "tool_use" if answer.calls else "end_turn"


def _message_usage(reply: Reply) -> dict[str, object]:
    return {
        "input_tokens": reply.tokens.fresh,
        "cache_read_input_tokens": reply.tokens.cache_read,
        "cache_creation_input_tokens": reply.tokens.cache_write,
        "output_tokens": reply.answer.token_count,
    }


def _completion_head(reply: Reply, kind: str) -> dict[str, object]:
    return {
        "id": f"chatcmpl-sandbox-{reply.id}",
        "object": kind,
        "created": 0,
        "model": reply.model,
    }


def _tool_calls(reply: Reply) -> list[dict[str, object]]:
    return [
        {
            "id": f"call_sandbox_{reply.id}_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for index, call in enumerate(reply.answer.calls)
    ]


def _finish_reason(answer: Answer) -> str:
    if answer.is_cut:
        return "length"
    return "tool_calls" if answer.calls else "stop"


def _completion_usage(reply: Reply) -> dict[str, object]:
    prompt, output = reply.tokens.total, reply.answer.token_count
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": reply.tokens.cache_read},
    }


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE_CHARS):
        yield text[start : start + PIECE_CHARS]


def _event(body: dict[str, object]) -> bytes:
    return b"event: " + str(body["type"]).encode() + b"\n" + _line(body)


def _line(body: dict[str, object]) -> bytes:
    return b"data: " + orjson.dumps(body) + b"\n\n"
