"""Reasoning that an upstream writes as a leading tag inside its visible text.

Only a tag at the very start (after blanks) is reasoning; tags elsewhere are prose. A tag that is
never closed ends as reasoning. Blanks around it are dropped, and at most a tag's length of text is
held back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from services.domain.wire.decoder import BlockTeller
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    BlockState,
    End,
    Failure,
    Text,
    Thinking,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from services.domain.wire.contract import StreamDecoder
    from services.domain.wire.model import Block, Event, Response

_OPENING = "<think>"
_CLOSING = "</think>"

Kind = Literal["thinking", "text"]
Piece = tuple[Kind, str]


class TagSplitter:
    """Splits one answer's text into the reasoning that leads it and what is said after it."""

    def __init__(self) -> None:
        self._place: Literal["before", "inside", "between", "after"] = "before"
        self._held = ""

    def feed(self, words: str) -> list[Piece]:
        """Return what ``words`` make certain, in order; pieces are never empty."""
        pieces: list[Piece] = []
        self._held += words
        if self._place == "before":
            self._look_for_opening()
        if self._place == "inside":
            self._look_for_closing(pieces)
        if self._place == "between":
            self._held = self._held.lstrip()
            self._place = "after" if self._held else "between"
        if self._place == "after" and self._held:
            pieces.append(("text", self._held))
            self._held = ""
        return pieces

    def finish(self) -> list[Piece]:
        """Return what was held back, at the end of the text."""
        held, self._held = self._held, ""
        if not held:
            return []
        return [("thinking" if self._place == "inside" else "text", held)]

    def _look_for_opening(self) -> None:
        start = self._held.lstrip()
        if start.startswith(_OPENING):
            self._place = "inside"
            self._held = start.removeprefix(_OPENING)
        elif not _OPENING.startswith(start):
            self._place = "after"

    def _look_for_closing(self, pieces: list[Piece]) -> None:
        thought, mark, rest = self._held.partition(_CLOSING)
        if mark:
            self._place = "between"
            self._held = rest
        else:
            kept = _tail_of(thought)
            self._held = thought[len(thought) - kept :]
            thought = thought[: len(thought) - kept]
        if thought:
            pieces.append(("thinking", thought))


def _tail_of(words: str) -> int:
    """Return how many characters at the end may be the beginning of the closing tag."""
    longest = min(len(words), len(_CLOSING) - 1)
    return next((n for n in range(longest, 0, -1) if words.endswith(_CLOSING[:n])), 0)


class ThinkTagDecoder:
    """Decodes a stream whose first text may begin with a tag of reasoning."""

    def __init__(self, inner: StreamDecoder) -> None:
        self._inner = inner
        self._tags = TagSplitter()
        self._source: int | None = None
        """The block that is split: the first text."""
        self._is_split = False
        self._indexes: dict[int, int] = {}
        self._blocks = BlockTeller()

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that ``data`` completes."""
        return self._told(self._inner.feed(data))

    def finish(self) -> list[Event]:
        """Return the last events at end of stream."""
        return self._told(self._inner.finish())

    def _told(self, events: Iterable[Event]) -> list[Event]:
        told: list[Event] = []
        for event in events:
            self._take(event, told)
        return told

    def _take(self, event: Event, told: list[Event]) -> None:
        match event:
            case BlockOpen(index=index, kind="text") if self._source is None:
                self._source = index
            case BlockOpen(index=index):
                self._leave(told)
                self._indexes[index] = self._blocks.index
                self._blocks.index += 1
                told.append(replace(event, index=self._indexes[index]))
            case BlockDelta(index=index) if index == self._source:
                self._say(self._tags.feed(event.text), told)
            case BlockClose(index=index) if index == self._source:
                self._leave(told)
            case BlockDelta(index=index) | BlockState(index=index) | BlockClose(index=index):
                told.append(replace(event, index=self._indexes.get(index, index)))
            case End() | Failure():
                self._leave(told)
                told.append(event)
            case _:
                told.append(event)

    def _say(self, pieces: Sequence[Piece], told: list[Event]) -> None:
        for kind, words in pieces:
            self._blocks.say(kind, words, told)

    def _leave(self, told: list[Event]) -> None:
        """Tell what was held back; the text that is split is over."""
        if self._source is not None and not self._is_split:
            self._is_split = True
            self._say(self._tags.finish(), told)
            self._blocks.close(told)


def split_response(response: Response) -> Response:
    """Return a whole answer with the reasoning that leads its first text told apart."""
    at = next((i for i, b in enumerate(response.blocks) if isinstance(b, Text)), None)
    if at is None:
        return response
    first = response.blocks[at]
    tags = TagSplitter()
    pieces = [*tags.feed(first.text), *tags.finish()] if isinstance(first, Text) else []
    if all(kind == "text" for kind, _ in pieces):
        return response
    thought = "".join(words for kind, words in pieces if kind == "thinking")
    said = "".join(words for kind, words in pieces if kind == "text")
    split: list[Block] = [Thinking(thought)] if thought else []
    split += [Text(said)] if said else []
    return replace(response, blocks=(*response.blocks[:at], *split, *response.blocks[at + 1 :]))
