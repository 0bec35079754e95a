"""One client request in no dialect."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from services.domain.vocab import WireFamily
    from services.domain.wire.model.blocks import Block, CacheMark, Role


@dataclass(frozen=True, slots=True)
class Turn:
    """Consecutive blocks of one speaker; ``origin_index`` is its place in the client's list.

    ``extras`` holds members of the client's message that have no place here (a speaker's name), as
    JSON text; only the same dialect sees them again.
    """

    role: Role
    blocks: tuple[Block, ...]
    origin_index: int = -1
    extras: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class SystemBlock:
    """One block of instructions. ``after_turn`` is the number of turns before it; 0: leading.

    Blocks of one message of the client's list share its ``origin_index``; ``raw`` is the block's
    JSON where it was an object of its own.
    """

    text: str
    origin: Literal["system", "developer", "instructions", "in_array"] = "system"
    after_turn: int = 0
    cache: CacheMark | None = None
    origin_index: int = -1
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool on offer. ``schema`` is JSON text; kinds other than function are kept in ``raw``."""

    kind: Literal["function", "server"]
    name: str
    description: str = ""
    schema: bytes = b"{}"
    strict: bool | None = None
    cache: CacheMark | None = None
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Which tool must be called; ``unset`` says nothing, ``unrecognised`` is sent as nothing.

    ``allowed`` limits the choice to ``names``; ``is_call_required`` says whether one must be made.
    """

    mode: Literal["unset", "auto", "required", "none", "named", "allowed", "unrecognised"] = "unset"
    name: str = ""
    names: tuple[str, ...] = ()
    parallel: bool | None = None
    is_call_required: bool = False

    @property
    def is_forced(self) -> bool:
        """Whether the answer must call a tool."""
        return self.mode in ("required", "named") or self.is_call_required


@dataclass(frozen=True, slots=True)
class Limits:
    """Output limit in tokens, stop sequences and number of answers; None: not asked for."""

    max_output_tokens: int | None = None
    stop: tuple[str, ...] = ()
    n: int | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling knobs as JSON number lexemes or texts; None: not asked for."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    logit_bias: bytes | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None


@dataclass(frozen=True, slots=True)
class Reasoning:
    """How much the model shall reason: a level, a token budget, on, off, or unsaid."""

    mode: Literal["unset", "off", "auto", "level", "budget"] = "unset"
    level: str = ""
    budget_tokens: int = 0


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """The form of the answer; ``schema`` is JSON text for ``json_schema``."""

    kind: Literal["text", "json_object", "json_schema"] = "text"
    name: str = ""
    schema: bytes = b""
    strict: bool | None = None
    verbosity: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One client request in no dialect.

    ``extras`` holds unknown top-level members as JSON text. ``native`` holds known members whose
    canonical form is narrower than what the client wrote; only its own family may see them again.
    """

    family: WireFamily
    model: str
    is_stream: bool
    system: tuple[SystemBlock, ...] = ()
    turns: tuple[Turn, ...] = ()
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice = field(default_factory=ToolChoice)
    limits: Limits = field(default_factory=Limits)
    sampling: Sampling = field(default_factory=Sampling)
    reasoning: Reasoning = field(default_factory=Reasoning)
    output: OutputFormat = field(default_factory=OutputFormat)
    is_stream_usage_wanted: bool = False
    user: str = ""
    extras: tuple[tuple[str, bytes], ...] = ()
    native: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Address:
    """What the path of a request says where its body does not: the model and the kind of answer."""

    model: str
    is_stream: bool = False
