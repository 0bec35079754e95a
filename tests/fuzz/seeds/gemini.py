"""The Gemini dialect when all is well."""

from __future__ import annotations

from tests.fuzz.seeds import SCHEMA, Json, Seeds


def _call(name: str, args: Json, call_id: str = "", **extra: object) -> Json:
    told: Json = {"name": name, "args": args}
    return {"functionCall": {"id": call_id, **told} if call_id else told, **extra}


def _result(name: str, response: Json, **extra: object) -> Json:
    return {"functionResponse": {"name": name, "response": response, **extra}}


_REQUEST: Json = {
    "systemInstruction": {"role": "user", "parts": [{"text": "Be kind."}, {"text": "Be brief."}]},
    "contents": [
        {
            "role": "user",
            "parts": [
                {"text": "look \u00e9"},
                {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                {"inline_data": {"mime_type": "application/pdf", "data": "JVBERg=="}},
            ],
        },
        {
            "role": "model",
            "parts": [
                {"text": "plan", "thought": True, "thoughtSignature": "c2ln"},
                {"text": "I look."},
                _call("f", {"path": "a", "n": 2**70}, "c1", thoughtSignature="c2ln"),
                _call("g", {}),
                {"executableCode": {"language": "PYTHON", "code": "1+1"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
            ],
        },
        {
            "role": "function",
            "parts": [
                _result("f", {"error": "denied"}, id="c1"),
                _result("g", {"result": "two"}, parts=[{"inlineData": {"data": "aGk="}}]),
                _result("nobody", {}),
                {"text": "and now?"},
            ],
        },
        {"parts": [{"text": "no role"}]},
        {"role": "model", "parts": [{"text": "Sure, "}]},
    ],
    "tools": [
        {
            "functionDeclarations": [
                {"name": "f", "description": "F.", "parameters": SCHEMA},
                {"name": "g", "parametersJsonSchema": SCHEMA},
            ]
        },
    ],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
    "generationConfig": {
        "maxOutputTokens": 300,
        "stopSequences": ["END"],
        "candidateCount": 1,
        "temperature": 1.0,
        "topP": 0.9,
        "topK": 40,
        "seed": 7,
        "frequencyPenalty": 0.1,
        "presencePenalty": 0.1,
        "responseLogprobs": True,
        "logprobs": 2,
        "responseMimeType": "application/json",
        "responseSchema": SCHEMA,
        "thinkingConfig": {"thinkingBudget": 4000, "includeThoughts": True},
    },
    "safetySettings": [],
    "cachedContent": "cachedContents/1",
    "labels": {"a": "b"},
}
_NATIVE: Json = {
    **_REQUEST,
    "contents": [
        {
            "parts": [
                {"inlineData": {"mimeType": "audio/wav", "data": "aGk="}},
                {"fileData": {"mimeType": "video/mp4", "fileUri": "https://example.com/v"}},
            ]
        }
    ],
    "tools": [{"googleSearch": {}}],
}
_PLAIN: Json = {
    "model": "models/m",
    "system_instruction": "Be kind.",
    "contents": [{"parts": [{"text": "hi"}]}],
    "generation_config": {"thinking_config": {"thinking_level": "LOW"}, "max_output_tokens": 9},
    "tool_config": {"function_calling_config": {"mode": "NONE"}},
}
_USAGE: Json = {
    "promptTokenCount": 1000,
    "cachedContentTokenCount": 900,
    "candidatesTokenCount": 7,
    "thoughtsTokenCount": 3,
    "toolUsePromptTokenCount": 2,
    "totalTokenCount": 1012,
}


def _answer(*parts: Json, finish: str = "", **extra: object) -> Json:
    content = {"role": "model", "parts": list(parts)}
    candidate: dict[str, object] = {"index": 0, "content": content}
    if finish:
        candidate["finishReason"] = finish
    told: dict[str, object] = {"candidates": [candidate], "modelVersion": "upstream-model"}
    return {**told, "responseId": "up-1", **extra}


_PARTS: tuple[Json, ...] = (
    {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
    {"text": "Gr\u00fc\u00df Gott \U0001f600"},
    _call("f", {"a": 2**70}, "c1", thoughtSignature="c2ln"),
    _call("g", {}),
    {"executableCode": {"language": "PYTHON", "code": "1+1"}},
    {"text": "", "thoughtSignature": "c2ln"},
)
_ANSWER = _answer(*_PARTS, finish="STOP", usageMetadata=_USAGE)
_BLOCKED: Json = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": _USAGE}
_STREAM = (
    *(("", _answer(part)) for part in _PARTS),
    ("", _answer(finish="STOP", usageMetadata=_USAGE)),
)
_ERROR: Json = {
    "error": {
        "code": 503,
        "message": "busy",
        "status": "UNAVAILABLE",
        "details": [{"reason": "R", "fieldViolations": [{"field": "contents"}]}],
    }
}

SEEDS = Seeds(
    requests=(_REQUEST, _PLAIN, _NATIVE),
    answers=(_ANSWER, _BLOCKED),
    streams=(_STREAM, (*_STREAM[:2], ("", _ERROR)), (("", _BLOCKED),)),
    errors=(_ERROR,),
)
