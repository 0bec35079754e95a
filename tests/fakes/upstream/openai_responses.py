"""OpenAI Responses as the fake provider speaks it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.fakes.upstream.answer import Answer
from tests.fakes.upstream.dialect import frame
from tests.fakes.upstream.openai_chat import CREATED_UNIX_S, openai_error
from tests.fakes.upstream.values import ToolCall, Usage

Item = dict[str, object]
Members = Mapping[str, object]

CUTS = frozenset(["max_output_tokens", "content_filter"])
"""Stops that leave an answer incomplete; any other is told as its status."""


class OpenAIResponsesDialect:
    """Writes Responses answers: reasoning, a message and calls, each an item of its own."""

    def full(self, answer: Answer) -> Members:
        """Return a `response` object."""
        return _response(answer, _status(answer), list(_items(answer)))

    def stream(self, answer: Answer) -> Iterator[bytes]:
        """Yield the events from `response.created` to the terminal one."""
        for number, (name, members) in enumerate(_events(answer)):
            kind = f"response.{name}"
            yield frame({"type": kind, "sequence_number": number, **members}, kind)

    def error(self, status: int, kind: str | None, message: str) -> Members:
        """Return an error envelope."""
        return openai_error(status, kind, message)

    def stream_error(self, kind: str | None, message: str) -> bytes:
        """Return an `error` event."""
        code = kind or "server_error"
        return frame({"type": "error", "code": code, "message": message, "param": None}, "error")

    def count(self, tokens: int) -> Members:
        """Return the answer to a question for the number of input tokens."""
        return {"object": "response.input_tokens", "input_tokens": tokens}


def _status(answer: Answer) -> str:
    return "incomplete" if answer.stop in CUTS else answer.stop or "completed"


def _response(answer: Answer, status: str, output: list[Item]) -> Item:
    is_over = status != "in_progress"
    usage = answer.usage if is_over else None
    return {
        "id": answer.new_id("resp_"),
        "object": "response",
        "created_at": CREATED_UNIX_S,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": answer.stop} if status == "incomplete" else None,
        "instructions": None,
        "max_output_tokens": None,
        "metadata": {},
        "model": answer.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None if usage is None else _usage(usage),
    }


def _items(answer: Answer) -> Iterator[Item]:
    if answer.thinking is not None:
        yield _reasoning(answer, answer.thinking)
    if answer.has_text:
        yield _message(answer, "".join(answer.pieces()))
    for index, call in enumerate(answer.calls):
        yield _call(answer, index, call)


def _reasoning(answer: Answer, words: str) -> Item:
    return {
        "id": answer.new_id("rs_"),
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": words}],
        "encrypted_content": answer.new_id("enc_"),
    }


def _message(answer: Answer, words: str) -> Item:
    return {
        "id": answer.new_id("msg_"),
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [_text(words)],
    }


def _text(words: str) -> Item:
    return {"type": "output_text", "text": words, "annotations": [], "logprobs": []}


def _call(answer: Answer, index: int, call: ToolCall) -> Item:
    return {
        "id": answer.new_id("fc_", index),
        "type": "function_call",
        "status": "completed",
        "call_id": answer.new_id("call_", index),
        "name": call.name,
        "arguments": answer.arguments(call),
    }


def _events(answer: Answer) -> Iterator[tuple[str, Members]]:
    begun = {"response": _response(answer, "in_progress", [])}
    yield "created", begun
    yield "in_progress", begun
    output: list[Item] = []
    if answer.thinking is not None:
        output.append(_reasoning(answer, answer.thinking))
        yield from _thought(output[-1], answer.thinking)
    if answer.has_text:
        yield from _said(answer, output)
    for index, call in enumerate(answer.calls):
        output.append(_call(answer, index, call))
        yield from _called(answer, call, output[-1], len(output) - 1)
    status = _status(answer)
    yield status, {"response": _response(answer, status, output)}


def _thought(item: Item, words: str) -> Iterator[tuple[str, Members]]:
    place = {"item_id": item["id"], "output_index": 0, "summary_index": 0}
    part = {"type": "summary_text", "text": words}
    begun = {**item, "summary": [], "encrypted_content": None}
    yield "output_item.added", {"output_index": 0, "item": begun}
    yield "reasoning_summary_part.added", {**place, "part": {**part, "text": ""}}
    yield "reasoning_summary_text.delta", {**place, "delta": words}
    yield "reasoning_summary_text.done", {**place, "text": words}
    yield "reasoning_summary_part.done", {**place, "part": part}
    yield "output_item.done", {"output_index": 0, "item": item}


def _said(answer: Answer, output: list[Item]) -> Iterator[tuple[str, Members]]:
    """Yield the events of the message, which joins `output` when all of it is said."""
    at = len(output)
    begun = {**_message(answer, ""), "status": "in_progress", "content": []}
    place = {"item_id": begun["id"], "output_index": at, "content_index": 0}
    yield "output_item.added", {"output_index": at, "item": begun}
    yield "content_part.added", {**place, "part": _text("")}
    pieces: list[str] = []
    for piece in answer.pieces():
        pieces.append(piece)
        yield "output_text.delta", {**place, "delta": piece, "logprobs": []}
    words = "".join(pieces)
    output.append(_message(answer, words))
    yield "output_text.done", {**place, "text": words, "logprobs": []}
    yield "content_part.done", {**place, "part": _text(words)}
    yield "output_item.done", {"output_index": at, "item": output[-1]}


def _called(answer: Answer, call: ToolCall, item: Item, at: int) -> Iterator[tuple[str, Members]]:
    place = {"item_id": item["id"], "output_index": at}
    begun = {**item, "status": "in_progress", "arguments": ""}
    yield "output_item.added", {"output_index": at, "item": begun}
    for piece in answer.argument_pieces(call):
        yield "function_call_arguments.delta", {**place, "delta": piece}
    whole = {"name": call.name, "arguments": item["arguments"]}
    yield "function_call_arguments.done", {**place, **whole}
    yield "output_item.done", {"output_index": at, "item": item}


def _usage(usage: Usage) -> Members:
    told = usage.input + usage.cached + usage.written
    return {
        "input_tokens": told,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": told + usage.output,
    }
