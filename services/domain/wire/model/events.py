"""An answer as it comes: events of a stream, and what an observer learns of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from services.domain.wire.model.answer import Stop, Usage
    from services.domain.wire.model.blocks import ProviderState
    from services.domain.wire.model.errors import UpstreamError


@dataclass(frozen=True, slots=True)
class Start:
    """The stream began; ``usage`` is what is known of the input."""

    id: str
    model: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class BlockOpen:
    """A block opens; ``index`` counts from 0 as they open. A tool's id and name are final."""

    index: int
    kind: Literal["text", "thinking", "redacted_thinking", "tool_use", "refusal"]
    call_id: str = ""
    name: str = ""
    data: str = ""


@dataclass(frozen=True, slots=True)
class BlockDelta:
    """Text of an open block: visible text, reasoning, or JSON text of tool arguments."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class BlockState:
    """Opaque state of an open block (a signature)."""

    index: int
    state: ProviderState


@dataclass(frozen=True, slots=True)
class BlockClose:
    """A block is complete."""

    index: int


@dataclass(frozen=True, slots=True)
class UsageSeen:
    """Usage so far; later values win field by field."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class End:
    """The answer ended well. Exactly one, last."""

    stop: Stop
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class Failure:
    """The answer failed inside the stream. Exactly one, last, instead of End."""

    error: UpstreamError


@dataclass(frozen=True, slots=True)
class Ping:
    """The upstream is alive and says nothing."""


Event = Start | BlockOpen | BlockDelta | BlockState | BlockClose | UsageSeen | End | Failure | Ping


@dataclass(slots=True)
class Observation:
    """What an observer learned of a stream so far; mutable, owned by its observer."""

    is_started: bool = False
    """Any event came, bookkeeping included; comments do not count."""
    has_output: bool = False
    """An output-bearing event came (text, reasoning, tool call, refusal, a terminal)."""
    output_events: int = 0
    """Number of output-bearing events, for watchdogs."""
    output_chars: int = 0
    """Characters of output, for estimates."""
    has_terminal: bool = False
    """The dialect's end marker came, or an error event ended the stream."""
    error: UpstreamError | None = None
    """The error event, when one came."""
    is_error_first: bool = False
    """The error came before any output."""
    usage: Usage | None = None
    stop: Stop | None = None
    refusal_seen: bool = False
    tool_calls: int = 0
    bad_frames: int = 0
    answer_id: str = ""
    """Id of the answer, in the dialect whose every frame about it must repeat it."""
    next_number: int = 0
    """Number of the next frame, in the dialect that counts them."""
