"""Canonical events as one client's stream: each frame is an answer object of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.arguments import is_complete
from services.domain.wire.assemble import OpenCall
from services.domain.wire.encoder import FrameEncoder
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
from services.domain.wire.reading import dump

if TYPE_CHECKING:
    from services.domain.wire.gemini.render import JsonPart
    from services.domain.wire.model import (
        BlockOpen,
        BlockState,
        ClientError,
        RenderContext,
        Stop,
    )

KEEPALIVE = b"\n\n"


class GeminiStreamEncoder(FrameEncoder):
    """Writes one stream. Calls are written whole; the last frame has the finish and the usage."""

    _keepalive = KEEPALIVE

    def __init__(self, context: RenderContext) -> None:
        super().__init__(context)
        self._id = context.new_id("")
        self._chars = 0
        self._kinds: dict[int, str] = {}
        self._call: OpenCall | None = None
        self._has_thought = False
        """Whether the open block showed words of a thought, which a signature belongs to."""

    def _failed(self, error: ClientError) -> bytes:
        return encode_stream_error(error)

    def _open(self, event: BlockOpen) -> bytes:
        before = self._take_call()
        self._kinds[event.index] = event.kind
        self._has_thought = False
        if event.kind == "tool_use":
            self._call = OpenCall(event)
        return before

    def _delta(self, index: int, words: str) -> bytes:
        kind = self._kinds.get(index)
        if kind is None:
            return b""
        self._chars += len(words)
        if kind == "tool_use":
            if self._call is not None and self._call.index == index:
                self._call.words.append(words)
            return b""
        if kind == "thinking":
            if not self._context.is_reasoning_wanted:
                return b""
            self._has_thought = True
            return self._frames(thought_parts(words, "", is_shown=True))
        return self._frames([text_part(words)]) if kind in ("text", "refusal") else b""

    def _state(self, event: BlockState) -> bytes:
        if self._call is not None and self._call.index == event.index:
            self._call.states.append(event.state)
            return b""
        signature = own_signature((event.state,))
        part: JsonPart = {"text": "", "thoughtSignature": signature}
        if self._has_thought:
            part = {"text": "", "thought": True, "thoughtSignature": signature}
        return self._frames([part]) if signature else b""

    def _close(self, index: int) -> bytes:
        """Write a complete call; an incomplete one waits to see whether a limit cut it."""
        call = self._call
        if call is None or call.index != index or not is_complete(call.arguments):
            return b""
        return self._take_call()

    def _take_call(self) -> bytes:
        call, self._call = self._call, None
        return b"" if call is None else self._frames([call_part(call.whole())])

    def _end(self, stop: Stop) -> bytes:
        is_cut = self._call is not None and not is_complete(self._call.arguments)
        last_call = self._take_call()
        if is_cut and stop.reason.is_limit:
            last_call = b""
        answer = answer_object([text_part("")], finish_of(stop), self._id, self._context)
        usage = self._usage or self._context.estimated_usage(self._chars)
        answer["usageMetadata"] = usage_member(usage)
        return last_call + _frame(answer)

    def _frames(self, parts: list[JsonPart]) -> bytes:
        return b"".join(_frame(answer_object([p], "", self._id, self._context)) for p in parts)


def _frame(answer: dict[str, object]) -> bytes:
    return b"data: " + dump(answer) + b"\n\n"
