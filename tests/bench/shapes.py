"""The values a bench speaks of: what is asked for, of whom, and what came out."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.bench.stats import Summary

BURST_CHUNKS = 200
PACED_CHUNKS = 50
PACE_SECONDS = 0.01

BURST_MODEL = "bench-burst"
PACED_MODEL = "bench-paced"
"""The canned provider paces the streams of this model, so that one provider serves both."""


class Dialect(enum.StrEnum):
    """Names what a client or a provider speaks."""

    MESSAGES = "messages"
    CHAT = "chat"
    RESPONSES = "responses"
    GEMINI = "gemini"

    def path(self, model: str, *, is_stream: bool) -> str:
        """Return the path of a request; one dialect names model and kind of answer in it."""
        if self is not Dialect.GEMINI:
            return _PATHS[self]
        action = "streamGenerateContent?alt=sse" if is_stream else "generateContent"
        return f"/v1beta/models/{model}:{action}"


_PATHS: Mapping[Dialect, str] = {
    Dialect.MESSAGES: "/v1/messages",
    Dialect.CHAT: "/v1/chat/completions",
    Dialect.RESPONSES: "/v1/responses",
}


class Route(enum.StrEnum):
    """Names the client's dialect and, where it differs, the provider's."""

    MESSAGES = "messages"
    CHAT = "chat"
    RESPONSES = "responses"
    GEMINI = "gemini"
    MESSAGES_TO_CHAT = "messages->chat"
    MESSAGES_TO_RESPONSES = "messages->responses"
    MESSAGES_TO_GEMINI = "messages->gemini"
    CHAT_TO_MESSAGES = "chat->messages"
    CHAT_TO_RESPONSES = "chat->responses"
    CHAT_TO_GEMINI = "chat->gemini"
    RESPONSES_TO_MESSAGES = "responses->messages"
    RESPONSES_TO_CHAT = "responses->chat"
    RESPONSES_TO_GEMINI = "responses->gemini"
    GEMINI_TO_MESSAGES = "gemini->messages"
    GEMINI_TO_CHAT = "gemini->chat"
    GEMINI_TO_RESPONSES = "gemini->responses"

    @property
    def client(self) -> Dialect:
        """The client's dialect."""
        return Dialect(self.partition("->")[0])

    @property
    def provider(self) -> Dialect:
        """The provider's dialect."""
        return Dialect(self.rpartition("->")[2])

    @property
    def path(self) -> str:
        """The client's path, in the dialects whose bodies name the model."""
        return self.client.path("", is_stream=False)

    @property
    def same_dialect(self) -> Route:
        """The route of this client before a provider of its own dialect."""
        return Route(self.client)


class Shape(enum.StrEnum):
    """Names the answer that is asked for."""

    WHOLE = "whole"
    """One JSON body."""
    BURST = "burst"
    """A stream of `BURST_CHUNKS`, as fast as they go."""
    PACED = "paced"
    """A stream of `PACED_CHUNKS`, one per `PACE_SECONDS`."""


class Mode(enum.StrEnum):
    """Names who chooses the model of an action, and so which services it passes."""

    REQUESTED = "requested"
    """The client: credentials and dispatch."""
    STICKY = "sticky"
    """A live pin without a question: credentials and dispatch, and the session."""
    CACHED = "scored, text known"
    """The scorer for a new session, from its cache of texts."""
    SCORED = "scored"
    """The scorer for a new session, on a text that it never saw."""
    PLANNED = "planned"
    """The scorer on a text that it never saw, then the planner: the pin is another model."""


@dataclass(frozen=True, slots=True)
class Case:
    """One load: what is asked and by how many clients at once."""

    shape: Shape
    route: Route
    clients: int
    mode: Mode = Mode.REQUESTED


@dataclass(frozen=True, slots=True)
class Entrance:
    """How one target is asked on one route."""

    headers: Mapping[str, str] = field(default_factory=dict)
    model: str = BURST_MODEL
    paced_model: str = PACED_MODEL


class Stage(enum.StrEnum):
    """Names one call of a deciding service."""

    PLAN = "PlanAction"
    SCORE = "Score, 1 KiB"
    SCORE_CACHED = "Score, 1 KiB, text known"

    @property
    def part(self) -> str:
        """The service that is called."""
        return "planner" if self is Stage.PLAN else "scorer"


@dataclass(frozen=True, slots=True)
class StageServer:
    """Where a deciding service listens, and its process."""

    port: int
    pid: int


@dataclass(frozen=True, slots=True)
class Target:
    """A running server under test."""

    name: str
    port: int
    pids: tuple[int, ...]
    """Its processes; what they start counts as theirs. Empty: CPU is not measured."""
    entrances: Mapping[Route, Entrance]
    start_seconds: float | None = None
    """From the start of its processes to the first answered request."""
    note: str = ""
    modes: tuple[Mode, ...] = (Mode.REQUESTED,)
    """What can be asked of it."""
    stages: Mapping[Stage, StageServer] = field(default_factory=dict)
    """Deciding services that can be asked without the gateway."""

    def takes(self, case: Case) -> bool:
        """Return whether the target can be put under a load."""
        return case.route in self.entrances and case.mode in self.modes


@dataclass(frozen=True, slots=True)
class LoadOrder:
    """What the load generator is told."""

    port: int
    path: str
    headers: Mapping[str, str]
    body: str
    terminal: str
    """What the last bytes of a whole stream contain; empty: nothing is checked."""
    clients: int
    seconds: float
    warmup_seconds: float
    pids: tuple[int, ...] = ()
    opening: str = ""
    """What each client says once before all else, and the order waits for; empty: nothing."""
    expected: str = ""
    """What the head of every answer holds, in small letters; empty: nothing is checked."""
    serial: int = 0
    """Tells sessions of this load from those of others; the generator gives it."""


@dataclass(frozen=True, slots=True)
class LoadFigures:
    """What one load came to. Times in milliseconds unless named otherwise."""

    seconds: float
    answered: int
    errors: int
    codes: Mapping[str, int]
    """How often which status other than 200 came; `cut` for streams without their end, `decision`
    for answers that were decided otherwise than expected."""
    latency: Summary
    first_byte: Summary
    transit: Summary
    """Of each stamped chunk, from the provider's write to the client's read."""
    cpu_seconds: float
    rss_bytes: int
    generator_share: float
    """CPU of the generator by wall time; near 1 it is the generator that was measured."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One load of one round."""

    target: str
    case: Case
    round: int
    figures: LoadFigures


@dataclass(frozen=True, slots=True)
class StageFigures:
    """What calls of one stage came to, one after the other."""

    target: str
    stage: Stage
    latency: Summary
    """In milliseconds."""
    cpu_seconds: float
    """Of the service, for all calls."""
