"""Anthropic Messages as the fake provider speaks it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.fakes.upstream.answer import Answer
from tests.fakes.upstream.dialect import frame
from tests.fakes.upstream.values import ToolCall, Usage

Delta = Mapping[str, str]
SIGNATURE_PREFIX = "sig_"

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
        content = list(_content(answer))
        message = {**_envelope(answer), "content": content, "stop_reason": _stop_reason(answer)}
        return message if answer.usage is None else {**message, "usage": _usage(answer.usage)}

    def stream(self, answer: Answer) -> Iterator[bytes]:
        """Yield the events from `message_start` to `message_stop`."""
        start = {**_envelope(answer), "content": [], "stop_reason": None}
        if answer.usage is not None:
            start["usage"] = {**_usage(answer.usage), "output_tokens": 1}
        yield _event("message_start", message=start)
        for index, block in enumerate(_blocks(answer)):
            yield from _block_events(index, *block)
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

    def count(self, tokens: int) -> Mapping[str, object]:
        """Return the answer to a question for the number of input tokens."""
        return {"input_tokens": tokens}


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


def _content(answer: Answer) -> Iterator[Mapping[str, object]]:
    if answer.thinking is not None:
        signature = answer.new_id(SIGNATURE_PREFIX)
        yield {"type": "thinking", "thinking": answer.thinking, "signature": signature}
    if answer.has_text:
        yield {"type": "text", "text": "".join(answer.pieces())}
    for index, call in enumerate(answer.calls):
        yield {**_tool_use(answer, index, call), "input": call.args}


def _blocks(answer: Answer) -> Iterator[tuple[Mapping[str, object], Iterator[Delta]]]:
    """Yield each content block as it starts, and its deltas."""
    if answer.thinking is not None:
        start = {"type": "thinking", "thinking": "", "signature": ""}
        yield start, _thinking_deltas(answer, answer.thinking)
    if answer.has_text:
        texts = ({"type": "text_delta", "text": piece} for piece in answer.pieces())
        yield {"type": "text", "text": ""}, texts
    for index, call in enumerate(answer.calls):
        yield _tool_use(answer, index, call), _argument_deltas(answer, call)


def _block_events(
    index: int, start: Mapping[str, object], deltas: Iterator[Delta]
) -> Iterator[bytes]:
    yield _event("content_block_start", index=index, content_block=start)
    if index == 0:
        yield _event("ping")
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _thinking_deltas(answer: Answer, thinking: str) -> Iterator[Delta]:
    yield {"type": "thinking_delta", "thinking": thinking}
    yield {"type": "signature_delta", "signature": answer.new_id(SIGNATURE_PREFIX)}


def _argument_deltas(answer: Answer, call: ToolCall) -> Iterator[Delta]:
    for piece in answer.argument_pieces(call):
        yield {"type": "input_json_delta", "partial_json": piece}


def _tool_use(answer: Answer, index: int, call: ToolCall) -> Mapping[str, object]:
    tool_id = answer.new_id("toolu_", index)
    return {"type": "tool_use", "id": tool_id, "name": call.name, "input": {}}


def _usage(usage: Usage) -> dict[str, object]:
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.written,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    }
