"""Watching a stream that passes byte for byte: progress, terminal, usage and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.gemini.error import error_of
from services.domain.wire.gemini.names import member
from services.domain.wire.gemini.stops import is_malformed, is_refusal, stop_of
from services.domain.wire.gemini.usage import UsageCount
from services.domain.wire.model import Stop, StopReason, UpstreamError
from services.domain.wire.observer import StreamObserver
from services.domain.wire.reading import dump, mapping, rows, text, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.sse import Frame


class GeminiStreamObserver(StreamObserver):
    """Takes note of one stream. Output is text, thoughts, calls, media and code.

    The terminal is a finish reason for every candidate that was started, or a blocked prompt.
    """

    def __init__(self) -> None:
        super().__init__()
        self._usage = UsageCount()
        self._open: set[int] = set()
        self._finish: dict[int, str] = {}
        self._has_parts = False

    def _read(self, frame: Frame) -> None:
        seen = self._seen
        if seen.error is not None or not frame.data or frame.data[:6] == b"[DONE]":
            return
        told = self._told(frame)
        if told is None:
            return
        seen.is_started = True
        if told.get("error"):
            if not seen.has_terminal:
                self._fail(error_of(told))
            return
        seen.usage = self._usage.add(told.get("usageMetadata")) or seen.usage
        for row in rows(told.get("candidates")):
            self._candidate(mapping(row))
        if text(mapping(told.get("promptFeedback")).get("blockReason")):
            self._block()

    def _candidate(self, candidate: Mapping[str, object]) -> None:
        index = whole(candidate.get("index")) or 0
        if index not in self._finish:
            self._open.add(index)
            self._seen.has_terminal = False
        for row in rows(mapping(candidate.get("content")).get("parts")):
            self._part(mapping(row))
        finish = text(candidate.get("finishReason"))
        if finish:
            self._finish[index] = finish
            self._open.discard(index)
            self._seen.refusal_seen |= is_refusal(finish)
        if not self._open and self._finish and self._seen.error is None:
            self._terminal()

    def _part(self, part: Mapping[str, object]) -> None:
        words, call = part.get("text"), member(part, "functionCall")
        if isinstance(words, str):
            chars = len(words)
        elif isinstance(call, dict):
            name = text(call.get("name"))
            chars = len(name) + len(dump(call.get("args"))) if name else 0
            self._seen.tool_calls += bool(name)
        else:
            chars = int(bool(part.keys() - {"thoughtSignature", "thought_signature"}))
        if chars:
            self._has_parts = True
            self._output(chars)

    def _block(self) -> None:
        seen = self._seen
        seen.refusal_seen = True
        if not seen.has_terminal:
            self._output(0)
        seen.has_terminal = True
        seen.stop = seen.stop or Stop(StopReason.REFUSAL)

    def _terminal(self) -> None:
        seen = self._seen
        finish = self._finish.get(0) or next(iter(self._finish.values()))
        if is_malformed(finish) and not self._has_parts:
            message = "the model failed to write an answer"
            self._fail(UpstreamError(502, "UNAVAILABLE", finish, message))
            return
        if not seen.has_terminal:
            self._output(0)
        seen.has_terminal = True
        seen.stop = stop_of(finish, has_calls=bool(seen.tool_calls))
