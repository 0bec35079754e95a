"""Items of one upstream stream while they grow, and the events they are told as.

Items may be told in pieces that alternate; the blocks of a client never do. The oldest item that is
not done is told as it comes, all later ones wait. Calls are told whole. Text that an upstream tells
again at the end only adds what was missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from services.domain.wire.arguments import is_complete
from services.domain.wire.model import BlockClose, BlockDelta, BlockOpen, BlockState
from services.domain.wire.openai_responses.output import CALLS, call_of
from services.domain.wire.openai_responses.state import PART_GAP, state_of
from services.domain.wire.reading import join_surrogates, mapping, rows, text, whole_pairs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Event, ToolUse

Kind = Literal["text", "refusal", "thinking"]


class Passage:
    """Words of one block as far as they came; ``key`` names their part of the item."""

    __slots__ = ("_held", "_told", "is_open", "is_over", "key", "kind", "waiting")

    def __init__(self, kind: Kind, key: int) -> None:
        self.kind = kind
        self.key = key
        self.is_open = False
        self.is_over = False
        self.waiting = ""
        self._held = ""
        self._told: list[str] = []

    def add(self, words: str) -> None:
        """Take words that follow; half a surrogate pair waits for the other half."""
        self._told.append(words)
        words, self._held = whole_pairs(self._held + words)
        self.waiting += words

    def complete(self, words: str) -> None:
        """Take the whole text of the part: what of it was told already is not told again."""
        told = "".join(self._told)
        self._told = [told]
        if len(words) > len(told) and words.startswith(told):
            self.add(words[len(told) :])

    def end(self) -> None:
        """Take note that nothing follows."""
        self.waiting += join_surrogates(self._held)
        self._held = ""


class LiveItem:
    """One output item of a stream."""

    __slots__ = (
        "_arguments",
        "_by_part",
        "_is_half",
        "_item",
        "_passages",
        "_source",
        "_told",
        "is_done",
        "kind",
    )

    def __init__(self, kind: str) -> None:
        self._is_half: bool | None = None
        self.kind = kind
        self.is_done = False
        self._item: dict[str, object] = {}
        self._passages: list[Passage] = []
        self._by_part: dict[tuple[Kind, int], Passage] = {}
        self._arguments: list[str] = []
        self._source = ""
        self._told = 0

    def open(self, item: Mapping[str, object]) -> None:
        """Take the item as it was announced."""
        self.kind = text(item.get("type")) or self.kind
        self._item |= item

    def add(self, source: str, key: int, words: str) -> None:
        """Take a delta of one part; ``source`` says of what kind the part is."""
        if source in ("arguments", "input"):
            self._arguments.append(words)
        elif (passage := self._passage(source, key)) is not None:
            passage.add(words)

    def complete(self, source: str, key: int, words: str) -> None:
        """Take the whole of one part."""
        if source in ("arguments", "input"):
            self._arguments = [words] if words else self._arguments
        elif words and (passage := self._passage(source, key)) is not None:
            passage.complete(words)

    def close(self, item: Mapping[str, object]) -> None:
        """Take the item as it is when done."""
        if self.is_done:
            return
        self.open(item)
        if self.kind in CALLS:
            member = "input" if self.kind == "custom_tool_call" else "arguments"
            self.complete(member, 0, text(item.get(member)))
        for at, part in enumerate(map(mapping, rows(item.get("content")))):
            is_refusal = part.get("type") == "refusal"
            source = "content" if self.kind == "reasoning" else "refusal" if is_refusal else "text"
            self.complete(source, at, text(part.get("refusal" if is_refusal else "text")))
        for at, part in enumerate(map(mapping, rows(item.get("summary")))):
            self.complete("summary", at, text(part.get("text")))
        self.is_done = True

    def _passage(self, source: str, key: int) -> Passage | None:
        """Return the passage of a part; reasoning is one passage, told from one source only."""
        if source in ("summary", "content"):
            if self._source and self._source != source:
                return None
            self._source = source
            return self._thought(key)
        kind: Kind = "refusal" if source == "refusal" else "text"
        passage = self._by_part.get((kind, key))
        if passage is None:
            passage = self._begin(Passage(kind, key))
        return passage

    def _thought(self, key: int) -> Passage | None:
        last = self._passages[-1] if self._passages else None
        if last is not None and last.key == key:
            return last
        if ("thinking", key) in self._by_part:
            return None
        passage = self._begin(Passage("thinking", key))
        if last is not None:
            last.end()
            passage.waiting = PART_GAP
        return passage

    def _begin(self, passage: Passage) -> Passage:
        self._by_part[passage.kind, passage.key] = passage
        self._passages.append(passage)
        return passage

    def call(self, response_id: str, ordinal: int) -> ToolUse | None:
        """Return the call that the item is; None for a nameless one and for other items."""
        if self.kind not in CALLS:
            return None
        member = "input" if self.kind == "custom_tool_call" else "arguments"
        told = self._item | {"type": self.kind, member: "".join(self._arguments)}
        return call_of(told, response_id, ordinal)

    @property
    def call_id(self) -> str:
        """The id of the call that the item is; empty for other items and while it is unknown."""
        return text(self._item.get("call_id")) if self.kind in CALLS else ""

    @property
    def is_half_call(self) -> bool:
        """Whether the item, which is done, is a call whose arguments break off."""
        if self.kind != "function_call":
            return False
        if self._is_half is None:
            words = "".join(self._arguments)
            self._is_half = not is_complete(words.encode("utf-8", "replace"))
        return self._is_half

    def tell(self, block: int) -> tuple[list[Event], int]:
        """Return the events that can be told now, the first block being ``block``, and the next."""
        if self.kind == "reasoning":
            return self._tell_thought(block)
        events: list[Event] = []
        for passage in self._untold():
            is_ended = self.is_done or passage is not self._passages[-1]
            block = _tell_passage(passage, block, events, is_ended=is_ended)
        for passage in self._passages if self.is_done else ():
            block = _tell_passage(passage, block, events, is_ended=True)
        return events, block

    def _untold(self) -> list[Passage]:
        """Return the passages that are not over: those before the last are told for good."""
        untold = self._passages[self._told :]
        self._told = max(0, len(self._passages) - 1)
        return untold

    def _tell_thought(self, block: int) -> tuple[list[Event], int]:
        events: list[Event] = []
        first = self._passages[0] if self._passages else None
        state = None
        if self.is_done:
            if self._passages:
                self._passages[-1].end()
            state = state_of(text(self._item.get("encrypted_content")), text(self._item.get("id")))
        untold = self._untold()
        has_words = any(passage.waiting for passage in untold)
        if first is None and state is not None:
            first = self._begin(Passage("thinking", 0))
        if first is not None and not first.is_open and (has_words or state is not None):
            first.is_open = True
            events.append(BlockOpen(block, "thinking"))
        for passage in untold:
            events += _waiting(passage, block)
        if first is None or not first.is_open or not self.is_done:
            return events, block
        if state is not None:
            events.append(BlockState(block, state))
        return [*events, BlockClose(block)], block + 1


def _tell_passage(passage: Passage, block: int, events: list[Event], *, is_ended: bool) -> int:
    """Add what a passage has to say as the block ``block``, and return the next block.

    What comes for a passage after its end is a block of its own, once the item is done.
    """
    if is_ended:
        passage.is_over = True
        passage.end()
    if passage.waiting and not passage.is_open:
        passage.is_open = True
        events.append(BlockOpen(block, passage.kind))
    events += _waiting(passage, block)
    if is_ended and passage.is_open:
        events.append(BlockClose(block))
        passage.is_open = False
        return block + 1
    return block


def _waiting(passage: Passage, block: int) -> list[Event]:
    if not passage.waiting:
        return []
    words, passage.waiting = passage.waiting, ""
    return [BlockDelta(block, words)]
