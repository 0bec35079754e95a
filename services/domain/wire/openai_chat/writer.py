"""Canonical events as the chunks of one client's chat stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.errors import client_error_of
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    End,
    Failure,
    Start,
    Stop,
    Usage,
    UsageSeen,
)
from services.domain.wire.openai_chat.error import encode_stream_error
from services.domain.wire.openai_chat.stops import finish_of
from services.domain.wire.openai_chat.usage import usage_member
from services.domain.wire.reading import dump

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.model import ClientError, Event, RenderContext

KEEPALIVE = b": keepalive\n\n"
_DONE = b"data: [DONE]\n\n"
_DELTA_KEYS = {"text": "content", "thinking": "reasoning_content", "refusal": "refusal"}


class ChatStreamEncoder:
    """Writes one stream: a role frame, deltas, one finish frame, usage when wanted, the end mark.

    Frames carry a ``usage`` key only when the client asked for usage; then it is null on every
    frame but the last, which has no choices.
    """

    def __init__(self, context: RenderContext) -> None:
        self._context = context
        self._id = ""
        self._is_over = False
        self._kinds: dict[int, str] = {}
        self._tools: dict[int, int] = {}
        self._silent_tools: set[int] = set()
        self._has_refusal = False
        self._usage: Usage | None = None
        self._chars = 0

    def feed(self, events: Sequence[Event]) -> bytes:
        """Return the frames of ``events``; the role frame comes before the first of them."""
        return b"".join([self._write(event) for event in events if not self._is_over])

    def keepalive(self) -> bytes:
        """Return the frame of an idle stream; empty after a terminal."""
        return b"" if self._is_over else KEEPALIVE

    def fail(self, error: ClientError) -> bytes:
        """Return the one error frame that ends a started stream; empty after a terminal."""
        if self._is_over:
            return b""
        self._is_over = True
        return encode_stream_error(error)

    def _write(self, event: Event) -> bytes:
        match event:
            case BlockOpen():
                return self._open(event)
            case BlockDelta(index, words):
                return self._delta(index, words)
            case BlockClose(index):
                return self._close(index)
            case UsageSeen(usage):
                self._usage = usage
                return b""
            case End(stop, usage):
                self._usage = usage or self._usage
                return self._end(stop)
            case Failure(error):
                return self.fail(client_error_of(error, is_same_family=False))
            case Start(usage=usage):
                self._usage = usage or self._usage
                return self._begin()
            case _:
                return b""

    def _begin(self) -> bytes:
        if self._id:
            return b""
        self._id = self._context.new_id("chatcmpl-")
        return self._frame({"role": "assistant", "content": ""})

    def _open(self, event: BlockOpen) -> bytes:
        self._kinds[event.index] = event.kind
        if event.kind == "refusal":
            self._has_refusal = True
        if event.kind != "tool_use":
            return self._begin()
        number = self._tools[event.index] = len(self._tools)
        self._silent_tools.add(event.index)
        function = {"name": event.name, "arguments": ""}
        call = {"index": number, "id": event.call_id, "type": "function", "function": function}
        return self._begin() + self._frame({"tool_calls": [call]})

    def _delta(self, index: int, words: str) -> bytes:
        kind = self._kinds.get(index)
        if not words or kind is None:
            return b""
        self._chars += len(words)
        if kind == "tool_use":
            self._silent_tools.discard(index)
            return self._arguments(index, words)
        key = _DELTA_KEYS.get(kind)
        return self._frame({key: words}) if key else b""

    def _arguments(self, index: int, words: str) -> bytes:
        call = {"index": self._tools[index], "function": {"arguments": words}}
        return self._frame({"tool_calls": [call]})

    def _close(self, index: int) -> bytes:
        """Return the empty object for a call that closes without any argument text."""
        if index not in self._silent_tools:
            return b""
        self._silent_tools.discard(index)
        return self._arguments(index, "{}")

    def _end(self, stop: Stop) -> bytes:
        head = self._begin()
        finish = finish_of(stop, has_calls=bool(self._tools), has_refusal=self._has_refusal)
        frames = [head, self._frame({}, finish)]
        if self._context.is_usage_wanted:
            frames.append(self._usage_frame())
        self._is_over = True
        return b"".join([*frames, _DONE])

    def _usage_frame(self) -> bytes:
        usage = self._usage or self._context.estimated_usage(self._chars)
        return b"data: " + dump(self._chunk([], usage_member(usage))) + b"\n\n"

    def _frame(self, delta: dict[str, object], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return b"data: " + dump(self._chunk([choice], None)) + b"\n\n"

    def _chunk(
        self, choices: list[dict[str, object]], usage: dict[str, object] | None
    ) -> dict[str, object]:
        chunk: dict[str, object] = {
            "id": self._id,
            "object": "chat.completion.chunk",
            "created": self._context.created_unix_s,
            "model": self._context.model_id,
            "choices": choices,
        }
        if self._context.is_usage_wanted:
            chunk["usage"] = usage
        return chunk
