"""Chat Completions as a strict upstream reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.labels import FAILED_RESULT_LABEL, attachment_label
from services.domain.wire.reading import mapping, rows, text, whole
from tests.unit.domain.wire.recorded.requests import Asked, Entry
from tests.unit.domain.wire.recorded.upstreams.plain import (
    Calls,
    data_of,
    lines,
    number_of,
    said,
    schema_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.domain.wire.recorded.upstreams.plain import Json


def asked_in_chat(body: Json) -> Asked:
    """Return what is read of a body."""
    messages = [mapping(message) for message in rows(body["messages"])]
    roles = [*(message["role"] for message in messages), ""]
    leading = next(at for at, role in enumerate(roles) if role != "system")
    calls = Calls()
    choice = body.get("tool_choice", "")
    function = text(mapping(mapping(choice).get("function")).get("name"))
    schema = mapping(mapping(body.get("response_format")).get("json_schema")).get("schema")
    functions = [mapping(mapping(tool)["function"]) for tool in rows(body.get("tools"))]
    return Asked(
        entries=tuple(e for message in messages[leading:] for e in _chat_message(message, calls)),
        system=lines(message["content"] for message in messages[:leading]),
        tools=tuple(
            (text(f["name"]), text(f.get("description")), schema_of(f["parameters"]))
            for f in functions
        ),
        choice=text(choice) or (f"named {function}" if function else ""),
        limit=whole(body.get("max_tokens")),
        temperature=number_of(body.get("temperature")),
        stop=tuple(map(text, rows(body.get("stop")))),
        schema="" if schema is None else schema_of(schema),
    )


def _chat_message(message: Json, calls: Calls) -> Iterator[Entry]:
    role, content = text(message["role"]), message["content"]
    if role == "tool":
        words = text(content)
        is_error = words.startswith(FAILED_RESULT_LABEL)
        plain = words.removeprefix(FAILED_RESULT_LABEL).removeprefix("\n")
        yield calls.result(message["tool_call_id"], plain, is_error=is_error)
        return
    tool_calls = [mapping(call) for call in rows(message.get("tool_calls"))]
    if isinstance(content, str):
        yield said(role, content)
    for part in map(mapping, rows(content)):
        if part["type"] == "text":
            is_label = text(part["text"]).startswith(attachment_label("")[:12])
            yield from () if is_label else (said(role, part["text"]),)
        elif part["type"] == "image_url":
            yield Entry(role, "image", data_of(mapping(part["image_url"])["url"]))
        else:
            yield Entry(role, "document", data_of(mapping(part["file"])["file_data"]))
    assert content or tool_calls
    for call in tool_calls:
        function = mapping(call["function"])
        yield calls.new(call["id"], function["name"], text(function["arguments"]))
