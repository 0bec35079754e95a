"""Watching a stream that passes byte for byte: progress, terminal, usage and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.sse import FrameSplitter
from services.domain.wire.gemini.error import error_of
from services.domain.wire.gemini.names import member
from services.domain.wire.gemini.stops import is_malformed, is_refusal, stop_of
from services.domain.wire.gemini.usage import UsageCount
from services.domain.wire.model import Observation, Stop, StopReason, UpstreamError
from services.domain.wire.reading import dump, load, mapping, rows, text, whole

if TYPE_CHECKING:
    from collections.abc import Mapping


class GeminiStreamObserver:
    """Takes note of one stream. Output is text, thoughts, calls, media and code.

    The terminal is a finish reason for every candidate that was started, or a blocked prompt.
    """

    def __init__(self) -> None:
        self._seen = Observation()
        self._splitter = FrameSplitter()
        self._usage = UsageCount()
        self._open: set[int] = set()
        self._finish: dict[int, str] = {}
        self._has_parts = False

    @property
    def seen(self) -> Observation:
        """All that was learned so far."""
        return self._seen

    def feed(self, data: bytes) -> None:
        """Take note of ``data``; unreadable frames are counted and passed over."""
        for frame in self._splitter.feed(data):
            self._read(frame.data)

    def finish(self) -> None:
        """Take note of the end; a last frame without its blank line counts."""
        for frame in self._splitter.finish():
            self._read(frame.data)

    def _read(self, data: bytes) -> None:
        seen = self._seen
        if seen.error is not None or not data or data[:6] == b"[DONE]":
            return
        try:
            told = load(data)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            seen.bad_frames += 1
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

    def _fail(self, error: UpstreamError) -> None:
        self._seen.error = error
        self._seen.is_error_first = not self._seen.has_output
        self._seen.has_terminal = True

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

    def _output(self, chars: int) -> None:
        self._seen.has_output = True
        self._seen.output_events += 1
        self._seen.output_chars += chars

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
