"""A whole answer in no dialect, and what encoders of answers need from outside."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.domain.vocab import WireFamily
    from services.domain.wire.model.blocks import Block
    from services.domain.wire.model.request import Tool


_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; input = fresh + read + write. None: the upstream says nothing."""

    fresh_input: int = 0
    cache_read: int | None = None
    cache_write: int | None = None
    cache_write_1h: int = 0
    output: int = 0
    reasoning: int = 0
    server_tool_calls: int = 0


class StopReason(enum.StrEnum):
    """Why a model stopped."""

    END_TURN = "end_turn"
    STOP_SEQUENCE = "stop_sequence"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    CONTEXT_FULL = "context_full"
    REFUSAL = "refusal"
    PAUSE = "pause"
    MALFORMED = "malformed"

    @property
    def is_limit(self) -> bool:
        """Whether the answer may break off anywhere, in the middle of a call too."""
        return self in (StopReason.MAX_TOKENS, StopReason.CONTEXT_FULL)


@dataclass(frozen=True, slots=True)
class Stop:
    """Why and on what a model stopped."""

    reason: StopReason
    sequence: str | None = None
    details: bytes = b""


@dataclass(frozen=True, slots=True)
class Response:
    """A whole answer in no dialect. ``usage`` of None: none was reported."""

    id: str
    model: str
    blocks: tuple[Block, ...]
    stop: Stop
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class RenderContext:
    """What an encoder of answers needs from outside."""

    model_id: str
    """Routed catalog id, shown as ``model``."""
    created_unix_s: int
    new_id: Callable[[str], str]
    """Returns a fresh id with the given prefix (``msg_``, ``chatcmpl-``, ``call_``)."""
    estimated_input_tokens: int = 0
    is_usage_wanted: bool = True
    """Chat streams carry usage only when the client asked for it."""
    is_reasoning_wanted: bool = True
    """Gemini clients see reasoning only when they asked for it."""
    tools: tuple[Tool, ...] = ()
    """Tools that the client declared: its dialect may know calls of some in forms of their own."""
    has_think_tag: bool = False
    """Whether reasoning leads the upstream's visible text under a tag."""
    upstream_family: WireFamily | None = None
    """Dialect that the answer came in: tools may have other names there; None: the client's own."""

    def estimated_usage(self, output_chars: int) -> Usage:
        """Return usage for an answer whose upstream told none."""
        return Usage(self.estimated_input_tokens, output=output_chars // _CHARS_PER_TOKEN)
