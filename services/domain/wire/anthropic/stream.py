"""One upstream Messages stream as canonical events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from services.domain.vocab import WireFamily
from services.domain.wire.anthropic.error import error_of
from services.domain.wire.anthropic.stops import stop_of
from services.domain.wire.anthropic.usage import UsageCount
from services.domain.wire.decoder import ObjectDecoder
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    BlockState,
    End,
    Ping,
    ProviderState,
    Start,
    Stop,
    StopReason,
    UsageSeen,
)
from services.domain.wire.reading import join_surrogates, mapping, text, whole, whole_pairs
from services.domain.wire.scanner import scan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.sse import Frame
    from services.domain.wire.model import Event, Usage
    from services.domain.wire.scanner import Plan

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


class MessagesStreamDecoder(ObjectDecoder):
    """Decodes one stream; blocks of kinds that have no canonical form are passed over."""

    _own_error_type = "api_error"

    def __init__(self) -> None:
        super().__init__()
        self._usage = UsageCount()
        self._last_usage: Usage | None = None
        self._stop = Stop(StopReason.END_TURN)
        self._open: dict[int, _Open] = {}
        self._skipped: set[int] = set()
        self._blocks = 0

    def _is_aside(self, data: bytes, events: list[Event]) -> bool:
        return False

    def _take(self, told: dict[str, object], frame: Frame, events: list[Event]) -> None:
        match text(told.get("type")) or frame.event:
            case "content_block_delta":
                self._delta(told, events)
            case "content_block_start":
                self._block_start(told, frame.data, events)
            case "content_block_stop":
                self._block_stop(whole(told.get("index")) or 0, events)
            case "message_start":
                self._start(mapping(told.get("message")), events)
            case "message_delta":
                self._message_delta(told, events)
            case "message_stop":
                self._end(events)
            case "ping":
                events.append(Ping())
            case "error":
                self._end_with(error_of(told), events)
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

    def _block_start(self, event: Mapping[str, object], source: bytes, events: list[Event]) -> None:
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
                    opened.initial_input = _initial_input(source)
            case _:
                self._skipped.add(at)

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
        words, opened.held = whole_pairs(opened.held + words)
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


def _initial_input(source: bytes) -> str:
    """Return the arguments that came with the opening of a call, as they were written."""
    block = scan(source, _START_PLAN).member("content_block")
    return block.members["input"].source if block else ""
