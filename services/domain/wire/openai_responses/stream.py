"""One upstream stream as canonical events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.assemble import block_events
from services.domain.wire.decoder import ObjectDecoder
from services.domain.wire.model import BlockOpen, End, Start, StopReason
from services.domain.wire.openai_responses.error import error_of_event
from services.domain.wire.openai_responses.live import LiveItem
from services.domain.wire.openai_responses.output import CALLS, failure_of, stop_of
from services.domain.wire.openai_responses.usage import usage_of
from services.domain.wire.reading import mapping, rows, text, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.sse import Frame
    from services.domain.wire.model import Event

PARTS: Mapping[str, tuple[str, str]] = {
    "output_text": ("message", "text"),
    "refusal": ("message", "refusal"),
    "reasoning_summary_text": ("reasoning", "summary"),
    "reasoning_text": ("reasoning", "content"),
    "function_call_arguments": ("function_call", "arguments"),
    "custom_tool_call_input": ("custom_tool_call", "input"),
}
"""What the events ``response.<name>.delta`` and ``.done`` are about: item type and part."""

TERMINALS = frozenset(["response.completed", "response.incomplete", "response.failed"])
_MEMBERS = {"summary": "text", "content": "text"}


class ResponsesStreamDecoder(ObjectDecoder):
    """Decodes one stream. Blocks come one at a time; calls come whole, when their item is done."""

    _own_error_type = "server_error"

    def __init__(self) -> None:
        super().__init__()
        self._id = ""
        self._items: list[LiveItem] = []
        self._by_index: dict[int, LiveItem] = {}
        self._by_id: dict[str, LiveItem] = {}
        self._head = 0
        self._blocks = 0
        self._has_calls = False
        self._has_refusal = False

    def _take(self, told: dict[str, object], frame: Frame, events: list[Event]) -> None:
        kind = text(told.get("type")) or frame.event
        if kind == "error" or (told.get("error") and not kind.startswith("response.")):
            self._end_with(error_of_event(told), events)
            return
        if not kind.startswith("response."):
            return
        if "response" in told:
            self._begin(mapping(told["response"]), events)
        if kind in TERMINALS:
            self._terminal(mapping(told.get("response")), kind, events)
            return
        self._grow(kind, told, events)

    def _begin(self, response: Mapping[str, object], events: list[Event]) -> None:
        if self._is_started:
            return
        self._is_started = True
        self._id = text(response.get("id"))
        events.append(Start(self._id, text(response.get("model"))))

    def _grow(self, kind: str, event: Mapping[str, object], events: list[Event]) -> None:
        name, _, phase = kind.removeprefix("response.").rpartition(".")
        item = mapping(event.get("item"))
        if name == "output_item" and phase in ("added", "done"):
            live = self._item(event, item, text(item.get("type")))
            if phase == "added":
                live.open(item)
            else:
                live.close(item)
        elif name in PARTS and phase in ("delta", "done"):
            kind, source = PARTS[name]
            live = self._item(event, {}, kind)
            place = event.get("summary_index" if source == "summary" else "content_index")
            if phase == "delta":
                live.add(source, whole(place) or 0, text(event.get("delta")))
            else:
                member = _MEMBERS.get(source, source)
                live.complete(source, whole(place) or 0, text(event.get(member)))
        else:
            return
        self._begin({}, events)
        self._advance(events)

    def _item(self, event: Mapping[str, object], item: Mapping[str, object], kind: str) -> LiveItem:
        """Return the item that an event is about; one that was never announced begins here."""
        item_id = text(event.get("item_id")) or text(item.get("id"))
        index = whole(event.get("output_index"))
        known = self._by_index.get(index) if index is not None else None
        if known is None and item_id:
            known = self._by_id.get(item_id)
        if known is None and index is None and not item_id and self._items:
            last = self._items[-1]
            known = last if last.kind == kind and not last.is_done else None
        if known is None:
            known = LiveItem(kind)
            self._items.append(known)
        if index is not None:
            self._by_index.setdefault(index, known)
        if item_id:
            self._by_id.setdefault(item_id, known)
        return known

    def _advance(self, events: list[Event], *, is_cut: bool = False, is_last: bool = False) -> None:
        """Tell what can be told: the oldest item so far, and those behind it once it is done."""
        while self._head < len(self._items):
            item = self._items[self._head]
            if item.is_done and item.is_half_call and not is_last:
                return
            told, self._blocks = item.tell(self._blocks)
            self._has_refusal |= any(isinstance(e, BlockOpen) and e.kind == "refusal" for e in told)
            events += told
            if not item.is_done:
                return
            if not (is_cut and item.is_half_call and self._is_last_call()):
                self._tell_call(item, events)
            self._head += 1

    def _is_last_call(self) -> bool:
        return not any(item.kind in CALLS for item in self._items[self._head + 1 :])

    def _tell_call(self, item: LiveItem, events: list[Event]) -> None:
        call = item.call(self._id, self._head)
        if call is None:
            return
        self._has_calls = True
        events += block_events(call, self._blocks)
        self._blocks += 1

    def _terminal(self, response: Mapping[str, object], kind: str, events: list[Event]) -> None:
        status = kind.removeprefix("response.")
        response = {**response, "status": text(response.get("status")) or status}
        if status == "failed":
            response["status"] = "failed"
        error = failure_of(response)
        if error is not None:
            self._end_with(error, events)
            return
        self._begin(response, events)
        self._repeat(rows(response.get("output")))
        for live in self._items:
            live.close({})
        is_cut = stop_of(response, has_calls=False, has_refusal=False).reason
        self._advance(events, is_cut=is_cut is StopReason.MAX_TOKENS, is_last=True)
        stop = stop_of(response, has_calls=self._has_calls, has_refusal=self._has_refusal)
        self._is_over = True
        events.append(End(stop, usage_of(response.get("usage"))))

    def _repeat(self, output: list[object]) -> None:
        """Take all items as the end tells them again; what was never numbered goes by place.

        Calls go by their ids: a call that is told twice would be made twice.
        """
        if not self._by_index:
            self._by_index = dict(enumerate(self._items))
        by_call = {live.call_id: live for live in self._items if live.call_id}
        for index, raw in enumerate(output):
            item = mapping(raw)
            live = by_call.get(text(item.get("call_id")))
            if live is None:
                live = self._item({"output_index": index}, item, text(item.get("type")))
            live.close(item)
