"""Canonical events as a Messages stream.

The grammar: ``message_start``, then blocks one at a time with rising indexes, then one
``message_delta`` with the final usage and ``message_stop``; an ``error`` may replace the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.anthropic.error import encode_stream_error
from services.domain.wire.anthropic.response import CallIds
from services.domain.wire.anthropic.stops import stop_name
from services.domain.wire.anthropic.usage import seed_usage, usage_member
from services.domain.wire.arguments import as_object, is_complete
from services.domain.wire.assemble import OpenCall
from services.domain.wire.encoder import FrameEncoder
from services.domain.wire.reading import dump

if TYPE_CHECKING:
    from services.domain.wire.model import (
        BlockOpen,
        BlockState,
        ClientError,
        RenderContext,
        Stop,
    )

KEEPALIVE = b'event: ping\ndata: {"type": "ping"}\n\n'
_ARGUMENTS_SLICE = 16 * 1024


class MessagesStreamEncoder(FrameEncoder):
    """Encodes one client stream.

    Text and reasoning pass as they come, but a block opens only when something visible is in it.
    The arguments of a call are shown whole when it is complete: a call that the output limit cut
    in two must never be run.
    """

    _keepalive = KEEPALIVE

    def __init__(self, context: RenderContext) -> None:
        super().__init__(context)
        self._message_id = context.new_id("msg_")
        self._ids = CallIds(self._message_id)
        self._is_started = False
        self._next_index = 0
        self._has_tool_use = False
        self._block: BlockOpen | None = None
        self._call: OpenCall | None = None
        self._is_shown = False
        self._held = ""
        self._signature = ""
        self._cut_call: OpenCall | None = None

    def _failed(self, error: ClientError) -> bytes:
        return encode_stream_error(error)

    def _begin(self) -> bytes:
        if self._is_started:
            return b""
        self._is_started = True
        usage = seed_usage(self._usage, self._context.estimated_input_tokens)
        message: dict[str, object] = {
            "id": self._message_id,
            "type": "message",
            "role": "assistant",
            "model": self._context.model_id,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage_member(usage),
        }
        return _frame("message_start", {"message": message})

    def _open(self, event: BlockOpen) -> bytes:
        before = self._close_block() + self._begin() + self._show_cut_call()
        self._block = event
        if event.kind == "tool_use":
            self._call = OpenCall(event)
        if event.kind == "redacted_thinking" and event.data:
            return before + self._show({"type": "redacted_thinking", "data": event.data})
        return before

    def _delta(self, index: int, words: str) -> bytes:
        block = self._block
        if block is None or block.index != index:
            return b""
        if block.kind in ("text", "refusal"):
            return self._text(words)
        if block.kind == "thinking":
            told = self._show_thinking()
            return told + self._say({"type": "thinking_delta", "thinking": words})
        if self._call is not None:
            self._call.words.append(words)
        return b""

    def _text(self, words: str) -> bytes:
        if self._is_shown:
            return self._say({"type": "text_delta", "text": words})
        self._held += words
        if not self._held.strip():
            return b""
        words, self._held = self._held, ""
        opening = self._show({"type": "text", "text": ""})
        return opening + self._say({"type": "text_delta", "text": words})

    def _state(self, event: BlockState) -> bytes:
        is_own = event.state.family is WireFamily.ANTHROPIC and event.state.kind == "signature"
        if is_own and self._block is not None and self._block.index == event.index:
            self._signature = event.state.payload
        return b""

    def _show_thinking(self) -> bytes:
        if self._is_shown:
            return b""
        return self._show({"type": "thinking", "thinking": "", "signature": ""})

    def _show(self, content_block: dict[str, object]) -> bytes:
        self._is_shown = True
        member = {"index": self._next_index, "content_block": content_block}
        return _frame("content_block_start", member)

    def _say(self, delta: dict[str, object]) -> bytes:
        return _frame("content_block_delta", {"index": self._next_index, "delta": delta})

    def _hide(self) -> bytes:
        """Return the close of the block that is shown, if any."""
        if not self._is_shown:
            return b""
        self._is_shown = False
        self._next_index += 1
        return _frame("content_block_stop", {"index": self._next_index - 1})

    def _close(self, index: int) -> bytes:
        if self._block is None or self._block.index != index:
            return b""
        return self._close_block()

    def _close_block(self) -> bytes:
        told, call, signature = b"", self._call, self._signature
        self._block = self._call = None
        self._held = self._signature = ""
        if call is not None and is_complete(call.arguments):
            told = self._show_call(call)
        elif call is not None:
            self._cut_call = call
        if signature:
            told += self._show_thinking()
            told += self._say({"type": "signature_delta", "signature": signature})
        return told + self._hide()

    def _show_cut_call(self) -> bytes:
        """Return a call whose arguments are not readable, mended; its stream went on after it."""
        call, self._cut_call = self._cut_call, None
        return b"" if call is None else self._show_call(call) + self._hide()

    def _show_call(self, open_call: OpenCall) -> bytes:
        call = open_call.whole()
        if not call.name:
            return b""
        self._has_tool_use = True
        call_id = self._ids.show(call.call_id)
        told = [self._show({"type": "tool_use", "id": call_id, "name": call.name, "input": {}})]
        words = as_object(call.arguments)[0].decode("utf-8", "replace")
        for at in range(0, len(words), _ARGUMENTS_SLICE):
            part = words[at : at + _ARGUMENTS_SLICE]
            told.append(self._say({"type": "input_json_delta", "partial_json": part}))
        return b"".join(told)

    def _end(self, stop: Stop) -> bytes:
        told = self._begin() + self._close_block()
        if not stop.reason.is_limit:
            told += self._show_cut_call()
        usage = self._usage or seed_usage(None, self._context.estimated_input_tokens)
        reason = stop_name(stop, has_tool_use=self._has_tool_use)
        delta = {"stop_reason": reason, "stop_sequence": stop.sequence}
        told += _frame("message_delta", {"delta": delta, "usage": usage_member(usage)})
        return told + _frame("message_stop", {})


def _frame(kind: str, members: dict[str, object]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), dump({"type": kind, **members}))
