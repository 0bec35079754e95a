"""The Gemini dialect of the sandbox; the model and the wish for a stream stand in the path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import orjson

from services.embedded.sandbox.prompt import (
    Json,
    Prompt,
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

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


def read(body: Json) -> Prompt:
    """Return the prompt of a Gemini request, less what its path says."""
    tools = {
        text_of(function, "name"): _schema(function, "parameters")
        for tool in tables(body, "tools")
        for function in tables(tool, "functionDeclarations")
    }
    contents, config = tables(body, "contents"), table(body, "generationConfig")
    parts = [part for content in tail_of(contents) for part in tables(content, "parts")]
    results = [table(part, "functionResponse") for part in parts if "functionResponse" in part]
    calling = table(table(body, "toolConfig"), "functionCallingConfig")
    names = calling.get("allowedFunctionNames")
    choice = {"type": calling.get("mode"), "name": names[0] if isinstance(names, list) else ""}
    is_json = config.get("responseMimeType") == "application/json"
    return Prompt(
        model="",
        is_stream=False,
        text="" if results else joined(parts),
        segments=tuple(
            segment_of(part)
            for part in (*tables(body, "tools"), table(body, "systemInstruction"), *contents)
            if part
        ),
        tools=tools,
        forced_tool=forced(choice, tools, ("ANY",)),
        result_sizes=tuple(_size(table(result, "response")) for result in results),
        schema=_schema(config, "responseSchema") if is_json else None,
        max_output_tokens=whole_of(config, "maxOutputTokens"),
    )


def whole(reply: Reply) -> dict[str, object]:
    """Return a whole Gemini answer."""
    parts: list[dict[str, object]] = _calls(reply)
    if reply.answer.text:
        parts.insert(0, {"text": reply.answer.text})
    return _answer(reply, parts, is_last=True)


def events(reply: Reply) -> Iterator[bytes]:
    """Yield the events of a Gemini stream."""
    for piece in pieces(reply.answer.text):
        yield line(_answer(reply, [{"text": piece}]))
    for call in _calls(reply):
        yield line(_answer(reply, [call]))
    yield line(_answer(reply, [{"text": ""}], is_last=True))


def error(status: int, text: str) -> dict[str, object]:
    """Return the body of a Gemini error."""
    other = "INVALID_ARGUMENT" if status < 500 else "INTERNAL"
    name = _STATUSES.get(status, other)
    return {"error": {"code": status, "message": text, "status": name}}


def _schema(owner: Json, key: str) -> Json:
    """Return a schema whose types are written as JSON Schema writes them."""
    is_config = key == "responseSchema"
    plain = table(owner, "responseJsonSchema" if is_config else "parametersJsonSchema")
    found = _plain(plain or table(owner, key))
    return found if isinstance(found, Mapping) else {}


def _plain(value: object) -> object:
    match value:
        case dict():
            return {
                key: child.lower() if key == "type" and isinstance(child, str) else _plain(child)
                for key, child in value.items()
            }
        case list():
            return [_plain(child) for child in value]
    return value


def _size(response: Json) -> int:
    """Return the characters of a tool's result: of its text where it is one."""
    match list(response.values()):
        case [str(words)]:
            return len(words)
    return len(orjson.dumps(response).decode())


def _calls(reply: Reply) -> list[dict[str, object]]:
    return [
        {
            "functionCall": {
                "id": f"call_sandbox_{reply.id}_{index}",
                "name": call.name,
                "args": orjson.loads(call.arguments),
            }
        }
        for index, call in enumerate(reply.answer.calls)
    ]


def _answer(
    reply: Reply, parts: list[dict[str, object]], *, is_last: bool = False
) -> dict[str, object]:
    candidate: dict[str, object] = {"content": {"role": "model", "parts": parts}, "index": 0}
    answer: dict[str, object] = {"candidates": [candidate], "modelVersion": reply.model}
    answer["responseId"] = f"sandbox-{reply.id}"
    if is_last:
        candidate["finishReason"] = "MAX_TOKENS" if reply.answer.is_cut else "STOP"
        answer["usageMetadata"] = _usage(reply)
    return answer


def _usage(reply: Reply) -> dict[str, object]:
    prompt, output = reply.tokens.total, reply.answer.token_count
    return {
        "promptTokenCount": prompt,
        "cachedContentTokenCount": reply.tokens.cache_read,
        "candidatesTokenCount": output,
        "totalTokenCount": prompt + output,
    }
