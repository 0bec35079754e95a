"""Decides what the fake model says: text deltas or tool calls, usage and stop reason."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import orjson

from tests.fakes.upstream.reading import offered_tools, tool_result_count, wants_usage
from tests.fakes.upstream.values import Fault, RecordedRequest, Scenario, ToolCall, Usage

WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")
ARGUMENT_PIECE_CHARS = 16


@dataclass(frozen=True, slots=True)
class Voice:
    """How the server speaks by default."""

    chunks: int = 4
    """Number of text deltas."""
    chunk_delay: float = 0.0
    """Seconds before each event after the first."""
    stamp: bool = False
    """Deltas hold `<NS>`, the monotonic clock when they were written, instead of words."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, not yet in any dialect. The same request gives the same answer."""

    seed: str
    """Digest of the request, from which every id is made."""
    model: str
    calls: Sequence[ToolCall]
    usage: Usage | None
    """None leaves usage out."""
    stop: str | None
    """Overrides the reason that follows from the content."""
    empty: bool
    thinking: str | None
    include_usage: bool
    """Whether a Chat Completions stream ends with a usage chunk."""
    text: str | None
    chunks: int
    stamp: bool
    pad: int
    cut_arguments: bool
    word: str | None = None

    def new_id(self, prefix: str, index: int = 0) -> str:
        """Return an id that depends on nothing but the request, `prefix` and `index`."""
        return make_id(self.seed, prefix, index)

    @property
    def has_text(self) -> bool:
        """Tell whether text is said: always, but for empty answers and bare tool calls."""
        return not self.empty and (self.text is not None or not self.calls)

    def pieces(self) -> Iterator[str]:
        """Yield the text deltas, each made when it is asked for."""
        if not self.has_text:
            return
        for index in range(1 if self.text is not None else self.chunks):
            yield self._piece(index) + ("x" * self.pad if index == 0 else "")

    def _piece(self, index: int) -> str:
        if self.text is not None:
            return self.text
        return f"<{time.monotonic_ns()}> " if self.stamp else self._word(index) + " "

    def _word(self, index: int) -> str:
        return WORDS[index % len(WORDS)] if self.word is None else self.word

    def arguments(self, call: ToolCall) -> str:
        """Return the arguments of a call as JSON text, cut short when the fault says so."""
        text = orjson.dumps(call.args).decode()
        return text[: max(1, len(text) // 2)] if self.cut_arguments else text

    def argument_pieces(self, call: ToolCall) -> Iterator[str]:
        """Yield the arguments of a call in pieces, as a stream sends them."""
        text = self.arguments(call)
        for start in range(0, len(text), ARGUMENT_PIECE_CHARS):
            yield text[start : start + ARGUMENT_PIECE_CHARS]


def make_id(seed: str, prefix: str, index: int = 0) -> str:
    """Return `prefix` and 24 hex digits that depend on the arguments alone."""
    return prefix + hashlib.sha256(f"{seed}/{prefix}/{index}".encode()).hexdigest()[:24]


def seed_of(request: RecordedRequest) -> str:
    """Return a digest of path and body: equal requests get equal answers."""
    return hashlib.sha256(request.path.encode() + b"\n" + request.body).hexdigest()


def decide(request: RecordedRequest, fault: Fault, scenario: Scenario, voice: Voice) -> Answer:
    """Return what the fake model says to `request`."""
    calls = () if fault.empty else _calls(request, fault, scenario)
    return Answer(
        seed=seed_of(request),
        model=request.model or "fake-model",
        calls=calls,
        usage=None if fault.omit_usage else fault.usage or Usage(),
        stop=fault.stop,
        empty=fault.empty,
        thinking=None if fault.empty else fault.thinking,
        include_usage=wants_usage(request.json),
        text=scenario.text if fault.text is None and not calls else fault.text,
        chunks=voice.chunks if fault.chunks is None else fault.chunks,
        stamp=voice.stamp,
        pad=fault.oversize,
        cut_arguments=fault.bad_tool_args,
        word=fault.word,
    )


def _calls(request: RecordedRequest, fault: Fault, scenario: Scenario) -> tuple[ToolCall, ...]:
    if fault.calls or fault.text is not None:
        return tuple(fault.calls)
    step = tool_result_count(request.json)
    if step >= len(scenario.steps):
        return ()
    offered = offered_tools(request.json)
    return tuple(call for call in scenario.steps[step] if call.name in offered)[:1]
