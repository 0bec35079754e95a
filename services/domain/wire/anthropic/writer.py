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
from services.domain.wire.errors import client_error_of
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

    from services.domain.wire.model import ClientError, Event, RenderContext, Stop, Usage

KEEPALIVE = b'event: ping\ndata: {"type": "ping"}\n\n'
_ARGUMENTS_SLICE = 16 * 1024


class MessagesStreamEncoder:
    """Encodes one client stream.

    Text and reasoning pass as they come, but a block opens only when something visible is in it.
    The arguments of a call are shown whole when it is complete: a call that the output limit cut
    in two must never be run.
    """

    def __init__(self, context: RenderContext) -> None:
        self._context = context
        self._message_id = context.new_id("msg_")
        self._ids = CallIds(self._message_id)
        self._usage: Usage | None = None
        self._is_started = False
        self._is_over = False
        self._next_index = 0
        self._has_tool_use = False
        self._block: BlockOpen | None = None
        self._is_shown = False
        self._held = ""
        self._signature = ""
        self._arguments: list[str] = []
        self._cut_call: tuple[BlockOpen, bytes] | None = None

    def feed(self, events: Sequence[Event]) -> bytes:
        """Return the frames of ``events``; upstream pings give nothing."""
        out: list[bytes] = []
        for event in events:
            if not self._is_over:
                self._write(event, out)
        return b"".join(out)

    def keepalive(self) -> bytes:
        """Return the frame of an idle stream; empty after a terminal."""
        return b"" if self._is_over else KEEPALIVE

    def fail(self, error: ClientError) -> bytes:
        """Return the frame that ends the stream with an error; empty after a terminal."""
        if self._is_over:
            return b""
        self._is_over = True
        return encode_stream_error(error)

    def _write(self, event: Event, out: list[bytes]) -> None:
        match event:
            case BlockDelta():
                self._delta(event, out)
            case Start():
                self._usage = event.usage or self._usage
                self._start(out)
            case BlockOpen():
                self._close(out)
                self._start(out)
                self._show_cut_call(out)
                self._block = event
                if event.kind == "redacted_thinking" and event.data:
                    self._show({"type": "redacted_thinking", "data": event.data}, out)
            case BlockState():
                self._sign(event)
            case BlockClose():
                if self._block is not None and self._block.index == event.index:
                    self._close(out)
            case UsageSeen():
                self._usage = event.usage
            case End():
                self._end(event.stop, event.usage, out)
            case Failure():
                out.append(self.fail(client_error_of(event.error, is_same_family=False)))
            case _:
                return

    def _start(self, out: list[bytes]) -> None:
        if self._is_started:
            return
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
        out.append(_frame("message_start", {"message": message}))

    def _delta(self, event: BlockDelta, out: list[bytes]) -> None:
        block = self._block
        if block is None or block.index != event.index or not event.text:
            return
        if block.kind == "tool_use":
            self._arguments.append(event.text)
        elif block.kind == "thinking":
            self._show_thinking(out)
            self._say({"type": "thinking_delta", "thinking": event.text}, out)
        elif block.kind in ("text", "refusal"):
            self._text(event.text, out)

    def _text(self, words: str, out: list[bytes]) -> None:
        if not self._is_shown:
            self._held += words
            if not self._held.strip():
                return
            words, self._held = self._held, ""
            self._show({"type": "text", "text": ""}, out)
        self._say({"type": "text_delta", "text": words}, out)

    def _sign(self, event: BlockState) -> None:
        is_own = event.state.family is WireFamily.ANTHROPIC and event.state.kind == "signature"
        if is_own and self._block is not None and self._block.index == event.index:
            self._signature = event.state.payload

    def _show_thinking(self, out: list[bytes]) -> None:
        if not self._is_shown:
            self._show({"type": "thinking", "thinking": "", "signature": ""}, out)

    def _show(self, content_block: dict[str, object], out: list[bytes]) -> None:
        self._is_shown = True
        member = {"index": self._next_index, "content_block": content_block}
        out.append(_frame("content_block_start", member))

    def _say(self, delta: dict[str, object], out: list[bytes]) -> None:
        out.append(_frame("content_block_delta", {"index": self._next_index, "delta": delta}))

    def _close(self, out: list[bytes]) -> None:
        block = self._block
        if block is None:
            return
        if block.kind == "tool_use":
            self._close_call(block, out)
        if self._signature:
            self._show_thinking(out)
            self._say({"type": "signature_delta", "signature": self._signature}, out)
        if self._is_shown:
            out.append(_frame("content_block_stop", {"index": self._next_index}))
            self._next_index += 1
        self._block = None
        self._is_shown = False
        self._held = ""
        self._signature = ""
        self._arguments = []

    def _close_call(self, block: BlockOpen, out: list[bytes]) -> None:
        arguments = "".join(self._arguments).encode("utf-8", "replace")
        if is_complete(arguments):
            self._show_call(block, arguments, out)
        else:
            self._cut_call = (block, arguments)

    def _show_cut_call(self, out: list[bytes]) -> None:
        """Write a call whose arguments are not readable, mended; its stream went on after it."""
        if self._cut_call is None:
            return
        block, arguments = self._cut_call
        self._cut_call = None
        self._show_call(block, arguments, out)
        if self._is_shown:
            out.append(_frame("content_block_stop", {"index": self._next_index}))
            self._next_index += 1
            self._is_shown = False

    def _show_call(self, block: BlockOpen, arguments: bytes, out: list[bytes]) -> None:
        if not block.name:
            return
        self._has_tool_use = True
        call_id = self._ids.show(block.call_id)
        self._show({"type": "tool_use", "id": call_id, "name": block.name, "input": {}}, out)
        words = as_object(arguments)[0].decode("utf-8", "replace")
        for at in range(0, len(words), _ARGUMENTS_SLICE):
            part = words[at : at + _ARGUMENTS_SLICE]
            self._say({"type": "input_json_delta", "partial_json": part}, out)

    def _end(self, stop: Stop, usage: Usage | None, out: list[bytes]) -> None:
        self._start(out)
        self._close(out)
        if stop.reason not in (StopReason.MAX_TOKENS, StopReason.CONTEXT_FULL):
            self._show_cut_call(out)
        self._is_over = True
        final = usage or self._usage or seed_usage(None, self._context.estimated_input_tokens)
        reason = stop_name(stop, has_tool_use=self._has_tool_use)
        delta = {"stop_reason": reason, "stop_sequence": stop.sequence}
        out.append(_frame("message_delta", {"delta": delta, "usage": usage_member(final)}))
        out.append(_frame("message_stop", {}))


def _frame(kind: str, members: dict[str, object]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), dump({"type": kind, **members}))
