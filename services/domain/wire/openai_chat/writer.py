"""Canonical events as the chunks of one client's chat stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.arguments import is_complete
from services.domain.wire.assemble import OpenCall
from services.domain.wire.custom_tools import MALFORMED, MalformedCallError
from services.domain.wire.encoder import FrameEncoder
from services.domain.wire.openai_chat.error import encode_stream_error
from services.domain.wire.openai_chat.response import call_member
from services.domain.wire.openai_chat.stops import finish_of
from services.domain.wire.openai_chat.tools import custom_names
from services.domain.wire.openai_chat.usage import usage_member
from services.domain.wire.reading import dump

if TYPE_CHECKING:
    from services.domain.wire.model import BlockOpen, ClientError, RenderContext, Stop

KEEPALIVE = b": keepalive\n\n"
_DONE = b"data: [DONE]\n\n"
_DELTA_KEYS = {"text": "content", "thinking": "reasoning_content", "refusal": "refusal"}


class ChatStreamEncoder(FrameEncoder):
    """Writes one stream: a role frame, deltas, one finish frame, usage when wanted, the end mark.

    Calls of custom tools are written whole when their block closes: only then is their text known.
    Frames carry a ``usage`` key only when the client asked for usage; then it is null on every
    frame but the last, which has no choices.
    """

    _keepalive = KEEPALIVE

    def __init__(self, context: RenderContext) -> None:
        super().__init__(context)
        self._id = ""
        self._kinds: dict[int, str] = {}
        self._tools: dict[int, int] = {}
        self._silent_tools: set[int] = set()
        self._customs = custom_names(context.tools)
        self._free: dict[int, OpenCall] = {}
        self._has_refusal = False
        self._chars = 0

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
        if event.name in self._customs:
            self._free[event.index] = OpenCall(event)
            return self._begin()
        self._silent_tools.add(event.index)
        function = {"name": event.name, "arguments": ""}
        call = {"index": number, "id": event.call_id, "type": "function", "function": function}
        return self._begin() + self._frame({"tool_calls": [call]})

    def _delta(self, index: int, words: str) -> bytes:
        kind = self._kinds.get(index)
        if kind is None:
            return b""
        self._chars += len(words)
        if index in self._free:
            self._free[index].words.append(words)
            return b""
        if kind == "tool_use":
            self._silent_tools.discard(index)
            return self._arguments(index, words)
        key = _DELTA_KEYS.get(kind)
        return self._frame({key: words}) if key else b""

    def _arguments(self, index: int, words: str) -> bytes:
        call = {"index": self._tools[index], "function": {"arguments": words}}
        return self._frame({"tool_calls": [call]})

    def _close(self, index: int) -> bytes:
        """Return the text of a free call, or the empty object where no arguments came at all."""
        free = self._free.get(index)
        if free is not None:
            # One that breaks off was perhaps cut by a limit: the end of the answer tells.
            return self._custom(index) if is_complete(free.arguments) else b""
        if index not in self._silent_tools:
            return b""
        self._silent_tools.discard(index)
        return self._arguments(index, "{}")

    def _custom(self, index: int) -> bytes:
        try:
            member = call_member(self._free.pop(index).whole(), self._customs)
        except MalformedCallError:
            return self.fail(MALFORMED)
        return self._frame({"tool_calls": [{"index": self._tools[index], **member}]})

    def _end(self, stop: Stop) -> bytes:
        head = self._begin()
        if self._free and not stop.reason.is_limit:
            return head + self.fail(MALFORMED)
        finish = finish_of(stop, has_calls=bool(self._tools), has_refusal=self._has_refusal)
        frames = [head, self._frame({}, finish)]
        if self._context.is_usage_wanted:
            frames.append(self._usage_frame())
        return b"".join([*frames, _DONE])

    def _failed(self, error: ClientError) -> bytes:
        return encode_stream_error(error)

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
