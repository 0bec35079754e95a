"""Whole answers as events and events as whole answers.

A client that streams may meet an upstream that answers whole, and the other way round; both sides
of the canonical model are the same answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.arguments import is_complete
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    BlockState,
    End,
    Failure,
    Refusal,
    Response,
    Start,
    Text,
    Thinking,
    ToolUse,
    UsageSeen,
    WireError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from services.domain.wire.contract import StreamDecoder
    from services.domain.wire.model import (
        Block,
        Event,
        ProviderState,
        RenderContext,
        Stop,
        Usage,
    )


def events_of(response: Response) -> list[Event]:
    """Return the events of a whole answer; the start holds no final value."""
    events: list[Event] = [Start(response.id, response.model)]
    index = 0
    for block in response.blocks:
        told = block_events(block, index)
        events.extend(told)
        index += bool(told)
    events.append(End(response.stop, response.usage))
    return events


def block_events(block: Block, index: int) -> list[Event]:
    """Return the events of one whole block; none for a block that no stream has."""
    match block:
        case Text(text=words):
            return _spoken(BlockOpen(index, "text"), words)
        case Refusal(text=words):
            return _spoken(BlockOpen(index, "refusal"), words)
        case ToolUse():
            opening = BlockOpen(index, "tool_use", block.call_id, block.name)
            told = _spoken(opening, block.arguments.decode("utf-8", "replace"))
            told[-1:-1] = [BlockState(index, entry) for entry in block.state]
            return told
        case Thinking(text=words, state=state):
            redacted = next((entry for entry in state if entry.kind == "redacted"), None)
            if redacted is not None:
                opening = BlockOpen(index, "redacted_thinking", data=redacted.payload)
                return [opening, BlockState(index, redacted), BlockClose(index)]
            told = _spoken(BlockOpen(index, "thinking"), words)
            told[-1:-1] = [BlockState(index, entry) for entry in state]
            return told
        case _:
            return []


def _spoken(opening: BlockOpen, words: str) -> list[Event]:
    deltas: list[Event] = [BlockDelta(opening.index, words)] if words else []
    return [opening, *deltas, BlockClose(opening.index)]


def without_half_call(blocks: Sequence[Block], stop: Stop) -> list[Block]:
    """Return the blocks without a last call that a limit cut in half: it must never be run."""
    kept = list(blocks)
    at = next((at for at in reversed(range(len(kept))) if isinstance(kept[at], ToolUse)), None)
    call = kept[at] if at is not None and stop.reason.is_limit else None
    if at is not None and isinstance(call, ToolUse) and not is_complete(call.arguments):
        del kept[at]
    return kept


def shown_usage(response: Response, context: RenderContext) -> Usage:
    """Return the usage of a whole answer as its stream would end with it, told or estimated."""
    if response.usage is not None:
        return response.usage
    said = (event for event in events_of(response) if isinstance(event, BlockDelta))
    return context.estimated_usage(sum(len(delta.text) for delta in said))


class OpenCall:
    """A call as far as it came."""

    def __init__(self, opening: BlockOpen) -> None:
        self.index = opening.index
        self.words: list[str] = []
        """The JSON text of its arguments."""
        self.states: list[ProviderState] = []
        self._opening = opening

    @property
    def arguments(self) -> bytes:
        """The JSON text so far; nothing at all is no text."""
        return "".join(self.words).encode("utf-8", "replace")

    def whole(self) -> ToolUse:
        """Return the call."""
        opening = self._opening
        return ToolUse(opening.call_id, opening.name, self.arguments, state=tuple(self.states))


class StreamReader:
    """Reads a stream that is wanted whole, piece by piece."""

    def __init__(self, decoder: StreamDecoder) -> None:
        self._decoder = decoder
        self._assembler = Assembler()

    def feed(self, piece: bytes) -> None:
        """Take in the next bytes."""
        self._assembler.feed(self._decoder.feed(piece))

    def finish(self) -> Response:
        """Return the whole answer.

        Raises:
            WireError: the stream did not end well.
        """
        self._assembler.feed(self._decoder.finish())
        if self._assembler.response is None:
            raise WireError("", "the stream did not end well")
        return self._assembler.response


class Assembler:
    """Puts the events of one stream together; ``response`` is None until it ended well."""

    def __init__(self) -> None:
        self.response: Response | None = None
        self.failure: Failure | None = None
        self._id = ""
        self._model = ""
        self._usage: Usage | None = None
        self._blocks: list[Block] = []
        self._opened: dict[int, tuple[BlockOpen, list[str], list[ProviderState]]] = {}

    def feed(self, events: Iterable[Event]) -> None:
        """Take in ``events``; after the end of the answer they are ignored."""
        for event in events:
            if self.response is None and self.failure is None:
                self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case BlockDelta(index=index) if index in self._opened:
                self._opened[index][1].append(event.text)
            case BlockOpen(index=index):
                self._opened[index] = (event, [], [])
            case BlockState(index=index) if index in self._opened:
                self._opened[index][2].append(event.state)
            case BlockClose(index=index) if index in self._opened:
                self._close(*self._opened.pop(index))
            case Start():
                self._id, self._model = event.id, event.model
                self._usage = event.usage or self._usage
            case UsageSeen():
                self._usage = event.usage
            case End():
                usage = event.usage or self._usage
                blocks = tuple(self._blocks)
                self.response = Response(self._id, self._model, blocks, event.stop, usage)
            case Failure():
                self.failure = event
            case _:
                return

    def _close(self, opened: BlockOpen, parts: list[str], state: list[ProviderState]) -> None:
        words = "".join(parts)
        match opened.kind:
            case "text":
                self._blocks.append(Text(words))
            case "refusal":
                self._blocks.append(Refusal(words))
            case "tool_use":
                arguments = (words or "{}").encode("utf-8", "replace")
                call = ToolUse(opened.call_id, opened.name, arguments, state=tuple(state))
                self._blocks.append(call)
            case "thinking" | "redacted_thinking":
                self._blocks.append(Thinking(words, tuple(state)))
