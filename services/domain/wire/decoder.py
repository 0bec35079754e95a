"""What the stream decoders of all dialects do alike."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from services.domain.sse import FrameSplitter
from services.domain.wire.assemble import block_events
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    BlockState,
    Failure,
    UpstreamError,
)
from services.domain.wire.reading import join_surrogates, peek, whole_pairs

if TYPE_CHECKING:
    from services.domain.sse import Frame
    from services.domain.wire.model import Block, Event, ProviderState

MAX_BAD_FRAMES = 3
"""Unreadable frames in a row that break a stream."""

END_MARK = b"[DONE]"

Told = TypeVar("Told")


class FrameDecoder(abc.ABC, Generic[Told]):
    """Reads the frames of one stream until its answer is over; nothing is told after that."""

    _own_error_type: str
    """How the dialect calls a failure that is nobody's but the stream's."""

    def __init__(self) -> None:
        self._splitter = FrameSplitter()
        self._bad_frames = 0
        self._is_started = False
        self._is_over = False

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that ``data`` completes."""
        events: list[Event] = []
        for frame in self._splitter.feed(data):
            self._read(frame, events)
        if self._splitter.is_over_limit:
            self._fail("frame_too_large", "upstream sent a frame over the limit", events)
        return events

    def finish(self) -> list[Event]:
        """Return the last events at end of stream; a Failure when no terminal was seen."""
        events: list[Event] = []
        for frame in self._splitter.finish():
            self._read(frame, events)
        if not self._is_over:
            self._break_off(events)
        return events

    def _read(self, frame: Frame, events: list[Event]) -> None:
        if self._is_over:
            return
        told = self._parse(frame.data)
        if told is not None:
            self._bad_frames = 0
            self._take(told, frame, events)
        elif not self._is_aside(frame.data, events):
            self._bad_frames += 1
            if self._bad_frames >= MAX_BAD_FRAMES:
                self._fail("stream_unreadable", "upstream stream is unreadable", events)

    @abc.abstractmethod
    def _parse(self, data: bytes) -> Told | None:
        """Return what a frame tells; None when it is unreadable."""

    @abc.abstractmethod
    def _take(self, told: Told, frame: Frame, events: list[Event]) -> None:
        """Add the events of one frame."""

    def _is_aside(self, data: bytes, events: list[Event]) -> bool:
        """Whether a frame that tells nothing is none of the unreadable ones."""
        return not data or data.strip() == END_MARK

    def _break_off(self, events: list[Event]) -> None:
        """Add the failure of a stream that ended before its answer did."""
        if self._is_started:
            message = "upstream stream ended before its answer was complete"
            self._fail("stream_incomplete", message, events)
        else:
            self._fail("stream_empty", "upstream stream was empty", events)

    def _fail(self, code: str, message: str, events: list[Event]) -> None:
        """Add a failure in this product's own words."""
        self._end_with(UpstreamError(502, self._own_error_type, code, message), events)

    def _end_with(self, error: UpstreamError, events: list[Event]) -> None:
        if not self._is_over:
            self._is_over = True
            events.append(Failure(error))


class ObjectDecoder(FrameDecoder[dict[str, object]]):
    """A decoder that takes each frame as the object that it is."""

    def _parse(self, data: bytes) -> dict[str, object] | None:
        told = peek(data)
        return told if isinstance(told, dict) else None


Spoken = Literal["text", "thinking", "refusal"]


class BlockTeller:
    """Tells blocks one after another: words go on in the open block when they are of its kind."""

    def __init__(self) -> None:
        self.index = 0
        """Index of the open block, else of the next one."""
        self.open_kind: Spoken | None = None
        self._held = ""

    def say(self, kind: Spoken, words: str, events: list[Event]) -> None:
        """Add words; half a surrogate pair waits for the other half."""
        if self.open_kind != kind:
            self._open(kind, events)
        words, self._held = whole_pairs(self._held + words)
        if words:
            events.append(BlockDelta(self.index, words))

    def sign(self, state: ProviderState, *, is_of_open: bool, events: list[Event]) -> None:
        """Add state and close its thought, which is the open block or one without words."""
        if not is_of_open:
            self._open("thinking", events)
        self._flush(events)
        events.append(BlockState(self.index, state))
        self.close(events)

    def add(self, block: Block, events: list[Event]) -> None:
        """Add a block that is told at once."""
        self.close(events)
        events += block_events(block, self.index)
        self.index += 1

    def close(self, events: list[Event]) -> None:
        """Close the block that is open, if any."""
        if self.open_kind is not None:
            self._flush(events)
            events.append(BlockClose(self.index))
            self.index += 1
            self.open_kind = None

    def _open(self, kind: Spoken, events: list[Event]) -> None:
        self.close(events)
        self.open_kind = kind
        events.append(BlockOpen(self.index, kind))

    def _flush(self, events: list[Event]) -> None:
        if self._held:
            events.append(BlockDelta(self.index, join_surrogates(self._held)))
            self._held = ""
