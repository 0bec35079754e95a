"""One upstream stream as canonical events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from services.domain.sse import FrameSplitter
from services.domain.wire.gemini.error import error_of
from services.domain.wire.gemini.parts import (
    candidates_of,
    made_call_id,
    parts_of,
    read_chunk,
    state_of,
)
from services.domain.wire.gemini.stops import is_malformed, stop_of
from services.domain.wire.gemini.usage import UsageCount
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    BlockState,
    End,
    Failure,
    Start,
    Stop,
    StopReason,
    UpstreamError,
    UsageSeen,
)
from services.domain.wire.reading import join_surrogates, mapping, text

if TYPE_CHECKING:
    from services.domain.wire.gemini.parts import Chunk, Part
    from services.domain.wire.model import Event, Usage

MAX_BAD_FRAMES = 3
"""Unreadable frames in a row that break a stream."""


class AnswerReader:
    """Turns the frames of one answer into events: a whole answer is a stream of one frame.

    The end is told by :meth:`end` only: usage may come after the finish reason.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._usage = UsageCount()
        self._last_usage: Usage | None = None
        self._id = ""
        self._is_started = False
        self._finish = ""
        self._is_blocked = False
        self._open: Literal["text", "thinking"] | None = None
        self._held = ""
        self._blocks = 0
        self._has_parts = False
        self._call_ids: set[str] = set()

    def read(self, chunk: Chunk, events: list[Event]) -> None:
        """Add the events of one frame."""
        if self.is_over:
            return
        told = chunk.told
        if told.get("error"):
            if self._has_terminal:
                self.end(events)
            else:
                self._fail(error_of(told), events)
            return
        self._begin(chunk, events)
        self._count(chunk, events)
        for place, candidate in enumerate(candidates_of(chunk)):
            if candidate.get("index") in (0, None):
                for part in parts_of(chunk, place):
                    self._part(part, events)
                self._finish = text(candidate.get("finishReason")) or self._finish
                break
        self._is_blocked |= bool(text(mapping(told.get("promptFeedback")).get("blockReason")))

    @property
    def _has_terminal(self) -> bool:
        return bool(self._finish) or self._is_blocked

    def end(self, events: list[Event]) -> None:
        """Add the last events: the end of the answer, or a failure when it has no end."""
        if self.is_over:
            return
        if not self._has_terminal:
            message = "upstream stream ended before its answer was complete"
            told = ("stream_incomplete", message)
            if not self._is_started:
                told = ("stream_empty", "upstream stream was empty")
            self.fail(*told, events)
        elif is_malformed(self._finish) and not self._has_parts:
            self.fail(self._finish, "the model failed to write an answer", events)
        else:
            self._close(events)
            self.is_over = True
            events.append(End(self._stop(), self._last_usage))

    def _stop(self) -> Stop:
        if self._is_blocked and not self._finish:
            return Stop(StopReason.REFUSAL)
        return stop_of(self._finish, has_calls=bool(self._call_ids))

    def fail(self, code: str, message: str, events: list[Event]) -> None:
        """Add a failure of this product's own words; nothing comes after an end."""
        error = UpstreamError(502, vendor_type="UNAVAILABLE", vendor_code=code, message=message)
        self._fail(error, events)

    def _fail(self, error: UpstreamError, events: list[Event]) -> None:
        if not self.is_over:
            self.is_over = True
            events.append(Failure(error))

    def _begin(self, chunk: Chunk, events: list[Event]) -> None:
        if not self._is_started:
            self._is_started = True
            self._id = text(chunk.told.get("responseId"))
            model = text(chunk.told.get("modelVersion"))
            events.append(Start(self._id, model))

    def _count(self, chunk: Chunk, events: list[Event]) -> None:
        usage = self._usage.add(chunk.told.get("usageMetadata"))
        if usage is not None and usage != self._last_usage:
            self._last_usage = usage
            events.append(UsageSeen(usage))

    def _part(self, part: Part, events: list[Event]) -> None:
        if part.kind == "call":
            self._call(part, events)
        elif part.kind == "other":
            self._has_parts = True
        else:
            self._say(part, events)

    def _say(self, part: Part, events: list[Event]) -> None:
        """Add words to the open block of their kind.

        A signature closes a thought. That of visible text stands alone, as a thought without words:
        text holds no state here.
        """
        if part.kind in ("text", "thinking") and part.words:
            self._has_parts = True
            kind: Literal["text", "thinking"] = "text" if part.kind == "text" else "thinking"
            if self._open is not kind:
                self._close(events)
                self._open = kind
                events.append(BlockOpen(self._blocks, kind))
            words, self._held = whole_pairs(self._held + part.words)
            if words:
                events.append(BlockDelta(self._blocks, words))
        if part.signature:
            self._sign(part, events)

    def _sign(self, part: Part, events: list[Event]) -> None:
        if self._open != "thinking" or part.kind != "thinking":
            self._close(events)
            self._open = "thinking"
            events.append(BlockOpen(self._blocks, "thinking"))
        self._flush(events)
        events.append(BlockState(self._blocks, state_of(part.signature)))
        self._close(events)

    def _call(self, part: Part, events: list[Event]) -> None:
        if not part.words:
            return
        self._has_parts = True
        self._close(events)
        call_id = part.call_id
        if not call_id or call_id in self._call_ids:
            ordinal = len(self._call_ids)
            call_id = made_call_id(self._id, ordinal, part.words, part.arguments)
        self._call_ids.add(call_id)
        events.append(BlockOpen(self._blocks, "tool_use", call_id, part.words))
        events.append(BlockDelta(self._blocks, part.arguments.decode("utf-8", "replace")))
        if part.signature:
            events.append(BlockState(self._blocks, state_of(part.signature)))
        events.append(BlockClose(self._blocks))
        self._blocks += 1

    def _flush(self, events: list[Event]) -> None:
        if self._held:
            events.append(BlockDelta(self._blocks, join_surrogates(self._held)))
            self._held = ""

    def _close(self, events: list[Event]) -> None:
        if self._open is not None:
            self._flush(events)
            events.append(BlockClose(self._blocks))
            self._blocks += 1
            self._open = None


