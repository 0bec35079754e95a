"""The chat dialect when all is well."""

from __future__ import annotations

from tests.fuzz.seeds import CARRYING_ID, SCHEMA, Json, Seeds


def _call(call_id: str, name: str, arguments: str) -> Json:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


_REQUEST: Json = {
    "model": "m",
    "max_tokens": 300,
    "max_completion_tokens": 400,
    "stream": True,
    "stream_options": {"include_usage": True},
    "messages": [
        {"role": "developer", "content": "Be kind."},
        {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
        {
            "role": "user",
            "name": "ann",
            "content": [
                {"type": "text", "text": "look \u00e9", "cache_control": {"type": "ephemeral"}},
                {
                    "type": "image_url",
                    "image_url": {"url": "data:image/png;base64,aGk=", "detail": "low"},
                },
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "JVBERg=="}},
            ],
        },
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "I look."}, {"type": "refusal", "refusal": "no"}],
            "reasoning_content": "hm",
            "tool_calls": [
                _call("c1", "f", '{"path":"a","n":1180591620717411303424}'),
                _call("c" * 70, "g", ""),
                _call(CARRYING_ID, "g", "{}"),
                {"id": "c3", "type": "custom", "custom": {"name": "h", "input": "free"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "[tool call failed]\ndenied"},
        {"role": "tool", "tool_call_id": "c" * 70, "content": [{"type": "text", "text": "two"}]},
        {"role": "tool", "tool_call_id": CARRYING_ID, "content": "three"},
        {"role": "tool", "tool_call_id": "nobody", "content": ""},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "[1"}},
        {"role": "function", "name": "f", "content": "legacy"},
        {"role": "user", "content": "and now?"},
        {"role": "assistant", "content": "Sure, "},
    ],
    "tools": [
        {
            "type": "function",
            "function": {"name": "f", "description": "F.", "parameters": SCHEMA, "strict": True},
        },
        {"type": "function", "function": {"name": "g"}},
    ],
    "functions": [{"name": "old", "parameters": {"type": "object"}}],
    "tool_choice": {"type": "function", "function": {"name": "f"}},
    "parallel_tool_calls": False,
    "stop": ["END"],
    "n": 1,
    "temperature": 1,
    "top_p": 0.9,
    "seed": 7,
    "frequency_penalty": 0.1,
    "presence_penalty": 0.1,
    "logit_bias": {"50256": -100},
    "logprobs": True,
    "top_logprobs": 2,
    "reasoning_effort": "high",
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
    },
    "verbosity": "low",
    "user": "u",
}
_NATIVE: Json = {
    **_REQUEST,
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
                {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
            ],
        },
    ],
    "tools": [{"type": "custom", "custom": {"name": "h", "description": "H."}}],
    "n": 2,
}
_PLAIN: Json = {
    "model": "m",
    "messages": [{"role": "user", "content": "hi"}],
    "stop": "END",
    "tool_choice": {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "required", "tools": [{"function": {"name": "f"}}]},
    },
}
_USAGE: Json = {
    "prompt_tokens": 1000,
    "completion_tokens": 7,
    "total_tokens": 1007,
    "prompt_tokens_details": {"cached_tokens": 900},
    "completion_tokens_details": {"reasoning_tokens": 3},
}
_ANSWER: Json = {
    "id": "chatcmpl-up",
    "object": "chat.completion",
    "model": "upstream-model",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "reasoning_content": "hm",
                "content": "Gr\u00fc\u00df Gott",
                "refusal": None,
                "tool_calls": [_call("c1", "f", '{"a":1}'), _call("c2", "g", "")],
                "function_call": {"name": "f", "arguments": "{}"},
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": _USAGE,
}


def _frame(delta: Json, finish: str | None = None, **extra: object) -> tuple[str, Json]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return "", {"id": "chatcmpl-up", "model": "upstream-model", "choices": [choice], **extra}


def _fragment(index: int, call_id: str | None, **function: str) -> tuple[str, Json]:
    told: Json = {"index": index, "function": function}
    return _frame({"tool_calls": [told if call_id is None else {**told, "id": call_id}]})


_STREAM = (
    _frame({"role": "assistant", "content": ""}),
    _frame({"reasoning_content": "hm"}),
    _frame({"content": "Gr\u00fc\u00df "}),
    _frame({"content": "Gott \U0001f600"}),
    _frame({"refusal": "no"}),
    _fragment(0, "c1", name="f", arguments=""),
    _fragment(1, "c2", name="g", arguments=""),
    _fragment(0, None, arguments='{"a":'),
    _fragment(0, None, arguments="1}"),
    _frame({}, "tool_calls"),
    ("", {"id": "chatcmpl-up", "choices": [], "usage": _USAGE}),
)
_ERROR: Json = {
    "error": {"message": "busy", "type": "server_error", "param": "messages", "code": "overloaded"}
}

SEEDS = Seeds(
    requests=(_REQUEST, _PLAIN, _NATIVE),
    answers=(_ANSWER,),
    streams=(_STREAM, (*_STREAM[:4], ("", _ERROR))),
    errors=(_ERROR,),
)
