"""The Chat Completions dialect of the sandbox."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from services.embedded.sandbox.prompt import (
    Json,
    Prompt,
    blocks_of,
    forced,
    joined,
    segment_of,
    table,
    tables,
    tail_of,
    text_of,
    whole_of,
)
from services.embedded.sandbox.reply import Reply, line, pieces
from services.embedded.sandbox.script import Answer


def read(body: Json) -> Prompt:
    """Return the prompt of a Chat Completions request."""
    functions = [table(tool, "function") for tool in tables(body, "tools")]
    tools = {text_of(function, "name"): table(function, "parameters") for function in functions}
    messages = tables(body, "messages")
    tail = tail_of(messages)
    results = [message for message in tail if message.get("role") == "tool"]
    shape = table(body, "response_format")
    is_json = shape.get("type") in ("json_schema", "json_object")
    choice = body.get("tool_choice")
    named: Json = table(choice, "function") if isinstance(choice, Mapping) else {"type": choice}
    return Prompt(
        model=text_of(body, "model"),
        is_stream=body.get("stream") is True,
        text="" if results else joined([b for m in tail for b in blocks_of(m.get("content"))]),
        segments=tuple(segment_of(part) for part in (*tables(body, "tools"), *messages)),
        tools=tools,
        forced_tool=forced(named, tools, ("required",)),
        result_sizes=tuple(len(joined(blocks_of(m.get("content")))) for m in results),
        schema=table(table(shape, "json_schema"), "schema") if is_json else None,
        max_output_tokens=whole_of(body, "max_completion_tokens") or whole_of(body, "max_tokens"),
        is_usage_wanted=table(body, "stream_options").get("include_usage") is True,
    )


def whole(reply: Reply) -> dict[str, object]:
    """Return a whole Chat Completions answer."""
    said: dict[str, object] = {"role": "assistant", "content": reply.answer.text or None}
    if reply.answer.calls:
        said["tool_calls"] = _tool_calls(reply)
    choice = {"index": 0, "message": said, "finish_reason": _finish_reason(reply.answer)}
    return {
        **_head(reply, "chat.completion"),
        "choices": [choice],
        "usage": _usage(reply),
    }


def events(reply: Reply) -> Iterator[bytes]:
    """Yield the events of a Chat Completions stream."""
    head = _head(reply, "chat.completion.chunk")

    def chunk(delta: dict[str, object], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return line({**head, "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(reply.answer.text):
        yield chunk({"content": piece})
    for index, call in enumerate(reply.answer.calls):
        function = {"name": call.name, "arguments": ""}
        opened = {**_tool_calls(reply)[index], "index": index, "function": function}
        yield chunk({"tool_calls": [opened]})
        for piece in pieces(call.arguments):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, _finish_reason(reply.answer))
    if reply.is_usage_wanted:
        yield line({**head, "choices": [], "usage": _usage(reply)})
    yield b"data: [DONE]\n\n"


def error(status: int, text: str) -> dict[str, object]:
    """Return the body of a Chat Completions error."""
    other = "invalid_request_error" if status < 500 else "server_error"
    kind = "rate_limit_exceeded" if status == 429 else other
    return {"error": {"message": text, "type": kind, "param": None, "code": None}}


def _head(reply: Reply, kind: str) -> dict[str, object]:
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


def _usage(reply: Reply) -> dict[str, object]:
    prompt, output = reply.tokens.total, reply.answer.token_count
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": reply.tokens.cache_read},
    }
