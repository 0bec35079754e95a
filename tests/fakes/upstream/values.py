"""Values of the fake provider: faults, rules, scenarios and what was recorded."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import orjson
from pydantic import ConfigDict

from tests.fakes.upstream.reading import last_role

STREAMED_ADDRESS = re.compile(r":streamGenerateContent$")
MODEL_IN_ADDRESS = re.compile(r"/models/(.+):[A-Za-z]+$")

STRICT = ConfigDict(extra="forbid")
"""Written as JSON, these values refuse keys that they do not know."""

LiteralBody = bytes | str | Mapping[str, object] | Sequence[object]


class Family(enum.Enum):
    """Vendor dialect of a wire API: decides the shape of errors and of header names."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    """Chat Completions and Responses."""
    GEMINI = "gemini"


class Ending(enum.Enum):
    """How the exchange of one request ended."""

    COMPLETE = "complete"
    """Every byte that was meant to be sent was handed to the socket."""
    CLIENT_ABORTED = "client_aborted"
    """The client closed the connection first."""
    CUT = "cut"
    """A fault closed the connection."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one answer; the parts of the prompt do not overlap."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    input: int = 11
    """Prompt tokens that were neither read from nor written to a cache."""
    output: int = 4
    cached: int = 0
    """Prompt tokens read from a cache."""
    written: int = 0
    """Prompt tokens written to a cache (Anthropic only reports them apart)."""
    reasoning: int = 0
    """Part of `output` spent on hidden reasoning."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call that the fake model makes."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    name: str
    args: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the fake model says when no fault says otherwise.

    While a conversation holds `i` tool results since the last typed message, the first
    alternative of `steps[i]` whose tool the request offers is called; afterwards text is said.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    steps: Sequence[Sequence[ToolCall]] = ()
    text: str | None = None
    """Said as the only delta; absent means fixed words in several deltas."""


@dataclass(frozen=True, slots=True)
class Fault:
    """How one answer deviates from a plain good one; `Fault()` is a plain good answer."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    status: int = 200
    error_type: str | None = None
    """Type of the error body, and of the event of `error_first` and `error_after`."""
    message: str | None = None
    """Text of the error body and of in-stream errors."""
    retry_after: float | str | None = None
    """Value of the Retry-After header."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Literal headers, added last."""
    body: LiteralBody | None = None
    """Literal body, sent for any status; a streamed one still counts and delays its events."""
    content_type: str | None = None
    drop: bool = False
    """Closes the connection before any byte."""
    delay: float = 0.0
    """Seconds before the status line."""
    first_delay: float = 0.0
    """Seconds between the headers and the first byte of the body."""
    chunk_delay: float | None = None
    """Seconds before each event after the first; absent means the server's own setting."""
    chunks: int | None = None
    """Number of text deltas; absent means the server's own setting."""
    word: str | None = None
    """What every delta says instead of fixed words."""
    cut_after: int | None = None
    """Closes without a terminator after this many events (a plain body: after half of it)."""
    end_after: int | None = None
    """Ends well-formed HTTP after this many events."""
    stall_after: int | None = None
    """Goes quiet for `stall` seconds after this many events (a plain body: after half of it)."""
    stall: float = 30.0
    error_first: bool = False
    """The family's in-stream error event is all that the stream holds."""
    error_after: int | None = None
    """Sends the family's in-stream error event after this many events, and ends."""
    bad_json: bool = False
    """The second event, or the body, is not JSON."""
    bad_tool_args: bool = False
    """Arguments of tool calls are cut in the middle; Gemini reports a malformed call instead."""
    empty: bool = False
    """Succeeds with no content at all."""
    split: int = 0
    """Writes the stream in pieces of this many bytes, each of its own; 0 means whole events."""
    oversize: int = 0
    """Pads the first text delta with this many bytes."""
    usage: Usage | None = None
    omit_usage: bool = False
    """Leaves every usage object out."""
    stop: str | None = None
    """Stop or finish reason in the family's own words; of Responses a status or a cut's reason."""
    text: str | None = None
    """Said as the only delta, instead of the scenario and fixed words."""
    calls: Sequence[ToolCall] = ()
    """Tool calls made in parallel, offered or not; after `text` if that is given too."""
    thinking: str | None = None
    """Reasoning shown before the answer, signed where the family signs it."""

    def literal_body(self) -> bytes | None:
        """Return the literal body as bytes; None when the answer is to be made."""
        if self.body is None or isinstance(self.body, bytes):
            return self.body
        if isinstance(self.body, str):
            return self.body.encode()
        return orjson.dumps(self.body)


@dataclass(slots=True)
class RecordedRequest:
    """One request as it arrived, and how its exchange went."""

    number: int
    """Order of arrival, from 1."""
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    json: Mapping[str, object]
    """The decoded body; empty when it is not a JSON object."""
    started: float
    """Monotonic seconds."""
    ended: float | None = None
    ending: Ending | None = None
    """None while the exchange goes on."""
    status: int | None = None
    """Status that was sent; None when none was."""
    events: int = 0
    """Stream events written."""
    written: bytearray = field(default_factory=bytearray)
    """Bytes of the stream handed to the socket."""
    fault: Fault = field(default_factory=Fault)

    @property
    def model(self) -> str:
        """Return the model that the address or the body names, or an empty string."""
        named = MODEL_IN_ADDRESS.search(self.path)
        if named is not None:
            return named[1]
        model = self.json.get("model")
        return model if isinstance(model, str) else ""

    @property
    def is_streamed(self) -> bool:
        """Tell whether a stream was asked for."""
        is_named = STREAMED_ADDRESS.search(self.path) is not None
        return is_named or self.json.get("stream") is True

    @property
    def key(self) -> str:
        """Return the key that the caller presented, without `Bearer`; empty when none."""
        bearer = re.sub(r"(?i)^bearer ", "", self.headers.get("authorization", ""))
        shown = (self.headers.get(name) for name in ("x-api-key", "x-goog-api-key"))
        return next(filter(None, shown), bearer)


@dataclass(frozen=True, slots=True)
class Match:
    """Conditions on a request, all of which must hold; patterns are searched, not anchored."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    path: str | None = None
    model: str | None = None
    key: str | None = None
    header: Mapping[str, str] = field(default_factory=dict)
    """Pattern by lower-case header name."""
    last_role: str | None = None
    """Role of the last message, input item or content, exactly."""
    body: str | None = None

    def accepts(self, request: RecordedRequest) -> bool:
        """Tell whether every condition holds for `request`."""
        pairs = [(self.path, request.path), (self.model, request.model), (self.key, request.key)]
        pairs += [(p, request.headers.get(name, "")) for name, p in self.header.items()]
        if self.body is not None:
            pairs.append((self.body, request.body.decode(errors="replace")))
        if self.last_role is not None and self.last_role != last_role(request.json):
            return False
        return all(re.search(pattern, value) for pattern, value in pairs if pattern is not None)


@dataclass(slots=True)
class Rule:
    """A fault for the requests that match, for a number of times."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    fault: Fault
    match: Match = field(default_factory=Match)
    times: int | None = 1
    """How many more requests it answers; None means every one."""
    hits: int = 0

    def take(self, request: RecordedRequest) -> Fault | None:
        """Return the fault and count it when the rule is for `request`, else None."""
        if self.times == 0 or not self.match.accepts(request):
            return None
        if self.times is not None:
            self.times -= 1
        self.hits += 1
        return self.fault
