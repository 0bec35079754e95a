"""The Messages dialect of the sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

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
from services.embedded.sandbox.reply import Reply, event, pieces
from services.embedded.sandbox.script import Answer


def read(body: Json) -> Prompt:
    """Return the prompt of a Messages request."""
    tools = {text_of(tool, "name"): table(tool, "input_schema") for tool in tables(body, "tools")}
    tail = tail_of(tables(body, "messages"))
    blocks = [block for message in tail for block in blocks_of(message.get("content"))]
    results = [block for block in blocks if block.get("type") == "tool_result"]
    output = table(body, "output_config")
    shape = table(output, "format") or table(body, "output_format")
    return Prompt(
        model=text_of(body, "model"),
        is_stream=body.get("stream") is True,
        text="" if results else joined(blocks),
        segments=tuple(
            segment_of(part)
            for part in (
                *tables(body, "tools"),
                *blocks_of(body.get("system")),
                *tables(body, "messages"),
            )
        ),
        tools=tools,
        forced_tool=forced(table(body, "tool_choice"), tools, ("any",)),
        result_sizes=tuple(len(joined(blocks_of(block.get("content")))) for block in results),
        schema=table(shape, "schema") or None,
        max_output_tokens=whole_of(body, "max_tokens"),
    )


def whole(reply: Reply) -> dict[str, object]:
    """Return a whole Messages answer."""
    return {
        **_head(reply),
        "content": list(_content(reply)),
        "stop_reason": _stop_reason(reply.answer),
        "usage": _usage(reply),
    }


def events(reply: Reply) -> Iterator[bytes]:
    """Yield the events of a Messages stream."""
    usage = {**_usage(reply), "output_tokens": 1}
    head = {**_head(reply), "content": [], "stop_reason": None, "usage": usage}
    yield event({"type": "message_start", "message": head})
    for index, block in enumerate(_content(reply)):
        is_text = block["type"] == "text"
        empty = {**block, "text": ""} if is_text else {**block, "input": {}}
        whole = reply.answer.text if is_text else orjson.dumps(block["input"]).decode()
        yield event({"type": "content_block_start", "index": index, "content_block": empty})
        for piece in pieces(whole):
            delta = (
                {"type": "text_delta", "text": piece}
                if is_text
                else {"type": "input_json_delta", "partial_json": piece}
            )
            yield event({"type": "content_block_delta", "index": index, "delta": delta})
        yield event({"type": "content_block_stop", "index": index})
    end = {"stop_reason": _stop_reason(reply.answer), "stop_sequence": None}
    yield event({"type": "message_delta", "delta": end, "usage": _usage(reply)})
    yield event({"type": "message_stop"})


def error(status: int, text: str) -> dict[str, object]:
    """Return the body of a Messages error."""
    kinds = {429: "rate_limit_error", 529: "overloaded_error", 401: "authentication_error"}
    other = "invalid_request_error" if status < 500 else "api_error"
    return {"type": "error", "error": {"type": kinds.get(status, other), "message": text}}


def _head(reply: Reply) -> dict[str, object]:
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


def _usage(reply: Reply) -> dict[str, object]:
    return {
        "input_tokens": reply.tokens.fresh,
        "cache_read_input_tokens": reply.tokens.cache_read,
        "cache_creation_input_tokens": reply.tokens.cache_write,
        "output_tokens": reply.answer.token_count,
    }
