"""Responses as a strict upstream reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.labels import FAILED_RESULT_LABEL
from services.domain.wire.reading import mapping, rows, text, whole
from tests.unit.domain.wire.recorded.requests import Asked, Entry
from tests.unit.domain.wire.recorded.upstreams.plain import (
    Calls,
    data_of,
    number_of,
    said,
    schema_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.domain.wire.recorded.upstreams.plain import Json


def asked_in_responses(body: Json) -> Asked:
    """Return what is read of a body."""
    calls = Calls()
    asked = body["input"]
    items = rows(asked) or [{"type": "message", "role": "user", "content": asked}]
    choice = body.get("tool_choice", "")
    name = text(mapping(choice).get("name"))
    schema = mapping(mapping(body.get("text")).get("format")).get("schema")
    return Asked(
        entries=tuple(entry for item in items for entry in _item(mapping(item), calls)),
        system=text(body.get("instructions")),
        tools=tuple(
            (text(tool["name"]), text(tool.get("description")), schema_of(tool["parameters"]))
            for tool in map(mapping, rows(body.get("tools")))
        ),
        choice=text(choice) or (f"named {name}" if name else ""),
        limit=whole(body.get("max_output_tokens")),
        temperature=number_of(body.get("temperature")),
        schema="" if schema is None else schema_of(schema),
    )


def _item(item: Json, calls: Calls) -> Iterator[Entry]:
    match item.get("type", "message"):
        case "message":
            role = text(item["role"]).replace("developer", "system")
            yield from _input_parts(role, item["content"])
        case "function_call":
            yield calls.new(item["call_id"], item["name"], text(item["arguments"]))
        case "function_call_output":
            parts = list(_input_parts("user", item["output"] or " ")) if item["output"] else []
            words = "\n".join(part.words for part in parts if part.kind == "text")
            is_error = words.startswith(FAILED_RESULT_LABEL)
            plain = words.removeprefix(FAILED_RESULT_LABEL).removeprefix("\n")
            yield calls.result(item["call_id"], plain, is_error=is_error)
            yield from (part for part in parts if part.kind != "text")
        case "reasoning":
            assert item["encrypted_content"]
            yield Entry("assistant", "thinking")
        case kind:
            raise AssertionError(kind)


def _input_parts(role: str, content: object) -> Iterator[Entry]:
    if isinstance(content, str):
        yield said(role, content)
    for part in map(mapping, rows(content)):
        match part["type"]:
            case "input_text" | "output_text" as kind:
                assert (kind == "output_text") == (role == "assistant")
                yield said(role, part["text"])
            case "input_image":
                yield Entry(role, "image", data_of(part["image_url"]))
            case "input_file":
                yield Entry(role, "document", data_of(part["file_data"]))
            case kind:
                raise AssertionError(kind)
