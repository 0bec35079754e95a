"""One upstream chat stream as canonical events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.decoder import END_MARK, BlockTeller, ObjectDecoder
from services.domain.wire.ids import made_call_id
from services.domain.wire.model import End, Start, ToolUse, UsageSeen
from services.domain.wire.openai_chat.calls import CallLedger
from services.domain.wire.openai_chat.error import error_of
from services.domain.wire.openai_chat.message import content_of, reasoning_of, refusal_of
from services.domain.wire.openai_chat.stops import stop_of
from services.domain.wire.openai_chat.usage import UsageCount
from services.domain.wire.reading import join_surrogates, mapping, rows, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.sse import Frame
    from services.domain.wire.model import Event, Usage


class ChatStreamDecoder(ObjectDecoder):
    """Decodes one stream. Blocks come one at a time; tool calls come whole, when it ends."""

    _own_error_type = "server_error"

    def __init__(self) -> None:
        super().__init__()
        self._usage = UsageCount()
        self._ledger = CallLedger()
        self._last_usage: Usage | None = None
        self._id = ""
        self._model = ""
        self._finish: str | None = None
        self._blocks = BlockTeller()
        self._has_refusal = False

    def _take(self, told: dict[str, object], frame: Frame, events: list[Event]) -> None:
        if not told.get("error"):
            self._chunk(told, events)
        elif self._finish is not None:
            self._end(events)
        else:
            self._end_with(error_of(502, told), events)

    def _is_aside(self, data: bytes, events: list[Event]) -> bool:
        if data.strip() == END_MARK:
            if self._is_started:
                self._end(events)
            else:
                self._break_off(events)
        return super()._is_aside(data, events)

    def _break_off(self, events: list[Event]) -> None:
        """Add the end of an answer that has its finish reason, and no end mark after it."""
        if self._finish is not None:
            self._end(events)
        else:
            super()._break_off(events)

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
            self._end_with(error_of(502, choice), events)
        elif isinstance(finish, str) and finish and self._finish is None:
            self._finish = finish

    def _delta(self, delta: Mapping[str, object], events: list[Event]) -> None:
        reasoning = reasoning_of(delta)
        if reasoning:
            self._blocks.say("thinking", reasoning, events)
        content = content_of(delta)
        if content:
            self._blocks.say("text", content, events)
        refusal = refusal_of(delta)
        if refusal:
            self._has_refusal = True
            self._blocks.say("refusal", refusal, events)
        for fragment in rows(delta.get("tool_calls")):
            self._ledger.add(fragment)
        self._ledger.add_legacy(delta.get("function_call"))

    def _end(self, events: list[Event]) -> None:
        self._is_over = True
        self._blocks.close(events)
        calls = list(self._ledger.complete(is_cut=self._finish == "length"))
        for ordinal, call in enumerate(calls):
            call_id = call.call_id or made_call_id(self._id, ordinal)
            arguments = join_surrogates(call.text()).encode()
            self._blocks.add(ToolUse(call_id, call.name, arguments), events)
        stop = stop_of(self._finish or "", has_calls=bool(calls), has_refusal=self._has_refusal)
        events.append(End(stop, self._last_usage))
