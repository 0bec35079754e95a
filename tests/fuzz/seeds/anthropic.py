"""The Messages dialect when all is well."""

from __future__ import annotations

from tests.fuzz.seeds import CARRYING_ID, SCHEMA, SEALED, USER_ID, Json, Seeds

_MARK: Json = {"type": "ephemeral", "ttl": "1h"}


def _image(**source: object) -> Json:
    return {"type": "image", "source": source}


def _document(**source: object) -> Json:
    return {"type": "document", "title": "T", "source": source, "citations": {"enabled": True}}


_USER: list[Json] = [
    {"type": "text", "text": "look é \U0001f600", "cache_control": _MARK},
    _image(type="base64", media_type="image/png", data="aGk="),
    _document(type="base64", media_type="application/pdf", data="JVBERg=="),
    _document(type="text", media_type="text/plain", data="plain words"),
    _document(type="content", content=[{"type": "text", "text": "inner"}]),
]
_STORED: list[Json] = [
    _image(type="url", url="https://example.com/a.png"),
    _image(type="file", file_id="file_1"),
    _document(type="url", url="https://example.com/a.pdf"),
]
_ASSISTANT: list[Json] = [
    {"type": "thinking", "thinking": "hm \u00fc", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "cmVk"},
    {"type": "text", "text": "I look."},
    {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "q"}},
    {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []},
    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"path": "a", "n": 2**70}},
    {"type": "tool_use", "id": "tool.u:2", "name": "g", "input": {}},
    {"type": "thinking", "thinking": "", "signature": SEALED},
    {"type": "tool_use", "id": CARRYING_ID, "name": "g", "input": {}},
]
_RESULTS: list[Json] = [
    {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "is_error": True,
        "content": [{"type": "text", "text": "denied"}, _image(type="base64", data="aGk=")],
    },
    {"type": "tool_result", "tool_use_id": "tool.u:2", "content": "done"},
    {"type": "tool_result", "tool_use_id": CARRYING_ID, "content": []},
    {"type": "tool_result", "tool_use_id": "nobody", "content": [{"type": "tool_reference"}]},
    {"type": "text", "text": "and now?"},
]
_REQUEST: Json = {
    "model": "m",
    "max_tokens": 300,
    "stream": True,
    "system": [
        {"type": "text", "text": "x-anthropic-billing-header: a=1"},
        {"type": "text", "text": "Be kind.", "cache_control": _MARK},
    ],
    "messages": [
        {"role": "user", "content": _USER},
        {"role": "assistant", "content": _ASSISTANT},
        {"role": "system", "content": [{"type": "text", "text": "mind the gap"}]},
        {"role": "user", "content": _RESULTS},
        {"role": "assistant", "content": "Sure, "},
    ],
    "tools": [
        {"name": "f", "description": "F.", "input_schema": SCHEMA, "strict": True},
        {"name": "g", "input_schema": {"type": "object"}, "cache_control": _MARK},
    ],
    "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
    "thinking": {"type": "enabled", "budget_tokens": 4000},
    "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": SCHEMA}},
    "metadata": {"user_id": USER_ID},
    "stop_sequences": ["END", " "],
    "temperature": 0.5,
    "top_p": 0.9,
    "top_k": 40,
    "context_management": {"edits": []},
}
_NATIVE: Json = {
    **_REQUEST,
    "messages": [{"role": "user", "content": [*_USER, *_STORED]}],
    "tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 3}],
}
_PLAIN: Json = {
    "model": "m",
    "max_tokens": 9,
    "system": "Be kind.",
    "messages": [{"role": "user", "content": "hi"}, {"role": "user", "content": "again"}],
    "tool_choice": {"type": "tool", "name": "f"},
}
_USAGE: Json = {
    "input_tokens": 12,
    "cache_read_input_tokens": 900,
    "cache_creation_input_tokens": 5,
    "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 3},
    "output_tokens": 7,
    "server_tool_use": {"web_search_requests": 1},
}
_ANSWER: Json = {
    "id": "msg_up",
    "type": "message",
    "role": "assistant",
    "model": "upstream-model",
    "content": _ASSISTANT,
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "stop_details": {"type": "refusal", "category": "cyber"},
    "usage": _USAGE,
}


def _frame(kind: str, **members: object) -> tuple[str, Json]:
    return kind, {"type": kind, **members}


def _block(index: int, block: Json, *deltas: Json) -> list[tuple[str, Json]]:
    return [
        _frame("content_block_start", index=index, content_block=block),
        *(_frame("content_block_delta", index=index, delta=delta) for delta in deltas),
        _frame("content_block_stop", index=index),
    ]


_STREAM = (
    _frame("message_start", message={**_ANSWER, "content": [], "stop_reason": None}),
    _frame("ping"),
    *_block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "hm \u00fc"},
        {"type": "signature_delta", "signature": "c2ln"},
    ),
    *_block(1, {"type": "redacted_thinking", "data": "cmVk"}),
    *_block(
        2,
        {"type": "text", "text": ""},
        {"type": "text_delta", "text": "Gr\u00fc\u00df "},
        {"type": "citations_delta", "citation": {"type": "char_location"}},
        {"type": "text_delta", "text": "Gott \U0001f600"},
    ),
    *_block(
        3,
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
        {"type": "input_json_delta", "partial_json": '{"a"'},
        {"type": "input_json_delta", "partial_json": ": 1}"},
    ),
    *_block(4, {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {"b": 2**70}}),
    *_block(5, {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}),
    _frame("message_delta", delta={"stop_reason": "tool_use"}, usage=_USAGE),
    _frame("message_stop"),
)
_ERROR: Json = {
    "type": "error",
    "error": {"type": "overloaded_error", "message": "busy"},
    "request_id": "req_1",
}

SEEDS = Seeds(
    requests=(_REQUEST, _PLAIN, _NATIVE),
    answers=(_ANSWER,),
    streams=(_STREAM, (*_STREAM[:9], ("error", _ERROR))),
    errors=(_ERROR,),
)