class GeminiStreamDecoder:
    """Decodes one stream. Blocks come one at a time; tool calls come whole, as they are sent."""

    def __init__(self) -> None:
        self._splitter = FrameSplitter()
        self._reader = AnswerReader()
        self._bad_frames = 0

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that ``data`` completes."""
        events: list[Event] = []
        for frame in self._splitter.feed(data):
            self._read(frame.data, events)
        if self._splitter.is_over_limit:
            self._reader.fail("frame_too_large", "upstream sent a frame over the limit", events)
        return events

    def finish(self) -> list[Event]:
        """Return the last events at end of stream; a Failure when no terminal was seen."""
        events: list[Event] = []
        for frame in self._splitter.finish():
            self._read(frame.data, events)
        self._reader.end(events)
        return events

    def _read(self, data: bytes, events: list[Event]) -> None:
        if self._reader.is_over or not data or data.strip() == b"[DONE]":
            return
        chunk = read_chunk(data)
        if chunk is not None:
            self._bad_frames = 0
            self._reader.read(chunk, events)
            return
        self._bad_frames += 1
        if self._bad_frames >= MAX_BAD_FRAMES:
            self._reader.fail("stream_unreadable", "upstream stream is unreadable", events)


def whole_pairs(words: str) -> tuple[str, str]:
    """Return text that can be written now, and a trailing half of a surrogate pair to hold."""
    if words.isascii():
        return words, ""
    held = words[-1] if "\ud800" <= words[-1] <= "\udbff" else ""
    return join_surrogates(words[: len(words) - len(held)]), held
