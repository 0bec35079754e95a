"""What can be learned from a Messages stream that passes untouched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from services.domain.sse import parse_frame
from services.domain.wire.anthropic.error import error_of
from services.domain.wire.anthropic.stops import stop_of
from services.domain.wire.anthropic.usage import UsageCount
from services.domain.wire.model import StopReason
from services.domain.wire.observer import StreamObserver
from services.domain.wire.reading import mapping, text
from services.domain.wire.words import NUMBER, WORDS, characters_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.sse import Frame

_OUTPUT_MEMBERS: Mapping[str, str] = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "input_json_delta": "partial_json",
}
_PLAIN_DELTA = re.compile(
    rb"event: content_block_delta\n"
    rb'data: \{"type": ?"content_block_delta", ?"index": ?%b, ?"delta": ?\{"type": ?"'
    rb'(?:text_delta", ?"text|thinking_delta", ?"thinking|input_json_delta", ?"partial_json)'
    rb'": ?"%b"\} *+\}\n\n' % (NUMBER, WORDS)
)
"""A delta with output, in the form that vendors send; its words are the group."""
_SILENT_BLOCKS = frozenset(["text", "thinking"])


class MessagesStreamObserver(StreamObserver):
    """Watches one stream. Pings, the start and empty deltas are bookkeeping, all else output."""

    _plain = _PLAIN_DELTA

    def __init__(self) -> None:
        super().__init__()
        self._usage = UsageCount()

    def feed(self, data: bytes) -> None:
        """Take note of ``data``; unreadable frames are counted and passed over."""
        for raw in self._splitter.cut(data):
            match = self._plain.fullmatch(raw)
            characters = characters_of(match[1]) if match else 0
            if characters:
                self._plain_delta(characters)
            elif (frame := parse_frame(raw)) is not None:
                self._read(frame)
        if self._splitter.is_over_limit:
            self._seen.bad_frames = max(1, self._seen.bad_frames)

    def _plain_delta(self, characters: int) -> None:
        if not self._seen.has_terminal:
            self._output(characters)
            self._seen.is_started = True

    def _read(self, frame: Frame) -> None:
        event = self._told(frame)
        if event is None or self._seen.has_terminal:
            return
        match event.get("type") or frame.event:
            case "content_block_delta":
                self._delta(mapping(event.get("delta")))
            case "ping":
                return
            case "content_block_start":
                self._block_start(mapping(event.get("content_block")))
            case "message_start":
                self._tap(mapping(event.get("message")))
            case "message_delta":
                self._message_delta(event)
            case "message_stop":
                self._output(0)
                self._seen.has_terminal = True
            case "error":
                self._fail(error_of(event))
            case _:
                pass
        self._seen.is_started = True

    def _delta(self, delta: Mapping[str, object]) -> None:
        member = _OUTPUT_MEMBERS.get(text(delta.get("type")))
        if member is None:
            return
        words = text(delta.get(member))
        if words:
            self._output(len(words))

    def _block_start(self, block: Mapping[str, object]) -> None:
        kind = text(block.get("type"))
        if kind == "tool_use":
            self._seen.tool_calls += 1
        if kind in _SILENT_BLOCKS:
            words = text(block.get(kind))
            if words:
                self._output(len(words))
        elif kind:
            self._output(0)

    def _tap(self, holder: Mapping[str, object]) -> None:
        usage = self._usage.add(holder.get("usage"))
        if usage is not None:
            self._seen.usage = usage

    def _message_delta(self, event: Mapping[str, object]) -> None:
        self._tap(event)
        delta = mapping(event.get("delta"))
        if delta.get("stop_reason") is not None:
            self._seen.stop = stop_of(delta)
            self._seen.refusal_seen |= self._seen.stop.reason is StopReason.REFUSAL
