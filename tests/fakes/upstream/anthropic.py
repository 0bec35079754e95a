"""Anthropic Messages as the fake provider speaks it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.fakes.upstream.answer import Answer
from tests.fakes.upstream.dialect import frame
from tests.fakes.upstream.values import Usage

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class AnthropicDialect:
    """Writes Messages answers."""

    def full(self, answer: Answer) -> Mapping[str, object]:
        """Return a Message object."""
        content: list[Mapping[str, object]] = [
            {
                "type": "tool_use",
                "id": answer.new_id("toolu_", index),
                "name": call.name,
                "input": call.args,
            }
            for index, call in enumerate(answer.calls)
        ]
        if not answer.calls and not answer.empty:
            content = [{"type": "text", "text": "".join(answer.pieces())}]
        message = {**_envelope(answer), "content": content, "stop_reason": _stop_reason(answer)}
        return message if answer.usage is None else {**message, "usage": _usage(answer.usage)}

    def stream(self, answer: Answer) -> Iterator[bytes]:
        """Yield the events from `message_start` to `message_stop`."""
        start = {**_envelope(answer), "content": [], "stop_reason": None}
        if answer.usage is not None:
            start["usage"] = {**_usage(answer.usage), "output_tokens": 1}
        yield _event("message_start", message=start)
        if answer.calls:
            yield from _tool_blocks(answer)
        elif not answer.empty:
            yield from _text_block(answer)
        delta = {"stop_reason": _stop_reason(answer), "stop_sequence": None}
        if answer.usage is None:
            yield _event("message_delta", delta=delta)
        else:
            yield _event("message_delta", delta=delta, usage=_usage(answer.usage))
        yield _event("message_stop")

    def error(self, status: int, kind: str | None, message: str) -> Mapping[str, object]:
        """Return an error envelope."""
        error = {"type": kind or ERROR_TYPES.get(status, "api_error"), "message": message}
        return {"type": "error", "error": error, "request_id": "req_fake"}

    def stream_error(self, kind: str | None, message: str) -> bytes:
        """Return an `error` event."""
        return _event("error", error={"type": kind or "overloaded_error", "message": message})


def _event(name: str, **fields: object) -> bytes:
    return frame({"type": name, **fields}, name)


def _envelope(answer: Answer) -> dict[str, object]:
    return {
        "id": answer.new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "stop_sequence": None,
    }


def _stop_reason(answer: Answer) -> str:
    return answer.stop or ("tool_use" if answer.calls else "end_turn")


def _text_block(answer: Answer) -> Iterator[bytes]:
    yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    yield _event("ping")
    for piece in answer.pieces():
        yield _event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
    yield _event("content_block_stop", index=0)


def _tool_blocks(answer: Answer) -> Iterator[bytes]:
    for index, call in enumerate(answer.calls):
        tool_id = answer.new_id("toolu_", index)
        block = {"type": "tool_use", "id": tool_id, "name": call.name, "input": {}}
        yield _event("content_block_start", index=index, content_block=block)
        for piece in answer.argument_pieces(call):
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)


def _usage(usage: Usage) -> dict[str, object]:
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.written,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    }
