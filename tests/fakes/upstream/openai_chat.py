"""OpenAI Chat Completions as the fake provider speaks it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import orjson

from tests.fakes.upstream.answer import Answer
from tests.fakes.upstream.dialect import frame
from tests.fakes.upstream.values import Usage

CREATED_UNIX_S = 1_700_000_000
"""Fixed, so that equal requests get equal bytes."""

ERROR_TYPES = {
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "permission_denied"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("rate_limit_exceeded", "rate_limit_exceeded"),
}


class OpenAIChatDialect:
    """Writes Chat Completions answers."""

    def full(self, answer: Answer) -> Mapping[str, object]:
        """Return a `chat.completion` object."""
        message: dict[str, object] = {"role": "assistant", "content": None, "refusal": None}
        if answer.calls:
            message["tool_calls"] = [
                {
                    "id": answer.new_id("call_", index),
                    "type": "function",
                    "function": {"name": call.name, "arguments": answer.arguments(call)},
                }
                for index, call in enumerate(answer.calls)
            ]
        if answer.has_text or not answer.calls:
            message["content"] = "".join(answer.pieces())
        if answer.thinking is not None:
            message["reasoning_content"] = answer.thinking
        choice = {"index": 0, "message": message, "logprobs": None}
        body = {
            **_envelope(answer, "chat.completion"),
            "choices": [{**choice, "finish_reason": _finish_reason(answer)}],
        }
        return body if answer.usage is None else {**body, "usage": _usage(answer.usage)}

    def stream(self, answer: Answer) -> Iterator[bytes]:
        """Yield chunks from the role delta to `[DONE]`."""
        base = _envelope(answer, "chat.completion.chunk")
        yield _chunk(base, {"role": "assistant", "content": "" if answer.has_text else None})
        for delta in _deltas(answer):
            yield _chunk(base, delta)
        yield _chunk(base, {}, _finish_reason(answer))
        if answer.include_usage and answer.usage is not None:
            yield frame({**base, "choices": [], "usage": _usage(answer.usage)})
        yield b"data: [DONE]\n\n"

    def error(self, status: int, kind: str | None, message: str) -> Mapping[str, object]:
        """Return an error envelope."""
        return openai_error(status, kind, message)

    def stream_error(self, kind: str | None, message: str) -> bytes:
        """Return a frame that holds an error object."""
        return b"data: " + orjson.dumps(self.error(500, kind, message)) + b"\n\n"

    def count(self, tokens: int) -> None:
        """Return nothing: the API counts no tokens."""


def openai_error(status: int, kind: str | None, message: str) -> Mapping[str, object]:
    """Return the error envelope of both OpenAI dialects."""
    fallback = "server_error" if status >= 500 else "invalid_request_error"
    type_, code = (kind, kind) if kind else ERROR_TYPES.get(status, (fallback, None))
    return {"error": {"message": message, "type": type_, "param": None, "code": code}}


def _envelope(answer: Answer, kind: str) -> dict[str, object]:
    return {
        "id": answer.new_id("chatcmpl-"),
        "object": kind,
        "created": CREATED_UNIX_S,
        "model": answer.model,
        "system_fingerprint": "fp_fake",
    }


def _finish_reason(answer: Answer) -> str:
    return answer.stop or ("tool_calls" if answer.calls else "stop")


def _chunk(
    base: Mapping[str, object], delta: Mapping[str, object], finish: str | None = None
) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return frame({**base, "choices": [choice]})


def _deltas(answer: Answer) -> Iterator[Mapping[str, object]]:
    if answer.thinking is not None:
        yield {"reasoning_content": answer.thinking}
    for piece in answer.pieces():
        yield {"content": piece}
    for index, call in enumerate(answer.calls):
        opening = {"name": call.name, "arguments": ""}
        call_id = answer.new_id("call_", index)
        yield {
            "tool_calls": [{"index": index, "id": call_id, "type": "function", "function": opening}]
        }
        for piece in answer.argument_pieces(call):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _usage(usage: Usage) -> dict[str, object]:
    prompt = usage.input + usage.cached + usage.written
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
