"""What happens to an answer between its upstream's dialect and another client's.

Calls are gathered, checked against the tools that the client declared, and handed on whole; half a
call at an output limit and a call without a name never are. Opaque state is sealed into what the
client keeps, and what it may lose is told for the session's ledger.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from services.domain.vocab import WireFamily
from services.domain.wire.arguments import is_complete
from services.domain.wire.assemble import OpenCall, block_events, without_half_call
from services.domain.wire.checking import ArgumentChecker, ArgumentIssue
from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    BlockState,
    End,
    Failure,
    ProviderState,
    Text,
    Thinking,
    ToolUse,
)
from services.domain.wire.state.kept import Kept, Place, call_digest
from services.domain.wire.state.sealing import (
    Sealed,
    WordsDigest,
    seal,
    with_state,
    words_digest,
)
from services.domain.wire.tool_names import original_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from services.domain.wire.model import Block, Event, RenderContext, Response

_SLOTS: Mapping[WireFamily, Literal["signature", "encrypted"]] = {
    WireFamily.ANTHROPIC: "signature",
    WireFamily.OPENAI_RESPONSES: "encrypted",
    WireFamily.GEMINI: "signature",
}
"""Families whose clients keep the state of thoughts, and what they call it."""

_SUFFIXED = (WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT)
"""Families whose clients keep long ids of calls, and have no other place beside a call."""


class AnswerTranslation:
    """Belongs to one answer."""

    def __init__(self, client: WireFamily, context: RenderContext) -> None:
        self.kept: list[Kept] = []
        """State for the session's ledger."""
        self.issues: Counter[ArgumentIssue] = Counter()
        self._client = client
        self._model_id = context.model_id
        self._checker = ArgumentChecker(context.tools)
        self._names = original_names(context)
        self._shift = 0
        self._call: OpenCall | None = None
        self._half: OpenCall | None = None
        self._kind = ""
        self._thought = WordsDigest(is_exact=True)
        self._said = WordsDigest(is_exact=False)
        self._unplaced: list[Sealed] = []

    def feed(self, events: Iterable[Event]) -> list[Event]:
        """Return the events for the client's encoder."""
        told: list[Event] = []
        for event in events:
            self._take(event, told)
        return told

    def response(self, response: Response) -> Response:
        """Return a whole answer for the client's encoder."""
        kept = without_half_call(response.blocks, response.stop)
        if len(kept) < len(response.blocks):
            self.issues[ArgumentIssue.CUT] += 1
        blocks: list[Block] = []
        for block in kept:
            match block:
                case ToolUse():
                    blocks += self._checked(block)
                case Thinking(text=words, state=states):
                    digest = words_digest([words])
                    sealed = [self._sealed(state, digest) for state in states]
                    shown = tuple(each for each in sealed if each is not None)
                    blocks.append(replace(block, state=shown))
                case Text(text=words):
                    self._said.add(words)
                    blocks.append(block)
                case _:
                    blocks.append(block)
        self._end()
        return replace(response, blocks=tuple(blocks))

    def _take(self, event: Event, told: list[Event]) -> None:
        match event:
            case BlockDelta():
                self._delta(event, told)
            case BlockOpen():
                self._release(told)
                self._thought = WordsDigest(is_exact=True)
                self._kind = event.kind
                if event.kind == "tool_use":
                    self._call = OpenCall(event)
                else:
                    told.append(replace(event, index=event.index + self._shift))
            case BlockState():
                self._state(event, told)
            case BlockClose():
                self._close(event, told)
            case End(stop=stop):
                if self._half is not None and stop.reason.is_limit:
                    self.issues[ArgumentIssue.CUT] += 1
                    self._half = None
                self._release(told)
                self._end()
                told.append(event)
            case Failure():
                self._half = None
                told.append(event)
            case _:
                told.append(event)

    def _delta(self, event: BlockDelta, told: list[Event]) -> None:
        call = self._call
        if call is not None and call.index == event.index:
            call.words.append(event.text)
            return
        (self._said if self._kind == "text" else self._thought).add(event.text)
        told.append(replace(event, index=event.index + self._shift) if self._shift else event)

    def _state(self, event: BlockState, told: list[Event]) -> None:
        call = self._call
        if call is not None and call.index == event.index:
            call.states.append(event.state)
            return
        sealed = self._sealed(event.state, self._thought.value)
        if sealed is not None:
            told.append(BlockState(event.index + self._shift, sealed))

    def _close(self, event: BlockClose, told: list[Event]) -> None:
        call = self._call
        if call is None or call.index != event.index:
            told.append(replace(event, index=event.index + self._shift) if self._shift else event)
            return
        self._call, self._half = None, call
        if is_complete(call.arguments):
            self._release(told)

    def _release(self, told: list[Event]) -> None:
        """Tell the call that waits, its arguments closed where they break off."""
        half, self._half = self._half, None
        if half is None:
            return
        first = half.index + self._shift
        blocks = self._checked(half.whole())
        for index, block in enumerate(blocks, first):
            told += block_events(block, index)
        self._shift += len(blocks) - 1  # none for a call that is left out

    def _checked(self, call: ToolUse) -> list[Block]:
        """Return the call to show, with what carries its state; nothing for a nameless one."""
        if not call.name:
            self.issues[ArgumentIssue.NAMELESS] += 1
            return []
        name = self._names.get(call.name, call.name)
        checked = self._checker.check(name, call.arguments)
        self.issues.update(checked.issues)
        states = [self._issued(state) for state in call.state]
        self._keep_call(replace(call, name=name, arguments=checked.arguments), states)
        shown = replace(call, arguments=checked.arguments, state=(), raw=b"")
        if not states:
            return [shown]
        if self._client in _SUFFIXED:
            return [replace(shown, call_id=with_state(call.call_id, states[0]))]
        carrier = self._slot(Sealed(states[0], is_of_call=True))
        return [Thinking("", (carrier,)), shown]

    def _keep_call(self, call: ToolUse, states: Sequence[ProviderState]) -> None:
        if not states and not self._unplaced:
            return
        digest = call_digest(call.name, call.arguments)
        for each in self._unplaced:
            kept = Kept(Place.BEFORE_CALL, call.call_id, digest, each.state, each.words_digest)
            self.kept.append(kept)
        self._unplaced = []
        self.kept += [Kept(Place.CALL, call.call_id, digest, state) for state in states]

    def _sealed(self, state: ProviderState, digest: str) -> ProviderState | None:
        """Return the client's own form of a thought's state; None where it has none.

        One vendor's signatures hold for the very words of the thought, which have that digest.
        """
        is_bound_to_words = state.family is WireFamily.ANTHROPIC
        sealed = Sealed(self._issued(state), digest if is_bound_to_words else "")
        if self._client in _SLOTS:
            return self._slot(sealed)
        self._unplaced.append(sealed)
        return None

    def _slot(self, sealed: Sealed) -> ProviderState:
        return ProviderState(self._client, _SLOTS[self._client], seal(sealed))

    def _issued(self, state: ProviderState) -> ProviderState:
        return state if state.model else replace(state, model=self._model_id)

    def _end(self) -> None:
        """Place what no call follows behind the text of the answer."""
        digest = self._said.value if self._unplaced else ""
        if digest:
            self.kept += [
                Kept(Place.AFTER_TEXT, "", digest, each.state, each.words_digest)
                for each in self._unplaced
            ]
        self._unplaced = []
