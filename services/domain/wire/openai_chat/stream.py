"""One upstream chat stream as canonical events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from services.domain.sse import FrameSplitter
from services.domain.wire.ids import made_call_id
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    End,
    Failure,
    Start,
    UpstreamError,
    UsageSeen,
)
from services.domain.wire.openai_chat.calls import CallLedger
from services.domain.wire.openai_chat.error import error_of
from services.domain.wire.openai_chat.message import (
    content_of,
    reasoning_of,
    refusal_of,
)
from services.domain.wire.openai_chat.stops import stop_of
from services.domain.wire.openai_chat.usage import UsageCount
from services.domain.wire.reading import join_surrogates, load, mapping, rows, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Event, Usage

MAX_BAD_FRAMES = 3
"""Unreadable frames in a row that break a stream."""

_Kind = Literal["text", "thinking", "refusal"]


class ChatStreamDecoder:
    """Decodes one stream. Blocks come one at a time; tool calls come whole, when it ends."""

    def __init__(self) -> None:
        self._splitter = FrameSplitter()
        self._usage = UsageCount()
        self._ledger = CallLedger()
        self._last_usage: Usage | None = None
        self._id = ""
        self._model = ""
        self._is_started = False
        self._is_over = False
        self._finish: str | None = None
        self._bad_frames = 0
        self._blocks = 0
        self._open_kind: _Kind | None = None
        self._held = ""
        self._has_refusal = False

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that ``data`` completes."""
        events: list[Event] = []
        for frame in self._splitter.feed(data):
            self._read(frame.data, events)
        if self._splitter.is_over_limit:
            self._fail("upstream sent a frame over the limit", "frame_too_large", events)
        return events

    def finish(self) -> list[Event]:
        """Return the last events at end of stream; a Failure when no terminal was seen."""
        events: list[Event] = []
        for frame in self._splitter.finish():
            self._read(frame.data, events)
        if self._is_over:
            return events
        if self._finish is not None:
            self._end(events)
        elif self._is_started:
            message = "upstream stream ended before its answer was complete"
            self._fail(message, "stream_incomplete", events)
        else:
            self._fail("upstream stream was empty", "stream_empty", events)
        return events

    def _read(self, data: bytes, events: list[Event]) -> None:
        if self._is_over or not data:
            return
        if data.strip() == b"[DONE]":
            self._done(events)
            return
        try:
            chunk = load(data)
        except ValueError:
            chunk = None
        if not isinstance(chunk, dict):
            self._bad_frames += 1
            if self._bad_frames >= MAX_BAD_FRAMES:
                self._fail("upstream stream is unreadable", "stream_unreadable", events)
            return
        self._bad_frames = 0
        if chunk.get("error"):
            self._error(chunk, events)
        else:
            self._chunk(chunk, events)

    def _done(self, events: list[Event]) -> None:
        if self._is_started:
            self._end(events)
        else:
            self._fail("upstream stream was empty", "stream_empty", events)

    def _error(self, chunk: Mapping[str, object], events: list[Event]) -> None:
        if self._finish is not None:
            self._end(events)
            return
        self._is_over = True
        events.append(Failure(error_of(502, chunk)))

    def _fail(self, message: str, code: str, events: list[Event]) -> None:
        if self._is_over:
            return
        self._is_over = True
        error = UpstreamError(502, vendor_type="server_error", vendor_code=code, message=message)
        events.append(Failure(error))

    def _chunk(self, chunk: Mapping[str, object], events: list[Event]) -> None:
        self._id = self._id or text(chunk.get("id"))
        self._model = self._model or text(chunk.get("model"))
        for raw in rows(chunk.get("choices")):
            choice = mapping(raw)
            if choice.get("index") in (0, None):
                self._choice(choice, events)
        if chunk.get("usage") and not self._is_over:
            usage = self._usage.add(chunk["usage"])
            if usage is not None and usage != self._last_usage:
                self._last_usage = usage
                if self._is_started:
                    events.append(UsageSeen(usage))

    def _choice(self, choice: Mapping[str, object], events: list[Event]) -> None:
        if not self._is_started:
            self._is_started = True
            events.append(Start(self._id, self._model, self._last_usage))
        delta = mapping(choice.get("delta")) or mapping(choice.get("message"))
        if delta:
            self._delta(delta, events)
        finish = choice.get("finish_reason")
        if finish == "error" and self._finish is None and not self._is_over:
            self._is_over = True
            events.append(Failure(error_of(502, choice)))
        elif isinstance(finish, str) and finish and self._finish is None:
            self._finish = finish

    def _delta(self, delta: Mapping[str, object], events: list[Event]) -> None:
        reasoning = reasoning_of(delta)
        if reasoning:
            self._say("thinking", reasoning, events)
        content = content_of(delta)
        if content:
            self._say("text", content, events)
        refusal = refusal_of(delta)
        if refusal:
            self._has_refusal = True
            self._say("refusal", refusal, events)
        for fragment in rows(delta.get("tool_calls")):
            self._ledger.add(fragment)
        self._ledger.add_legacy(delta.get("function_call"))

    def _say(self, kind: _Kind, words: str, events: list[Event]) -> None:
        if self._open_kind is not kind:
            self._close(events)
            self._open_kind = kind
            events.append(BlockOpen(self._blocks, kind))
        words, self._held = _whole_pairs(self._held + words)
        if words:
            events.append(BlockDelta(self._blocks, words))

    def _close(self, events: list[Event]) -> None:
        if self._open_kind is None:
            return
        if self._held:
            events.append(BlockDelta(self._blocks, join_surrogates(self._held)))
            self._held = ""
        events.append(BlockClose(self._blocks))
        self._blocks += 1
        self._open_kind = None

    def _end(self, events: list[Event]) -> None:
        self._is_over = True
        self._close(events)
        calls = list(self._ledger.complete(is_cut=self._finish == "length"))
        for ordinal, call in enumerate(calls):
            call_id = call.call_id or made_call_id(self._id, ordinal)
            events.append(BlockOpen(self._blocks, "tool_use", call_id, call.name))
            events.append(BlockDelta(self._blocks, join_surrogates(call.text())))
            events.append(BlockClose(self._blocks))
            self._blocks += 1
        stop = stop_of(self._finish or "", has_calls=bool(calls), has_refusal=self._has_refusal)
        events.append(End(stop, self._last_usage))


def _whole_pairs(words: str) -> tuple[str, str]:
    """Return text that can be written now, and a trailing half of a surrogate pair to hold."""
    if words.isascii():
        return words, ""
    held = words[-1] if "\ud800" <= words[-1] <= "\udbff" else ""
    return join_surrogates(words[: len(words) - len(held)]), held
