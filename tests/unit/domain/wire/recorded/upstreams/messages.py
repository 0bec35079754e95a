"""Messages as a strict upstream reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.wire.reading import mapping, rows, text, whole
from tests.unit.domain.wire.recorded.requests import Asked, Entry
from tests.unit.domain.wire.recorded.upstreams.plain import Calls, lines, number_of, said, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.domain.wire.recorded.upstreams.plain import Json


def asked_in_messages(body: Json) -> Asked:
    """Return what is read of a body."""
    messages = [mapping(message) for message in rows(body["messages"])]
    roles = [message["role"] for message in messages]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)
    calls = Calls()
    system = body.get("system", "")
    choice = mapping(body.get("tool_choice"))
    named = {"any": "required", "tool": f"named {text(choice.get('name'))}"}
    config = mapping(mapping(body.get("output_config")).get("format"))
    return Asked(
        entries=tuple(entry for message in messages for entry in _message(message, calls)),
        system=text(system) or lines(mapping(block)["text"] for block in rows(system)),
        tools=tuple(
            (text(tool["name"]), text(tool.get("description")), schema_of(tool["input_schema"]))
            for tool in map(mapping, rows(body.get("tools")))
        ),
        choice=named.get(text(choice.get("type")), text(choice.get("type"))),
        limit=whole(body["max_tokens"]),
        temperature=number_of(body.get("temperature")),
        stop=tuple(map(text, rows(body.get("stop_sequences")))),
        schema=schema_of(config["schema"]) if config else "",
    )


def _message(message: Json, calls: Calls) -> Iterator[Entry]:
    role, content = text(message["role"]), message["content"]
    blocks = rows(content) or [{"type": "text", "text": content}]
    for block in map(mapping, blocks):
        match block["type"]:
            case "text":
                yield said(role, block["text"])
            case "image" | "document" as kind:
                yield Entry(role, str(kind), text(mapping(block["source"])["data"]))
            case "tool_use":
                assert isinstance(block["input"], dict)
                yield calls.new(block["id"], block["name"], json.dumps(block["input"]))
            case "tool_result":
                yield from _message_result(block, calls)
            case "thinking":
                assert block["signature"]
                yield Entry(role, "thinking", text(block["thinking"]))
            case kind:
                raise AssertionError(kind)


def _message_result(block: Json, calls: Calls) -> Iterator[Entry]:
    content = block.get("content", "")
    parts = [mapping(part) for part in rows(content)]
    words = text(content) or lines(part["text"] for part in parts if part["type"] == "text")
    yield calls.result(block["tool_use_id"], words, is_error=block.get("is_error") is True)
    for part in parts:
        if part["type"] == "image":
            yield Entry("user", "image", text(mapping(part["source"])["data"]))
