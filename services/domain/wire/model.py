"""The canonical model that all dialects meet in: requests, answers, stream events, errors.

JSON fragments that must survive exactly (tool arguments, schemas, unknown members) are kept as
``bytes`` of JSON text. Values are immutable; absent is None where it differs from empty.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.domain.catalog import ModelFacts
    from services.domain.vocab import WireFamily


class WireError(Exception):
    """A body that cannot be read. ``path`` names the place (``messages[2].content``)."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message


class UnbuildableError(Exception):
    """A request that the target provably cannot express; ``path`` names what does not fit."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message


class Role(enum.StrEnum):
    """Who speaks in a turn. Tool results live in user turns."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


# ---------------------------------------------------------------------------------- request blocks


@dataclass(frozen=True, slots=True)
class CacheMark:
    """A cache breakpoint; ``raw`` is its JSON as the client wrote it."""

    raw: bytes
    ttl: str = ""


@dataclass(frozen=True, slots=True)
class ProviderState:
    """Opaque state that only its issuing family may see again, byte for byte."""

    family: WireFamily
    kind: Literal["signature", "encrypted", "redacted"]
    payload: str
    model: str = ""
    item_id: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """Visible text."""

    text: str
    cache: CacheMark | None = None
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class Media:
    """Media with exactly one of ``data`` (base64), ``url``, ``text`` and ``file_id``."""

    kind: Literal["image", "document", "audio", "video"]
    media_type: str = ""
    data: str = ""
    url: str = ""
    text: str = ""
    file_id: str = ""
    detail: str = ""
    title: str = ""
    filename: str = ""
    cache: CacheMark | None = None
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class Thinking:
    """Reasoning shown by a model, with the state that lets its issuer verify it."""

    text: str
    state: tuple[ProviderState, ...] = ()
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call of a client's tool. ``arguments`` is JSON text as the model wrote it."""

    call_id: str
    name: str
    arguments: bytes
    cache: CacheMark | None = None
    state: tuple[ProviderState, ...] = ()
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered. ``blocks`` may be empty; the result still exists."""

    call_id: str
    blocks: tuple[Block, ...]
    is_error: bool = False
    name: str = ""
    cache: CacheMark | None = None
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal that the vendor reports as text of its own kind."""

    text: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block of a kind that is not known (or belongs to one vendor's server tools)."""

    family: WireFamily
    kind: str
    raw: bytes
    rendering: str = ""
    cache: CacheMark | None = None


Block = Text | Media | Thinking | ToolUse | ToolResult | Refusal | Opaque


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

    kind: Literal["function", "custom", "server"]
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
class Target:
    """Where a request goes: what an encoder must know of the binding, and nothing of its name."""

    family: WireFamily
    provider: str
    model_id: str
    upstream_id: str
    facts: ModelFacts
    max_output_tokens: int | None = None
    is_vendor: bool = False
    """The family's own vendor (``openai``, ``anthropic``), which takes its newest parameters."""
    is_model_switched: bool = False
    """Signed reasoning in the history belongs to another model."""
    affinity_key: str = ""


class TransformAction(enum.StrEnum):
    """What an encoder did to a part of a request."""

    DROPPED = "dropped"
    PROJECTED = "projected"
    INLINED = "inlined"
    CLAMPED = "clamped"
    FLATTENED = "flattened"
    SYNTHESISED = "synthesised"
    PRESERVED = "preserved"


@dataclass(frozen=True, slots=True)
class Transform:
    """One lossy step: a code, what was done, and where. Never text of the request."""

    code: str
    action: TransformAction
    path: str


@dataclass(frozen=True, slots=True)
class EncodedRequest:
    """An upstream body and what was changed to make it."""

    body: bytes
    transforms: tuple[Transform, ...] = ()


# --------------------------------------------------------------------------------------- answers


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


# ---------------------------------------------------------------------------------- stream events


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


# ----------------------------------------------------------------------------------------- errors


class ErrorKind(enum.StrEnum):
    """What kind of error a client sees; fixes status, type and code in every dialect."""

    INVALID_REQUEST = "invalid_request"
    AUTHENTICATION = "authentication"
    BILLING = "billing"
    PERMISSION = "permission"
    NOT_FOUND = "not_found"
    BODY_TOO_LARGE = "body_too_large"
    CONTEXT_TOO_LARGE = "context_too_large"
    RATE_LIMIT = "rate_limit"
    INTERNAL = "internal"
    NOT_IMPLEMENTED = "not_implemented"
    UPSTREAM = "upstream"
    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"
    OVERLOADED = "overloaded"


@dataclass(frozen=True, slots=True)
class ClientError:
    """An error for a client. ``code`` is our stable machine code; ``param`` names a field."""

    kind: ErrorKind
    message: str
    code: str = ""
    param: str | None = None
    request_id: str = ""
    http_status: int | None = None
    """Overrides the kind's own status (an upstream's 4xx is kept)."""
    retry_after_s: float | None = None
    vendor_type: str = ""
    """An upstream's own error type, used instead of the kind's when it is of the same dialect."""


@dataclass(frozen=True, slots=True)
class UpstreamError:
    """What an upstream error says; ``http_status`` is the real or the mapped one."""

    http_status: int
    vendor_type: str = ""
    vendor_code: str = ""
    message: str = ""
    param: str | None = None


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
