"""The Responses dialect of the sandbox."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from services.embedded.sandbox.prompt import (
    Json,
    Prompt,
    blocks_of,
    forced,
    is_said_by_model,
    joined,
    segment_of,
    table,
    tables,
    tail_of,
    text_of,
    whole_of,
)
from services.embedded.sandbox.reply import Reply, event, pieces

_OWN_ITEMS = ("function_call", "custom_tool_call", "reasoning")
_OUTPUT_ITEMS = ("function_call_output", "custom_tool_call_output")


def read(body: Json) -> Prompt:
    """Return the prompt of a Responses request."""
    functions = [tool for tool in tables(body, "tools") if tool.get("type") == "function"]
    tools = {text_of(function, "name"): table(function, "parameters") for function in functions}
    said = text_of(body, "input")
    items = [{"role": "user", "content": said}] if said else tables(body, "input")
    tail = tail_of(items, _is_own)
    results = [item for item in tail if item.get("type") in _OUTPUT_ITEMS]
    shape = table(table(body, "text"), "format")
    is_json = shape.get("type") in ("json_schema", "json_object")
    choice = body.get("tool_choice")
    return Prompt(
        model=text_of(body, "model"),
        is_stream=body.get("stream") is True,
        text="" if results else joined([b for i in tail for b in blocks_of(i.get("content"))]),
        segments=tuple(
            segment_of(part)
            for part in (
                *tables(body, "tools"),
                *blocks_of(body.get("instructions") or []),
                *items,
            )
        ),
        tools=tools,
        forced_tool=forced(
            choice if isinstance(choice, Mapping) else {"type": choice}, tools, ("required",)
        ),
        result_sizes=tuple(len(joined(blocks_of(item.get("output")))) for item in results),
        schema=table(shape, "schema") if is_json else None,
        max_output_tokens=whole_of(body, "max_output_tokens"),
    )


def _is_own(item: Json) -> bool:
    return item.get("type") in _OWN_ITEMS or is_said_by_model(item)


def whole(reply: Reply) -> dict[str, object]:
    """Return a whole Responses answer."""
    return _answer(reply, _status(reply), _items(reply))


def events(reply: Reply) -> Iterator[bytes]:
    """Yield the events of a Responses stream."""
    for number, (kind, members) in enumerate(_events(reply)):
        yield event({"type": f"response.{kind}", "sequence_number": number, **members})


def error(status: int, text: str) -> dict[str, object]:
    """Return the body of a Responses error."""
    other = "invalid_request_error" if status < 500 else "server_error"
    kind = "rate_limit_exceeded" if status == 429 else other
    return {"error": {"message": text, "type": kind, "param": None, "code": None}}


def _events(reply: Reply) -> Iterator[tuple[str, dict[str, object]]]:
    opening = _answer(reply, "in_progress", [])
    yield "created", {"response": opening}
    yield "in_progress", {"response": opening}
    for index, item in enumerate(_items(reply)):
        is_call = item["type"] == "function_call"
        empty: dict[str, object] = {"arguments": ""} if is_call else {"content": []}
        opened = {**item, "status": "in_progress", **empty}
        yield "output_item.added", {"output_index": index, "item": opened}
        yield from _told(item, {"item_id": item["id"], "output_index": index})
        yield "output_item.done", {"output_index": index, "item": item}
    yield _status(reply), {"response": whole(reply)}


def _told(
    item: Mapping[str, object], place: Mapping[str, object]
) -> Iterator[tuple[str, dict[str, object]]]:
    if item["type"] == "function_call":
        arguments = str(item["arguments"])
        for piece in pieces(arguments):
            yield "function_call_arguments.delta", {**place, "delta": piece}
        yield "function_call_arguments.done", {**place, "arguments": arguments}
        return
    place = {**place, "content_index": 0}
    (part,) = tables(item, "content")
    yield "content_part.added", {**place, "part": {**part, "text": ""}}
    for piece in pieces(text_of(part, "text")):
        yield "output_text.delta", {**place, "delta": piece, "logprobs": []}
    yield "output_text.done", {**place, "text": part["text"], "logprobs": []}
    yield "content_part.done", {**place, "part": part}


def _items(reply: Reply) -> list[dict[str, object]]:
    items: list[dict[str, object]] = []
    if reply.answer.text:
        part = {"type": "output_text", "text": reply.answer.text, "annotations": [], "logprobs": []}
        said = {"type": "message", "role": "assistant", "content": [part]}
        items.append({"id": f"msg_sandbox_{reply.id}", "status": "completed", **said})
    for index, call in enumerate(reply.answer.calls):
        number = f"sandbox_{reply.id}_{index}"
        known = {"call_id": f"call_{number}", "name": call.name, "arguments": call.arguments}
        made = {"id": f"fc_{number}", "type": "function_call", "status": "completed"}
        items.append({**made, **known})
    return items


def _status(reply: Reply) -> str:
    return "incomplete" if reply.answer.is_cut else "completed"


def _answer(reply: Reply, status: str, output: list[dict[str, object]]) -> dict[str, object]:
    is_over = status != "in_progress"
    return {
        "id": f"resp_sandbox_{reply.id}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "instructions": None,
        "metadata": {},
        "model": reply.model,
        "output": output,
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": _usage(reply) if is_over else None,
    }


def _usage(reply: Reply) -> dict[str, object]:
    prompt, output = reply.tokens.total, reply.answer.token_count
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": reply.tokens.cache_read},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + output,
    }
