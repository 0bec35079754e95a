"""Gemini `generateContent` as the fake provider speaks it."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping

import orjson

from tests.fakes.upstream.answer import Answer
from tests.fakes.upstream.values import Usage

Part = dict[str, object]

STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    402: "FAILED_PRECONDITION",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
CODES = {name: status for status, name in STATUSES.items()}


class GeminiDialect:
    """Writes `GenerateContentResponse` objects; a stream is one such object in each frame.

    Calls carry no ids, as the vendor's do not, and come whole. Arguments that break off are told as
    the vendor tells them: a finish reason instead of the call.
    """

    def full(self, answer: Answer) -> Mapping[str, object]:
        """Return the whole answer as one object."""
        said: list[Part] = [{"text": "".join(answer.pieces())}] if answer.has_text else []
        parts = [*_thoughts(answer), *said, *_calls(answer)]
        return _object(answer, parts, _counts(answer.usage), _finish(answer))

    def stream(self, answer: Answer) -> Iterator[bytes]:
        """Yield thoughts, text and calls, then the object that has the finish reason."""
        begun = _counts(answer.usage, is_begun=True)
        for thought in _thoughts(answer):
            yield _frame(_object(answer, [thought], begun))
        for piece in answer.pieces():
            yield _frame(_object(answer, [{"text": piece}], begun))
        calls = list(_calls(answer))
        if calls:
            yield _frame(_object(answer, calls, begun))
        last: list[Part] = [] if answer.empty else [{"text": ""}]
        yield _frame(_object(answer, last, _counts(answer.usage), _finish(answer)))

    def error(self, status: int, kind: str | None, message: str) -> Mapping[str, object]:
        """Return an error envelope."""
        name = kind or STATUSES.get(status, "UNAVAILABLE" if status >= 500 else "INVALID_ARGUMENT")
        return {"error": {"code": status, "message": message, "status": name}}

    def stream_error(self, kind: str | None, message: str) -> bytes:
        """Return a frame that holds an error object."""
        name = kind or "UNAVAILABLE"
        return _frame(self.error(CODES.get(name, 500), name, message))

    def count(self, tokens: int) -> Mapping[str, object]:
        """Return the answer to a question for the number of tokens."""
        return {"totalTokens": tokens}


def _frame(answer: Mapping[str, object]) -> bytes:
    return b"data: " + orjson.dumps(answer) + b"\r\n\r\n"


def _object(
    answer: Answer,
    parts: list[Part],
    usage: Mapping[str, object],
    finish: str | None = None,
) -> Mapping[str, object]:
    content: dict[str, object] = {"parts": parts} if parts else {}
    candidate: dict[str, object] = {"content": {**content, "role": "model"}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    told: dict[str, object] = {"candidates": [candidate]}
    if usage:
        told["usageMetadata"] = usage
    return {**told, "modelVersion": answer.model, "responseId": answer.new_id("")}


def _finish(answer: Answer) -> str:
    is_malformed = answer.cut_arguments and answer.calls
    return answer.stop or ("MALFORMED_FUNCTION_CALL" if is_malformed else "STOP")


def _thoughts(answer: Answer) -> Iterator[Part]:
    if answer.thinking is not None:
        yield {"text": answer.thinking, "thought": True}


def _calls(answer: Answer) -> Iterator[Part]:
    """Yield the calls; when it thought, the first has the signature of the thought."""
    if answer.cut_arguments:
        return
    for index, call in enumerate(answer.calls):
        part: Part = {"functionCall": {"name": call.name, "args": call.args}}
        if index == 0 and answer.thinking is not None:
            signature = base64.b64encode(answer.new_id("sig_").encode()).decode()
            part["thoughtSignature"] = signature
        yield part


def _counts(usage: Usage | None, *, is_begun: bool = False) -> Mapping[str, object]:
    """Return the counts, none without usage; an answer that has only begun has no output yet."""
    if usage is None:
        return {}
    prompt = usage.input + usage.cached + usage.written
    counts = {"promptTokenCount": prompt, "totalTokenCount": prompt}
    if usage.cached:
        counts["cachedContentTokenCount"] = usage.cached
    if is_begun:
        return counts
    counts["candidatesTokenCount"] = usage.output - usage.reasoning
    if usage.reasoning:
        counts["thoughtsTokenCount"] = usage.reasoning
    return {**counts, "totalTokenCount": prompt + usage.output}
