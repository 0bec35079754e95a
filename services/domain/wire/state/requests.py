"""State in a request, put where its encoder looks for it: sealed texts opened, lost state restored.

What comes out holds every piece of state as its issuer gave it. What goes to a target is less: only
what that target's vendor issued, and where it insists, for the very model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.model import Role, Text, Thinking, ToolResult, ToolUse
from services.domain.wire.state.kept import Place, text_digest
from services.domain.wire.state.sealing import (
    Sealed,
    clean_id,
    is_sealed,
    split_id,
    unseal,
    words_digest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from services.domain.wire.model import Block, ProviderState, Request, Target, Turn
    from services.domain.wire.state.kept import Restored

SIGNING_FAMILY = WireFamily.GEMINI
"""The family that signs calls and may insist on seeing its signatures again."""

_BOUND_TO_MODEL = frozenset({WireFamily.ANTHROPIC, WireFamily.OPENAI_RESPONSES})
"""Families whose state only the model reads that wrote it."""


def opened(request: Request, restored: Sequence[Restored] = ()) -> Request:
    """Return a request with its sealed state opened and lost state in its place again."""
    turns = tuple(_opened_turn(turn, restored) for turn in request.turns)
    return replace(request, turns=_each_once(turns)) if turns != request.turns else request


def for_target(request: Request, target: Target) -> Request:
    """Return a request with only the state that ``target`` may see."""
    turns = tuple(_for_target(turn, target) for turn in request.turns)
    return replace(request, turns=turns) if turns != request.turns else request


def has_unsigned_calls(request: Request, family: WireFamily) -> bool:
    """Return whether a turn made calls of which none carries a signature of ``family``.

    Its own clients keep what it signs, and it looks at no more than what followed the user's last
    words: of their requests only that counts.
    """
    turns = request.turns
    if request.family is family:
        turns = turns[_last_words(turns) :]
    for turn in turns:
        calls = [block for block in turn.blocks if isinstance(block, ToolUse)]
        states = (state for call in calls for state in call.state)
        if calls and not any(state.family is family for state in states):
            return True
    return False


def _last_words(turns: Sequence[Turn]) -> int:
    """Return the place of the last turn in which the user said something."""
    said = [
        at
        for at, turn in enumerate(turns)
        if turn.role is Role.USER and any(isinstance(block, Text) for block in turn.blocks)
    ]
    return said[-1] if said else 0


def _is_plain(block: Block) -> bool:
    """Return whether there is nothing to open in a block."""
    if isinstance(block, ToolUse | ToolResult):
        return clean_id(block.call_id) == block.call_id
    if isinstance(block, Thinking):
        return not any(is_sealed(state.payload) for state in block.state)
    return True


def _opened_turn(turn: Turn, restored: Sequence[Restored]) -> Turn:
    if not restored and all(map(_is_plain, turn.blocks)):
        return turn
    if turn.role is not Role.ASSISTANT:
        blocks: tuple[Block, ...] = tuple(_opened_result(block) for block in turn.blocks)
        return turn if blocks == turn.blocks else replace(turn, blocks=blocks)
    opener = _Opener()
    for block in turn.blocks:
        opener.take(block)
    blocks = tuple(opener.blocks)
    if restored:
        blocks = _with_restored(blocks, turn, restored)
    return turn if blocks == turn.blocks else replace(turn, blocks=blocks)


def _opened_result(block: Block) -> Block:
    if not isinstance(block, ToolResult):
        return block
    clean = clean_id(block.call_id)
    return block if clean == block.call_id else replace(block, call_id=clean, raw=b"")


class _Opener:
    """Opens the blocks of one turn in order."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._of_next_call: list[ProviderState] = []

    def take(self, block: Block) -> None:
        """Take the next block."""
        if isinstance(block, Thinking):
            self._thought(block)
        elif isinstance(block, ToolUse):
            self._call(block)
        else:
            self.blocks.append(block)

    def _call(self, call: ToolUse) -> None:
        clean, state = split_id(call.call_id)
        found = (*call.state, *([state] if state is not None else []), *self._of_next_call)
        self._of_next_call = []
        if clean != call.call_id or found != call.state:
            call = replace(call, call_id=clean, state=found, raw=b"")
        self.blocks.append(call)

    def _thought(self, block: Thinking) -> None:
        sealed = [_sealed_of(state) for state in block.state]
        if not any(is_sealed(state.payload) for state in block.state):
            self.blocks.append(block)
            return
        states: list[ProviderState] = []
        words = block.text
        for each in sealed:
            if each is None:
                continue
            if each.is_of_call:
                self._of_next_call.append(each.state)
                continue
            whole = self._signed_words(words, each.words_digest)
            if whole is not None:
                words = whole
                states.append(each.state)
        if words or states:
            self.blocks.append(Thinking(words, tuple(states)))

    def _signed_words(self, words: str, digest: str) -> str | None:
        """Return the whole thought that a signature signs; None when the client changed it.

        Some clients keep a thought in several parts, the signature on the last.
        """
        if not digest or words_digest([words]) == digest:
            return words
        at = len(self.blocks)
        while at and _is_unsigned(self.blocks[at - 1]):
            at -= 1
            earlier = self.blocks[at]
            words = (earlier.text if isinstance(earlier, Thinking) else "") + words
            if words_digest([words]) == digest:
                del self.blocks[at:]
                return words
        return None


