"""Watching a stream that passes byte for byte: progress, terminal, usage and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.observer import StreamObserver
from services.domain.wire.openai_responses.error import error_of_event
from services.domain.wire.openai_responses.output import CALLS, failure_of, stop_of
from services.domain.wire.openai_responses.stream import PARTS, TERMINALS
from services.domain.wire.openai_responses.usage import usage_of
from services.domain.wire.reading import mapping, rows, text, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.sse import Frame
    from services.domain.wire.model import UpstreamError


class ResponsesStreamObserver(StreamObserver):
    """Takes note of one stream. Output is text, reasoning, refusal and tool calls.

    Events that only announce items and parts, or repeat them, are bookkeeping.
    """

    def __init__(self) -> None:
        super().__init__()
        self._calls: set[object] = set()

    def _read(self, frame: Frame) -> None:
        seen = self._seen
        if seen.has_terminal or not frame.data or frame.data.strip() == b"[DONE]":
            return
        event = self._told(frame)
        if event is None:
            return
        self._place(event)
        kind = text(event.get("type")) or frame.event
        if kind == "error" or (event.get("error") and not kind.startswith("response.")):
            self._fail(error_of_event(event))
        elif kind in TERMINALS:
            self._terminal(mapping(event.get("response")), kind)
        elif kind.startswith("response."):
            seen.is_started = True
            self._grow(kind.removeprefix("response."), event)

    def _place(self, event: Mapping[str, object]) -> None:
        """Take note of where the stream stands, for a frame that may have to end it."""
        seen, number = self._seen, whole(event.get("sequence_number"))
        if number is not None:
            seen.next_number = number + 1
        if not seen.answer_id:
            seen.answer_id = text(mapping(event.get("response")).get("id"))

    def _grow(self, kind: str, event: Mapping[str, object]) -> None:
        name, _, phase = kind.rpartition(".")
        if name == "output_item":
            self._item(mapping(event.get("item")), whole(event.get("output_index")))
            return
        words = text(event.get("delta"))
        if phase != "delta" or name not in PARTS or not words:
            return
        if name == "refusal":
            self._seen.refusal_seen = True
        self._output(len(words))

    def _item(self, item: Mapping[str, object], index: int | None) -> None:
        """Count a call when its item is first announced, or done without announcement."""
        key = index if index is not None else text(item.get("id"))
        name = text(item.get("name"))
        if text(item.get("type")) not in CALLS or not name or key in self._calls:
            return
        self._calls.add(key)
        self._seen.tool_calls = len(self._calls)
        self._output(len(name))

    def _fail(self, error: UpstreamError) -> None:
        super()._fail(error)
        self._seen.is_started = True

    def _terminal(self, response: Mapping[str, object], kind: str) -> None:
        seen = self._seen
        status = kind.removeprefix("response.")
        told = {**response, "status": text(response.get("status")) or status}
        if status == "failed":
            told["status"] = status
        seen.usage = usage_of(told.get("usage"))
        error = failure_of(told)
        if error is not None:
            self._fail(error)
            return
        for index, raw in enumerate(rows(told.get("output"))):
            self._item(mapping(raw), index)
            parts = rows(mapping(raw).get("content"))
            seen.refusal_seen |= any(mapping(part).get("type") == "refusal" for part in parts)
        self._output(0)
        seen.is_started = seen.has_terminal = True
        seen.stop = stop_of(told, has_calls=bool(self._calls), has_refusal=seen.refusal_seen)
