"""Gemini as a strict upstream reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.wire.reading import mapping, rows, text, whole
from tests.unit.domain.wire.recorded.requests import Asked, Entry
from tests.unit.domain.wire.recorded.upstreams.plain import Calls, lines, number_of, said, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.domain.wire.recorded.upstreams.plain import Json


def asked_in_contents(body: Json) -> Asked:
    """Return what is read of a body."""
    contents = [mapping(content) for content in rows(body["contents"])]
    roles = [content["role"] for content in contents]
    assert roles == ["user", "model"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)
    config = mapping(body.get("generationConfig"))
    calling = mapping(mapping(body.get("toolConfig")).get("functionCallingConfig"))
    names = rows(calling.get("allowedFunctionNames"))
    mode = {"ANY": "required", "NONE": "none"}.get(text(calling.get("mode")), "")
    calls = Calls()
    declared = [
        mapping(function)
        for tool in map(mapping, rows(body.get("tools")))
        for function in rows(tool["functionDeclarations"])
    ]
    schema = config.get("responseJsonSchema")
    return Asked(
        entries=tuple(entry for content in contents for entry in _content(content, calls)),
        system=lines(
            mapping(part)["text"]
            for part in rows(mapping(body.get("systemInstruction")).get("parts"))
        ),
        tools=tuple(
            (text(f["name"]), text(f.get("description")), schema_of(f["parameters"]))
            for f in declared
        ),
        choice=f"named {lines(names)}" if names else mode,
        limit=whole(config.get("maxOutputTokens")),
        temperature=number_of(config.get("temperature")),
        stop=tuple(map(text, rows(config.get("stopSequences")))),
        schema="" if schema is None else schema_of(schema),
    )


def _content(content: Json, calls: Calls) -> Iterator[Entry]:
    role = text(content["role"]).replace("model", "assistant")
    for part in map(mapping, rows(content["parts"])):
        if "functionCall" in part:
            call = mapping(part["functionCall"])
            yield calls.new(call["id"], call["name"], json.dumps(call["args"]))
        elif "functionResponse" in part:
            answer = mapping(part["functionResponse"])
            assert answer["name"]
            ((key, words),) = mapping(answer["response"]).items()
            yield calls.result(answer["id"], text(words), is_error=key == "error")
        elif "inlineData" in part:
            media = mapping(part["inlineData"])
            kind = "image" if text(media["mimeType"]).startswith("image/") else "document"
            yield Entry(role, kind, text(media["data"]))
        else:
            assert not part.get("thought")
            yield said(role, part["text"])
