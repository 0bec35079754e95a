"""What the canned provider answers, in both dialects, and how to tell that a stream is whole."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

from tests.bench.shapes import Route

TEXT = "x" * 200


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
    return CHAT if path.endswith(b"/chat/completions") else MESSAGES


def request_body(route: Route, model: str, *, is_stream: bool, kib: int = 4) -> str:
    """Return a request of about `kib` KiB in the client's dialect of a route."""
    words = "lorem ipsum dolor sit amet "
    text = (words * (kib * 1024 // len(words)))[: max(2, kib * 1024 - 200)]
    fields: dict[str, object] = {"model": model, "max_tokens": 256, "stream": is_stream}
    if is_stream and not route.is_messages:
        fields["stream_options"] = {"include_usage": True}
    return json.dumps({**fields, "messages": [{"role": "user", "content": text}]})


def terminal_of(route: Route) -> str:
    """Return what ends a whole stream in the client's dialect."""
    return MESSAGES.terminal if route.is_messages else CHAT.terminal


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
