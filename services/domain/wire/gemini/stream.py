"""One upstream stream as canonical events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from services.domain.wire.decoder import BlockTeller, FrameDecoder
from services.domain.wire.gemini.error import error_of
from services.domain.wire.gemini.parts import (
    Chunk,
    made_call_id,
    parts_of,
    read_chunk,
    state_of,
)
from services.domain.wire.gemini.stops import is_malformed, stop_of
from services.domain.wire.gemini.usage import UsageCount
from services.domain.wire.model import End, Start, Stop, StopReason, ToolUse, UsageSeen
from services.domain.wire.reading import mapping, rows, text

if TYPE_CHECKING:
    from services.domain.sse import Frame
    from services.domain.wire.gemini.parts import Part
    from services.domain.wire.model import Event, Usage


class GeminiStreamDecoder(FrameDecoder[Chunk]):
    """Decodes one stream. Blocks come one at a time; tool calls come whole, as they are sent.

    The end is told at the end of the stream only: usage may come after the finish reason.
    """

    _own_error_type = "UNAVAILABLE"

    def __init__(self) -> None:
        super().__init__()
        self._usage = UsageCount()
        self._last_usage: Usage | None = None
        self._id = ""
        self._finish = ""
        self._is_blocked = False
        self._blocks = BlockTeller()
        self._has_parts = False
        self._call_ids: set[str] = set()

    def whole(self, answer: Chunk) -> list[Event]:
        """Return the events of a whole answer: a stream of one frame."""
        events: list[Event] = []
        self._answer(answer, events)
        if not self._is_over:
            self._break_off(events)
        return events

    def _parse(self, data: bytes) -> Chunk | None:
        return read_chunk(data)

    def _take(self, told: Chunk, frame: Frame, events: list[Event]) -> None:
        self._answer(told, events)

    def _answer(self, chunk: Chunk, events: list[Event]) -> None:
        told = chunk.told
        if told.get("error"):
            if self._has_terminal:
                self._break_off(events)
            else:
                self._end_with(error_of(told), events)
            return
        self._begin(chunk, events)
        self._count(chunk, events)
        for place, row in enumerate(rows(told.get("candidates"))):
            candidate = mapping(row)
            if candidate.get("index") in (0, None):
                for part in parts_of(chunk, place, candidate):
                    self._part(part, events)
                self._finish = text(candidate.get("finishReason")) or self._finish
                break
        self._is_blocked |= bool(text(mapping(told.get("promptFeedback")).get("blockReason")))

    @property
    def _has_terminal(self) -> bool:
        return bool(self._finish) or self._is_blocked

    def _break_off(self, events: list[Event]) -> None:
        """Add the end of the answer, or a failure when it has no end."""
        if not self._has_terminal:
            super()._break_off(events)
        elif is_malformed(self._finish) and not self._has_parts:
            self._fail(self._finish, "the model failed to write an answer", events)
        else:
            self._blocks.close(events)
            self._is_over = True
            events.append(End(self._stop(), self._last_usage))

    def _stop(self) -> Stop:
        if self._is_blocked and not self._finish:
            return Stop(StopReason.REFUSAL)
        return stop_of(self._finish, has_calls=bool(self._call_ids))

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
            self._say(part, part.kind, events)

    def _say(self, part: Part, kind: Literal["text", "thinking"], events: list[Event]) -> None:
        """Add words to the open block of their kind.

        A signature closes a thought. That of visible text stands alone, as a thought without words:
        text holds no state here.
        """
        if part.words:
            self._has_parts = True
            self._blocks.say(kind, part.words, events)
        if part.signature:
            is_of_open = kind == "thinking" == self._blocks.open_kind
            self._blocks.sign(state_of(part.signature), is_of_open=is_of_open, events=events)

    def _call(self, part: Part, events: list[Event]) -> None:
        if not part.words:
            return
        self._has_parts = True
        call_id = part.call_id
        if not call_id or call_id in self._call_ids:
            ordinal = len(self._call_ids)
            call_id = made_call_id(self._id, ordinal, part.words, part.arguments)
        self._call_ids.add(call_id)
        state = (state_of(part.signature),) if part.signature else ()
        self._blocks.add(ToolUse(call_id, part.words, part.arguments, state=state), events)