def _is_unsigned(block: Block) -> bool:
    return isinstance(block, Thinking) and not block.state


def _sealed_of(state: ProviderState) -> Sealed | None:
    """Return what a state of a request is; None for a sealed one that is damaged."""
    return unseal(state.payload) if is_sealed(state.payload) else Sealed(state)


def _with_restored(
    blocks: tuple[Block, ...], turn: Turn, restored: Sequence[Restored]
) -> tuple[Block, ...]:
    found: list[Block] = []
    for block in blocks:
        if isinstance(block, ToolUse):
            mine = [each for each in restored if clean_id(each.key) == block.call_id]
            for each in mine:
                if each.place is Place.BEFORE_CALL:
                    _think(found, each)
            signed = [each.state for each in mine if each.place is Place.CALL]
            if signed and not block.state:
                block = replace(block, state=tuple(signed), raw=b"")
        found.append(block)
    digest = text_digest(turn)
    for each in restored:
        if each.place is Place.AFTER_TEXT and digest and each.key == digest:
            _think(found, each, is_last=True)
    return tuple(found)


def _think(blocks: list[Block], restored: Restored, *, is_last: bool = False) -> None:
    """Give a thought its state again, or add one that shows no words.

    State that signs words is of no use without them, unless its vendor reads it on its own.
    """
    for at, block in enumerate(blocks):
        if isinstance(block, Thinking) and _is_signed_by(block, restored):
            blocks[at] = Thinking(block.text, (restored.state,))
            return
    if restored.words_digest and restored.state.family is WireFamily.ANTHROPIC:
        return
    told = Thinking("", (restored.state,))
    texts = [at for at, block in enumerate(blocks) if isinstance(block, Text)]
    if is_last and texts and restored.state.family is not WireFamily.GEMINI:
        blocks.insert(texts[0], told)
    elif is_last and texts:
        blocks.insert(texts[-1] + 1, told)
    else:
        blocks.append(told)


def _is_signed_by(block: Thinking, restored: Restored) -> bool:
    is_told = bool(restored.words_digest) and not block.state
    return is_told and words_digest([block.text]) == restored.words_digest


def _each_once(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Return the turns with each reasoning item in the place where it came first."""
    seen: set[str] = set()
    kept: list[Turn] = []
    for turn in turns:
        blocks: list[Block] = []
        for block in turn.blocks:
            if isinstance(block, Thinking):
                items = {state.item_id for state in block.state if state.item_id}
                if items and items <= seen:
                    continue
                seen |= items
            blocks.append(block)
        is_whole = len(blocks) == len(turn.blocks)
        kept.append(turn if is_whole else replace(turn, blocks=tuple(blocks)))
    return tuple(kept)


def _for_target(turn: Turn, target: Target) -> Turn:
    blocks = tuple(_seen_by(block, target) for block in turn.blocks)
    return turn if blocks == turn.blocks else replace(turn, blocks=blocks)


def _seen_by(block: Block, target: Target) -> Block:
    if not isinstance(block, Thinking | ToolUse):
        return block
    own = tuple(state for state in block.state if _is_readable(state, target))
    return block if own == block.state else replace(block, state=own, raw=b"")


def _is_readable(state: ProviderState, target: Target) -> bool:
    if state.family is not target.family or is_sealed(state.payload):
        return False
    is_bound = state.family in _BOUND_TO_MODEL and bool(state.model)
    return not is_bound or state.model == target.model_id
