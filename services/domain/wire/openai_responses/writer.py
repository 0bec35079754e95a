"""Canonical events as the events of one client's stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.arguments import is_complete
from services.domain.wire.custom_tools import MALFORMED, MalformedCallError
from services.domain.wire.encoder import FrameEncoder
from services.domain.wire.openai_responses.answer import answer_object
from services.domain.wire.openai_responses.error import error_member
from services.domain.wire.openai_responses.output import ending_of
from services.domain.wire.openai_responses.pieces import (
    CallPiece,
    ReasoningPiece,
    WordsPiece,
)
from services.domain.wire.openai_responses.tools import call_forms
from services.domain.wire.reading import dump

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import (
        BlockOpen,
        BlockState,
        ClientError,
        RenderContext,
        Stop,
    )
    from services.domain.wire.openai_responses.pieces import Frames, Piece


class ResponsesStreamEncoder(FrameEncoder):
    """Writes one stream: created, in progress, items one after another, and one terminal.

    Calls are written whole when their block closes. One whose arguments break off waits for the
    end, since after a cut by the output limit it must not be shown.
    """

    def __init__(self, context: RenderContext) -> None:
        super().__init__(context)
        self._forms = call_forms(context.tools)
        self._id = ""
        self._number = 0
        self._chars = 0
        self._pieces: dict[int, Piece] = {}
        self._half: CallPiece | None = None
        self._items = 0
        self._output: list[dict[str, object]] = []
        self._has_refusal = False

    def keepalive(self) -> bytes:
        """Return the vendor's own event of an idle stream, numbered; empty after a terminal.

        Clients time events, not bytes. One of the answer's own events would not do: to some of
        them each is a new snapshot of the whole answer.
        """
        if self._is_over or not self._id:
            return b""
        return self._frame("keepalive", {})

    def _failed(self, error: ClientError) -> bytes:
        """Return the frames that close the open items, and tell that the answer failed."""
        frames = [self._begin()]
        said = [at for at, piece in self._pieces.items() if not isinstance(piece, CallPiece)]
        frames += [self._close(index, status="incomplete") for index in sorted(said)]
        frames.append(self._terminal("failed", error=error_member(error)))
        return b"".join(frames)

    def _begin(self) -> bytes:
        if self._id:
            return b""
        self._id = self._context.new_id("resp_")
        response = answer_object(self._id, self._context, "in_progress")
        return self._frames(
            [("created", {"response": response}), ("in_progress", {"response": response})]
        )

    def _open(self, event: BlockOpen) -> bytes:
        before = self._begin() + self._release()
        piece: Piece
        if event.kind == "tool_use":
            piece = CallPiece(event, self._forms)
        elif event.kind in ("thinking", "redacted_thinking"):
            piece = ReasoningPiece(self._context.new_id("rs_"))
        else:
            self._has_refusal |= event.kind == "refusal"
            piece = WordsPiece(self._context.new_id("msg_"), is_refusal=event.kind == "refusal")
        self._pieces[event.index] = piece
        if isinstance(piece, CallPiece):
            return before
        return before + self._frames(piece.opening(self._next_item()))

    def _next_item(self) -> int:
        self._items += 1
        return self._items - 1

    def _delta(self, index: int, words: str) -> bytes:
        piece = self._pieces.get(index)
        if piece is None:
            return b""
        self._chars += len(words)
        return self._frames(piece.delta(words))

    def _state(self, event: BlockState) -> bytes:
        piece = self._pieces.get(event.index)
        if isinstance(piece, ReasoningPiece):
            piece.state = (*piece.state, event.state)
        return b""

    def _close(self, index: int, status: str = "completed") -> bytes:
        piece = self._pieces.pop(index, None)
        if piece is None:
            return b""
        if isinstance(piece, CallPiece):
            if not is_complete(piece.arguments):
                self._half = piece
                return b""
            return self._call(piece)
        frames, item = piece.closing(status)
        self._output.append(item)
        return self._frames(frames)

    def _release(self) -> bytes:
        """Return a call whose arguments break off, once it is sure that no cut follows."""
        piece, self._half = self._half, None
        return b"" if piece is None else self._call(piece)

    def _call(self, piece: CallPiece) -> bytes:
        try:
            item = piece.item(self._context)
        except MalformedCallError:
            return self.fail(MALFORMED)
        self._output.append(item)
        return self._frames(piece.told(item, self._next_item()))

    def _end(self, stop: Stop) -> bytes:
        frames = [self._begin()]
        if not stop.reason.is_limit:
            frames.append(self._release())
        if self._is_over:
            return b"".join(frames)
        status, reason = ending_of(
            stop, has_output=bool(self._output), has_refusal=self._has_refusal
        )
        error = error_member(MALFORMED) if status == "failed" else None
        frames.append(self._terminal(status, reason, error))
        return b"".join(frames)

    def _terminal(
        self, status: str, reason: str | None = None, error: dict[str, object] | None = None
    ) -> bytes:
        usage = self._usage or self._context.estimated_usage(self._chars)
        response = answer_object(
            self._id,
            self._context,
            status,
            self._output,
            usage=usage,
            cut_reason=reason,
            error=error,
        )
        return self._frames([(status, {"response": response})])

    def _frames(self, frames: Frames) -> bytes:
        return b"".join([self._frame(f"response.{name}", members) for name, members in frames])

    def _frame(self, kind: str, members: Mapping[str, object]) -> bytes:
        body = {"type": kind, "sequence_number": self._number, **members}
        self._number += 1
        return b"event: " + kind.encode() + b"\ndata: " + dump(body) + b"\n\n"
