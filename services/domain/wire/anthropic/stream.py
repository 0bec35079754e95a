"""One upstream Messages stream as canonical events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from services.domain.sse import FrameSplitter
from services.domain.vocab import WireFamily
from services.domain.wire.anthropic.error import error_of
from services.domain.wire.anthropic.stops import stop_of
from services.domain.wire.anthropic.usage import UsageCount
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    BlockState,
    End,
    Failure,
    Ping,
    ProviderState,
    Start,
    Stop,
    StopReason,
    UpstreamError,
    UsageSeen,
)
from services.domain.wire.reading import join_surrogates, load, mapping, text, whole
from services.domain.wire.scanner import scan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.sse import Frame
    from services.domain.wire.model import Event, Usage
    from services.domain.wire.scanner import Plan

MAX_BAD_FRAMES = 3
"""Unreadable frames in a row that break a stream."""

_START_PLAN: Plan = {"content_block": {}}
_Kind = Literal["text", "thinking", "redacted_thinking", "tool_use", "refusal"]
_DELTA_KINDS: Mapping[str, _Kind] = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
}
_DELTA_TEXTS: Mapping[str, str] = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "input_json_delta": "partial_json",
}


class _Open:
    """An upstream block that is open: its canonical index and what is held of it."""

    __slots__ = ("has_arguments", "held", "index", "initial_input", "kind")

    def __init__(self, index: int, kind: _Kind) -> None:
        self.index = index
        self.kind = kind
        self.held = ""
        self.initial_input = ""
        self.has_arguments = False


class MessagesStreamDecoder:
    """Decodes one stream; blocks of kinds that have no canonical form are passed over."""

    def __init__(self) -> None:
        self._splitter = FrameSplitter()
        self._usage = UsageCount()
        self._last_usage: Usage | None = None
        self._stop = Stop(StopReason.END_TURN)
        self._open: dict[int, _Open] = {}
        self._skipped: set[int] = set()
        self._blocks = 0
        self._bad_frames = 0
        self._is_started = False
        self._is_over = False
        self._frame_data = b""

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that ``data`` completes."""
        events: list[Event] = []
        for frame in self._splitter.feed(data):
            self._read(frame, events)
        if self._splitter.is_over_limit:
            self._fail("upstream sent a frame over the limit", "frame_too_large", events)
        return events

    def finish(self) -> list[Event]:
        """Return the last events at end of stream; a Failure when no terminal was seen."""
        events: list[Event] = []
        for frame in self._splitter.finish():
            self._read(frame, events)
        if self._is_started:
            message = "upstream stream ended before its answer was complete"
            self._fail(message, "stream_incomplete", events)
        else:
            self._fail("upstream stream was empty", "stream_empty", events)
        return events

    def _fail(self, message: str, code: str, events: list[Event]) -> None:
        if self._is_over:
            return
        self._is_over = True
        error = UpstreamError(502, vendor_type="api_error", vendor_code=code, message=message)
        events.append(Failure(error))

    def _read(self, frame: Frame, events: list[Event]) -> None:
        if self._is_over:
            return
        try:
            event = load(frame.data)
        except ValueError:
            event = None
        if not isinstance(event, dict):
            self._bad_frames += 1
            if self._bad_frames >= MAX_BAD_FRAMES:
                self._fail("upstream stream is unreadable", "stream_unreadable", events)
            return
        self._bad_frames = 0
        self._frame_data = frame.data
        self._dispatch(text(event.get("type")) or frame.event, event, events)

    def _dispatch(self, kind: str, event: Mapping[str, object], events: list[Event]) -> None:
        match kind:
            case "content_block_delta":
                self._delta(event, events)
            case "content_block_start":
                self._block_start(event, events)
            case "content_block_stop":
                self._block_stop(whole(event.get("index")) or 0, events)
            case "message_start":
                self._start(mapping(event.get("message")), events)
            case "message_delta":
                self._message_delta(event, events)
            case "message_stop":
                self._end(events)
            case "ping":
                events.append(Ping())
            case "error":
                self._is_over = True
                events.append(Failure(error_of(event)))
            case _:
                return

    def _start(self, message: Mapping[str, object], events: list[Event]) -> None:
        if self._is_started:
            return
        self._is_started = True
        self._last_usage = self._usage.add(message.get("usage"))
        events.append(Start(text(message.get("id")), text(message.get("model")), self._last_usage))

    def _message_delta(self, event: Mapping[str, object], events: list[Event]) -> None:
        self._start({}, events)
        delta = mapping(event.get("delta"))
        if delta.get("stop_reason") is not None:
            self._stop = stop_of(delta)
        usage = self._usage.add(event.get("usage"))
        if usage is not None and usage != self._last_usage:
            self._last_usage = usage
            events.append(UsageSeen(usage))

    def _end(self, events: list[Event]) -> None:
        self._start({}, events)
        for index in list(self._open):
            self._block_stop(index, events)
        self._is_over = True
        events.append(End(self._stop, self._last_usage))

    def _block_start(self, event: Mapping[str, object], events: list[Event]) -> None:
        self._start({}, events)
        at = whole(event.get("index")) or 0
        self._block_stop(at, events)
        self._skipped.discard(at)
        block = mapping(event.get("content_block"))
        match text(block.get("type")):
            case "text":
                opened = self._open_block(at, "text", events)
                self._say(opened, text(block.get("text")), events)
            case "thinking":
                opened = self._open_block(at, "thinking", events)
                self._say(opened, text(block.get("thinking")), events)
                self._sign(opened, text(block.get("signature")), events)
            case "redacted_thinking":
                data = text(block.get("data"))
                opened = self._open_block(at, "redacted_thinking", events, data=data)
                state = ProviderState(WireFamily.ANTHROPIC, "redacted", data)
                events.append(BlockState(opened.index, state))
            case "tool_use" if text(block.get("name")):
                name, call_id = text(block.get("name")), text(block.get("id"))
                opened = self._open_block(at, "tool_use", events, call_id=call_id, name=name)
                if block.get("input"):
                    opened.initial_input = self._initial_input()
            case _:
                self._skipped.add(at)

    def _initial_input(self) -> str:
        """Return the arguments that came with the opening of a call, as they were written."""
        block = scan(self._frame_data, _START_PLAN).member("content_block")
        return block.members["input"].source if block else ""

    def _open_block(
        self,
        at: int,
        kind: _Kind,
        events: list[Event],
        *,
        call_id: str = "",
        name: str = "",
        data: str = "",
    ) -> _Open:
        for other in list(self._open):
            self._block_stop(other, events)
        opened = _Open(self._blocks, kind)
        self._open[at] = opened
        self._blocks += 1
        events.append(BlockOpen(opened.index, kind, call_id, name, data))
        return opened

    def _delta(self, event: Mapping[str, object], events: list[Event]) -> None:
        self._start({}, events)
        at = whole(event.get("index")) or 0
        if at in self._skipped:
            return
        delta = mapping(event.get("delta"))
        delta_kind = text(delta.get("type"))
        opened = self._open.get(at)
        if opened is None:
            kind = _DELTA_KINDS.get(delta_kind)
            if kind is None:
                return
            opened = self._open_block(at, kind, events)
        if delta_kind == "signature_delta":
            self._sign(opened, text(delta.get("signature")), events)
        elif delta_kind in _DELTA_TEXTS:
            self._say(opened, text(delta.get(_DELTA_TEXTS[delta_kind])), events)

    def _say(self, opened: _Open, words: str, events: list[Event]) -> None:
        if not words:
            return
        opened.has_arguments = True
        if opened.held or not words.isascii():
            words, opened.held = _whole_pairs(opened.held + words)
        if words:
            events.append(BlockDelta(opened.index, words))

    def _sign(self, opened: _Open, signature: str, events: list[Event]) -> None:
        if signature and opened.kind == "thinking":
            state = ProviderState(WireFamily.ANTHROPIC, "signature", signature)
            events.append(BlockState(opened.index, state))

    def _block_stop(self, at: int, events: list[Event]) -> None:
        opened = self._open.pop(at, None)
        if opened is None:
            return
        if opened.held:
            events.append(BlockDelta(opened.index, join_surrogates(opened.held)))
        if opened.kind == "tool_use" and not opened.has_arguments and opened.initial_input:
            events.append(BlockDelta(opened.index, opened.initial_input))
        events.append(BlockClose(opened.index))


def _whole_pairs(words: str) -> tuple[str, str]:
    """Return text that can be written now, and a trailing half of a surrogate pair to hold."""
    held = words[-1] if "\ud800" <= words[-1] <= "\udbff" else ""
    return join_surrogates(words[: len(words) - len(held)]), held
