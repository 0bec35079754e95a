"""Items of a client's stream while they are written: what opens, continues and closes each."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from services.domain.wire.assemble import OpenCall
from services.domain.wire.openai_responses.answer import (
    call_item,
    message_item,
    reasoning_item,
    refusal_part,
    summary_part,
    text_part,
)
from services.domain.wire.openai_responses.state import encrypted_of
from services.domain.wire.openai_responses.tools import CallForm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.domain.wire.model import BlockOpen, ProviderState, RenderContext
    from services.domain.wire.openai_responses.answer import Item

Frame = tuple[str, dict[str, object]]
Frames: TypeAlias = "Sequence[Frame]"


class WordsPiece:
    """A message of one part: visible text or a refusal."""

    def __init__(self, item_id: str, *, is_refusal: bool) -> None:
        self._id = item_id
        self._event = "refusal" if is_refusal else "output_text"
        self._member = "refusal" if is_refusal else "text"
        self._part = refusal_part if is_refusal else text_part
        self._is_refusal = is_refusal
        self._place: Item = {}
        self._words: list[str] = []

    def opening(self, output_index: int) -> list[Frame]:
        """Return the frames that announce the message and its part."""
        item = message_item(self._id, "in_progress", [])
        self._place = {"item_id": self._id, "output_index": output_index, "content_index": 0}
        return [
            ("output_item.added", {"output_index": output_index, "item": item}),
            ("content_part.added", {**self._place, "part": self._part("")}),
        ]

    def delta(self, words: str) -> list[Frame]:
        """Return the frame of more words."""
        self._words.append(words)
        return [(f"{self._event}.delta", {**self._place, "delta": words, **self._logprobs()})]

    def _logprobs(self) -> Item:
        return {} if self._is_refusal else {"logprobs": []}

    def closing(self, status: str) -> tuple[list[Frame], Item]:
        """Return the frames that repeat the whole, and the item as it is when done."""
        words = "".join(self._words)
        part = self._part(words)
        item = message_item(self._id, status, [part])
        index = self._place["output_index"]
        return [
            (f"{self._event}.done", {**self._place, self._member: words, **self._logprobs()}),
            ("content_part.done", {**self._place, "part": part}),
            ("output_item.done", {"output_index": index, "item": item}),
        ], item


class ReasoningPiece:
    """Reasoning: a summary of one part, when there are words, and opaque state."""

    def __init__(self, item_id: str) -> None:
        self.state: tuple[ProviderState, ...] = ()
        self._id = item_id
        self._index = 0
        self._words: list[str] = []

    def opening(self, output_index: int) -> list[Frame]:
        """Return the frame that announces the item."""
        self._index = output_index
        item = reasoning_item(self._id, [])
        return [("output_item.added", {"output_index": output_index, "item": item})]

    def _place(self) -> Item:
        return {"item_id": self._id, "output_index": self._index, "summary_index": 0}

    def delta(self, words: str) -> list[Frame]:
        """Return the frame of more words, after that of the part when they are the first."""
        opening: list[Frame] = []
        if not self._words:
            part = {**self._place(), "part": summary_part("")}
            opening = [("reasoning_summary_part.added", part)]
        self._words.append(words)
        return [*opening, ("reasoning_summary_text.delta", {**self._place(), "delta": words})]

    def closing(self, status: str) -> tuple[list[Frame], Item]:
        """Return the frames that repeat the whole, and the item as it is when done."""
        del status
        words = "".join(self._words)
        item = reasoning_item(self._id, [summary_part(words)] if words else [])
        encrypted = encrypted_of(self.state)
        if encrypted is not None:
            item["encrypted_content"] = encrypted
        frames: list[Frame] = []
        if words:
            part = {**self._place(), "part": summary_part(words)}
            frames = [
                ("reasoning_summary_text.done", {**self._place(), "text": words}),
                ("reasoning_summary_part.done", part),
            ]
        done: Frame = ("output_item.done", {"output_index": self._index, "item": item})
        return [*frames, done], item


class CallPiece(OpenCall):
    """A call, kept until its arguments are whole."""

    def __init__(self, opening: BlockOpen, forms: Mapping[str, CallForm]) -> None:
        super().__init__(opening)
        self._form = forms.get(opening.name, CallForm(opening.name))

    def delta(self, words: str) -> list[Frame]:
        """Keep more of the arguments; nothing is written yet."""
        self.words.append(words)
        return []

    def item(self, context: RenderContext) -> Item:
        """Return the call as a done item.

        Raises:
            MalformedCallError: a call of a custom tool is not its one text.
        """
        return call_item(self.whole(), self._form, context)

    def told(self, item: Item, output_index: int) -> list[Frame]:
        """Return all frames of the call."""
        is_custom = self._form.is_custom
        event = "custom_tool_call_input" if is_custom else "function_call_arguments"
        member = "input" if is_custom else "arguments"
        place: Item = {"item_id": item["id"], "output_index": output_index}
        begun = {**item, member: "", "status": "in_progress"}
        return [
            ("output_item.added", {"output_index": output_index, "item": begun}),
            (f"{event}.delta", {**place, "delta": item[member]}),
            (f"{event}.done", {**place, "name": item["name"], member: item[member]}),
            ("output_item.done", {"output_index": output_index, "item": item}),
        ]


Piece = WordsPiece | ReasoningPiece | CallPiece
