"""Canonical events as one client's stream: each frame is an answer object of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.arguments import is_complete
from services.domain.wire.errors import client_error_of
from services.domain.wire.gemini.error import encode_stream_error
from services.domain.wire.gemini.parts import own_signature
from services.domain.wire.gemini.render import (
    answer_object,
    call_part,
    text_part,
    thought_parts,
)
from services.domain.wire.gemini.stops import finish_of
from services.domain.wire.gemini.usage import usage_member
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    BlockState,
    End,
    Failure,
    Start,
    StopReason,
    UsageSeen,
)
from services.domain.wire.reading import dump

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.gemini.render import JsonPart
    from services.domain.wire.model import ClientError, Event, RenderContext, Stop, Usage

KEEPALIVE = b"\n\n"


class _Call:
    """A call as far as it came."""

    def __init__(self, opening: BlockOpen) -> None:
        self.opening = opening
        self.arguments: list[str] = []
        self.state: list[BlockState] = []

    @property
    def text(self) -> bytes:
        return "".join(self.arguments).encode("utf-8", "replace")

    def part(self) -> JsonPart:
        state = tuple(event.state for event in self.state)
        return call_part(self.opening.call_id, self.opening.name, self.text, state)


class GeminiStreamEncoder:
    """Writes one stream. Calls are written whole; the last frame has the finish and the usage."""

    def __init__(self, context: RenderContext) -> None:
        self._context = context
        self._id = context.new_id("")
        self._usage: Usage | None = None
        self._chars = 0
        self._is_over = False
        self._kinds: dict[int, str] = {}
        self._call: _Call | None = None
        self._has_thought = False
        """Whether the open block showed words of a thought, which a signature belongs to."""

    def feed(self, events: Sequence[Event]) -> bytes:
        """Return the frames of ``events``; a start alone writes nothing."""
        return b"".join([self._write(event) for event in events if not self._is_over])

    def keepalive(self) -> bytes:
        """Return the frame of an idle stream; empty after a terminal."""
        return b"" if self._is_over else KEEPALIVE

    def fail(self, error: ClientError) -> bytes:
        """Return the frame that ends a started stream with an error; empty after a terminal."""
        if self._is_over:
            return b""
        self._is_over = True
        return encode_stream_error(error)

    def _write(self, event: Event) -> bytes:
        match event:
            case BlockDelta():
                return self._delta(event)
            case BlockOpen():
                return self._open(event)
            case BlockState():
                return self._state(event)
            case BlockClose(index):
                return self._close(index)
            case UsageSeen(usage):
                self._usage = usage
            case Start(usage=usage):
                self._usage = usage or self._usage
            case End(stop, usage):
                self._usage = usage or self._usage
                return self._end(stop)
            case Failure(error):
                return self.fail(client_error_of(error, is_same_family=False))
            case _:
                pass
        return b""

    def _open(self, event: BlockOpen) -> bytes:
        before = self._take_call()
        self._kinds[event.index] = event.kind
        self._has_thought = False
        if event.kind == "tool_use":
            self._call = _Call(event)
        return before

    def _delta(self, event: BlockDelta) -> bytes:
        kind = self._kinds.get(event.index)
        if not event.text or kind is None:
            return b""
        self._chars += len(event.text)
        if kind == "tool_use":
            if self._call is not None and self._call.opening.index == event.index:
                self._call.arguments.append(event.text)
            return b""
        if kind == "thinking":
            if not self._context.is_reasoning_wanted:
                return b""
            self._has_thought = True
            return self._frames(thought_parts(event.text, "", is_shown=True))
        return self._frames([text_part(event.text)]) if kind in ("text", "refusal") else b""

    def _state(self, event: BlockState) -> bytes:
        if self._call is not None and self._call.opening.index == event.index:
            self._call.state.append(event)
            return b""
        signature = own_signature((event.state,))
        part: JsonPart = {"text": "", "thoughtSignature": signature}
        if self._has_thought:
            part = {"text": "", "thought": True, "thoughtSignature": signature}
        return self._frames([part]) if signature else b""

    def _close(self, index: int) -> bytes:
        """Write a complete call; an incomplete one waits to see whether a limit cut it."""
        call = self._call
        if call is None or call.opening.index != index or not is_complete(call.text):
            return b""
        return self._take_call()

    def _take_call(self) -> bytes:
        call, self._call = self._call, None
        return b"" if call is None else self._frames([call.part()])

    def _end(self, stop: Stop) -> bytes:
        is_cut = self._call is not None and not is_complete(self._call.text)
        last_call = self._take_call()
        if is_cut and stop.reason is StopReason.MAX_TOKENS:
            last_call = b""
        self._is_over = True
        answer = answer_object([text_part("")], finish_of(stop), self._id, self._context)
        usage = self._usage or self._context.estimated_usage(self._chars)
        answer["usageMetadata"] = usage_member(usage)
        return last_call + _frame(answer)

    def _frames(self, parts: list[JsonPart]) -> bytes:
        return b"".join(_frame(answer_object([p], "", self._id, self._context)) for p in parts)


def _frame(answer: dict[str, object]) -> bytes:
    return b"data: " + dump(answer) + b"\n\n"
