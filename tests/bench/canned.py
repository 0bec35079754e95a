"""What the canned provider answers in every dialect, and how to tell that a stream is whole."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass

from tests.bench.shapes import Dialect, Route

TEXT = "x" * 200
MAX_TOKENS = 256


@dataclass(frozen=True, slots=True)
class Script:
    """The bytes of one dialect. Deltas are made as they go: each carries the time it was sent."""

    whole: bytes
    opening: bytes
    before_stamp: bytes
    after_stamp: bytes
    closing: bytes
    terminal: str

    def delta(self) -> bytes:
        """Return one delta whose text is `<monotonic nanoseconds> `."""
        return b"%b<%d> %b" % (self.before_stamp, time.monotonic_ns(), self.after_stamp)


def script_of(path: bytes) -> Script:
    """Return the script of a request path."""
    if path.endswith(b"/chat/completions"):
        return CHAT
    if path.endswith(b"/responses"):
        return RESPONSES
    return GEMINI if b"/models/" in path else MESSAGES


def request_body(route: Route, model: str, *, is_stream: bool, kib: int = 4) -> str:
    """Return a request of about `kib` KiB in the client's dialect of a route."""
    words = "lorem ipsum dolor sit amet "
    text = (words * (kib * 1024 // len(words)))[: max(2, kib * 1024 - 200)]
    named: dict[str, object] = {"model": model, "stream": is_stream}
    said = [{"role": "user", "content": text}]
    match route.client:
        case Dialect.GEMINI:
            contents = [{"role": "user", "parts": [{"text": text}]}]
            config = {"maxOutputTokens": MAX_TOKENS}
            return json.dumps({"contents": contents, "generationConfig": config})
        case Dialect.RESPONSES:
            return json.dumps({**named, "max_output_tokens": MAX_TOKENS, "input": said})
        case Dialect.CHAT if is_stream:
            named["stream_options"] = {"include_usage": True}
    return json.dumps({**named, "max_tokens": MAX_TOKENS, "messages": said})


def terminal_of(route: Route) -> str:
    """Return what ends a whole stream in the client's dialect."""
    return _SCRIPTS[route.client].terminal


def _event(kind: str, fields: dict[str, object]) -> bytes:
    return f"event: {kind}\ndata: {_compact({'type': kind, **fields})}\n\n".encode()


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _chat_chunk(fields: dict[str, object]) -> bytes:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "bench"}
    return f"data: {_compact({**head, **fields})}\n\n".encode()


def _chat_delta(delta: dict[str, object], reason: str | None = None) -> bytes:
    return _chat_chunk({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})


def _split(sample: bytes) -> tuple[bytes, bytes]:
    before, after = sample.split(b"STAMP")
    return before, after


_MESSAGE: dict[str, object] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "bench",
    "stop_sequence": None,
}
_MESSAGES_DELTA = _split(
    _event("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "STAMP"}})
)
_CHAT_DELTA = _split(_chat_delta({"content": "STAMP"}))
_CHAT_USAGE = {"prompt_tokens": 11, "completion_tokens": 4, "total_tokens": 15}

MESSAGES = Script(
    whole=_compact(
        {
            **_MESSAGE,
            "content": [{"type": "text", "text": TEXT}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 11, "output_tokens": 4},
        }
    ).encode(),
    opening=_event(
        "message_start",
        {
            "message": {
                **_MESSAGE,
                "content": [],
                "stop_reason": None,
                "usage": {"input_tokens": 11, "output_tokens": 1},
            }
        },
    )
    + _event("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
    before_stamp=_MESSAGES_DELTA[0],
    after_stamp=_MESSAGES_DELTA[1],
    closing=_event("content_block_stop", {"index": 0})
    + _event(
        "message_delta",
        {
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 4},
        },
    )
    + _event("message_stop", {}),
    terminal="message_stop",
)
"""The Messages dialect."""

CHAT = Script(
    whole=_compact(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "bench",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": TEXT},
                    "finish_reason": "stop",
                }
            ],
            "usage": _CHAT_USAGE,
        }
    ).encode(),
    opening=_chat_delta({"role": "assistant", "content": ""}),
    before_stamp=_CHAT_DELTA[0],
    after_stamp=_CHAT_DELTA[1],
    closing=_chat_delta({}, "stop")
    + _chat_chunk({"choices": [], "usage": _CHAT_USAGE})
    + b"data: [DONE]\n\n",
    terminal="[DONE]",
)
"""The Chat Completions dialect."""

