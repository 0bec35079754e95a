"""The Responses dialect when all is well."""

from __future__ import annotations

from tests.fuzz.seeds import SCHEMA, SEALED, Json, Seeds


def _said(role: str, *parts: Json) -> Json:
    return {"type": "message", "role": role, "content": list(parts)}


def _call(call_id: str, name: str, arguments: str, **extra: object) -> Json:
    known = {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name}
    return {**known, "arguments": arguments, **extra}


def _output(call_id: str, output: object, kind: str = "function_call_output") -> Json:
    return {"type": kind, "call_id": call_id, "output": output}


_THOUGHT: Json = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "hm"}],
    "encrypted_content": "ZW5j",
}
_FOREIGN: Json = {
    "type": "reasoning",
    "id": "rs_2",
    "summary": [],
    "encrypted_content": SEALED,
}
_REQUEST: Json = {
    "model": "m",
    "instructions": "Be kind.",
    "input": [
        _said("developer", {"type": "input_text", "text": "Be brief."}),
        _said(
            "user",
            {"type": "input_text", "text": "look \u00e9"},
            {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "low"},
            {"type": "input_file", "filename": "a.pdf", "file_data": "JVBERg=="},
        ),
        _THOUGHT,
        _FOREIGN,
        _said(
            "assistant",
            {"type": "output_text", "text": "I look.", "annotations": []},
            {"type": "refusal", "refusal": "no"},
        ),
        _call("c1", "f", '{"path":"a","n":1180591620717411303424}'),
        _call("c" * 70, "find", "", namespace="crm"),
        {"type": "custom_tool_call", "call_id": "c3", "name": "patch", "input": "free"},
        _output("c1", "[tool call failed]\ndenied"),
        _output("c" * 70, [{"type": "input_text", "text": "two"}]),
        _output("c3", "", "custom_tool_call_output"),
        _output("nobody", []),
        {"role": "user", "content": "and now?"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"role": "assistant", "content": "Sure, "},
    ],
    "tools": [
        {"type": "function", "name": "f", "parameters": SCHEMA, "strict": True},
        {
            "type": "namespace",
            "name": "crm",
            "tools": [{"type": "function", "name": "find", "parameters": {"type": "object"}}],
        },
        {"type": "custom", "name": "patch", "format": {"type": "grammar", "definition": "x"}},
    ],
    "tool_choice": {"type": "function", "name": "f"},
    "parallel_tool_calls": False,
    "max_output_tokens": 300,
    "temperature": 1.0,
    "top_p": 0.9,
    "top_logprobs": 2,
    "include": ["reasoning.encrypted_content", "message.output_text.logprobs"],
    "reasoning": {"effort": "high", "summary": "auto"},
    "text": {
        "format": {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": True},
        "verbosity": "low",
    },
    "stream": True,
    "store": False,
    "previous_response_id": None,
    "prompt_cache_key": "k",
    "user": "u",
}
_NATIVE: Json = {
    **_REQUEST,
    "input": [
        _said(
            "user",
            {"type": "input_image", "file_id": "file_1"},
            {"type": "input_file", "file_url": "https://example.com/a.pdf"},
            {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
        ),
        {"type": "computer_call_output", "call_id": "x", "output": {}},
        {"type": "item_reference", "id": "msg_1"},
    ],
    "tools": [{"type": "web_search"}],
    "previous_response_id": "resp_1",
}
_PLAIN: Json = {
    "model": "m",
    "input": "hi",
    "tool_choice": {
        "type": "allowed_tools",
        "mode": "required",
        "tools": [{"type": "function", "name": "f"}],
    },
    "text": {"format": {"type": "json_object"}},
}
_USAGE: Json = {
    "input_tokens": 1000,
    "input_tokens_details": {"cached_tokens": 900},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 3},
    "total_tokens": 1007,
}
_MESSAGE: Json = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [
        {"type": "output_text", "text": "Gr\u00fc\u00df Gott", "annotations": []},
        {"type": "refusal", "refusal": "no"},
    ],
}
_CALLS = (
    _call("c1", "f", '{"a":1}'),
    {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c2", "name": "patch", "input": "free"},
)
_ANSWER: Json = {
    "id": "resp_up",
    "object": "response",
    "status": "completed",
    "model": "upstream-model",
    "error": None,
    "incomplete_details": None,
    "output": [_THOUGHT, _MESSAGE, *_CALLS, {"type": "web_search_call", "id": "ws_1"}],
    "usage": _USAGE,
}
_BEGUN: Json = {**_ANSWER, "status": "in_progress", "output": [], "usage": None}


def _frame(name: str, **members: object) -> tuple[str, Json]:
    kind = f"response.{name}"
    return kind, {"type": kind, "sequence_number": 0, **members}


def _item(index: int, item: Json, *inner: tuple[str, Json]) -> list[tuple[str, Json]]:
    place: Json = {"item_id": item["id"], "output_index": index}
    begun: dict[str, object] = {**item, "status": "in_progress"}
    begun.update({key: [] for key in ("content", "summary") if key in item})
    begun.update({key: "" for key in ("arguments", "input") if key in item})
    return [
        _frame("output_item.added", output_index=index, item=begun),
        *(_frame(name, **place, **members) for name, members in inner),
        _frame("output_item.done", output_index=index, item=item),
    ]


_STREAM = (
    _frame("created", response=_BEGUN),
    _frame("in_progress", response=_BEGUN),
    *_item(
        0,
        _THOUGHT,
        ("reasoning_summary_part.added", {"summary_index": 0}),
        ("reasoning_summary_text.delta", {"summary_index": 0, "delta": "hm"}),
        ("reasoning_summary_text.done", {"summary_index": 0, "text": "hm"}),
    ),
    *_item(
        1,
        _MESSAGE,
        ("output_text.delta", {"content_index": 0, "delta": "Gr\u00fc\u00df "}),
        ("output_text.delta", {"content_index": 0, "delta": "Gott"}),
        ("refusal.delta", {"content_index": 1, "delta": "no"}),
    ),
    *_item(
        2,
        _CALLS[0],
        ("function_call_arguments.delta", {"delta": '{"a":'}),
        ("function_call_arguments.delta", {"delta": "1}"}),
        ("function_call_arguments.done", {"arguments": '{"a":1}'}),
    ),
    *_item(3, _CALLS[1], ("custom_tool_call_input.delta", {"delta": "free"})),
    _frame("completed", response=_ANSWER),
)
_ERROR: Json = {
    "type": "error",
    "error": {"message": "busy", "type": "server_error", "code": "server_is_overloaded"},
}
_FAILED: Json = {**_BEGUN, "status": "failed", "error": {"code": "server_error", "message": "no"}}
_CUT: Json = {**_ANSWER, "status": "incomplete", "incomplete_details": {"reason": "content_filter"}}

SEEDS = Seeds(
    requests=(_REQUEST, _PLAIN, _NATIVE),
    answers=(_ANSWER, _CUT),
    streams=(
        _STREAM,
        (*_STREAM[:6], ("error", _ERROR)),
        (*_STREAM[:6], _frame("failed", response=_FAILED)),
        (*_STREAM[:10], _frame("incomplete", response=_CUT)),
    ),
    errors=(_ERROR, {"type": "response.failed", "response": _FAILED}),
)