_RESPONSE: dict[str, object] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "bench",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
_RESPONSES_PLACE: dict[str, object] = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
_RESPONSES_USAGE = {
    "input_tokens": 11,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 4,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 15,
}


def _responses_part(text: str) -> dict[str, object]:
    return {"type": "output_text", "text": text, "annotations": []}


def _responses_item(status: str, *texts: str) -> dict[str, object]:
    content = [_responses_part(text) for text in texts]
    head = {"id": "msg_1", "type": "message", "role": "assistant", "status": status}
    return {**head, "content": content}


def _responses_event(number: int, kind: str, fields: dict[str, object]) -> bytes:
    return _event(f"response.{kind}", {"sequence_number": number, **fields})


_BEGUN = {"response": {**_RESPONSE, "status": "in_progress", "output": [], "usage": None}}
_RESPONSES_DONE: dict[str, object] = {
    **_RESPONSE,
    "status": "completed",
    "output": [_responses_item("completed", TEXT)],
    "usage": _RESPONSES_USAGE,
}
_RESPONSES_DELTA = _split(
    _responses_event(4, "output_text.delta", {**_RESPONSES_PLACE, "delta": "STAMP", "logprobs": []})
)

RESPONSES = Script(
    whole=_compact(_RESPONSES_DONE).encode(),
    opening=_responses_event(0, "created", dict(_BEGUN))
    + _responses_event(1, "in_progress", dict(_BEGUN))
    + _responses_event(
        2, "output_item.added", {"output_index": 0, "item": _responses_item("in_progress")}
    )
    + _responses_event(3, "content_part.added", {**_RESPONSES_PLACE, "part": _responses_part("")}),
    before_stamp=_RESPONSES_DELTA[0],
    after_stamp=_RESPONSES_DELTA[1],
    closing=_responses_event(
        5, "output_text.done", {**_RESPONSES_PLACE, "text": TEXT, "logprobs": []}
    )
    + _responses_event(6, "content_part.done", {**_RESPONSES_PLACE, "part": _responses_part(TEXT)})
    + _responses_event(
        7, "output_item.done", {"output_index": 0, "item": _responses_item("completed", TEXT)}
    )
    + _responses_event(8, "completed", {"response": _RESPONSES_DONE}),
    terminal='"total_tokens":15',
)
"""The Responses dialect; what its closing events repeat of the text is not what was streamed."""


def _gemini_answer(text: str, reason: str | None = None) -> dict[str, object]:
    content = {"role": "model", "parts": [{"text": text}]}
    candidate = {"content": content, "index": 0, **({"finishReason": reason} if reason else {})}
    counts = {"promptTokenCount": 11, "candidatesTokenCount": 4, "totalTokenCount": 15}
    head = {"modelVersion": "bench", "responseId": "resp-1"}
    return {"candidates": [candidate], "usageMetadata": counts, **head}


def _gemini_chunk(text: str, reason: str | None = None) -> bytes:
    return f"data: {_compact(_gemini_answer(text, reason))}\r\n\r\n".encode()


_GEMINI_DELTA = _split(_gemini_chunk("STAMP"))

GEMINI = Script(
    whole=_compact(_gemini_answer(TEXT, "STOP")).encode(),
    opening=b"",
    before_stamp=_GEMINI_DELTA[0],
    after_stamp=_GEMINI_DELTA[1],
    closing=_gemini_chunk("", "STOP"),
    terminal="finishReason",
)
"""The Gemini dialect."""

_SCRIPTS: Mapping[Dialect, Script] = {
    Dialect.MESSAGES: MESSAGES,
    Dialect.CHAT: CHAT,
    Dialect.RESPONSES: RESPONSES,
    Dialect.GEMINI: GEMINI,
}
