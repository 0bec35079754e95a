"""Values of an action: who asks, with which key, for what."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NewType

from services.domain.vocab import CredentialKind, TurnType, WireFamily

if TYPE_CHECKING:
    from gateway.commands.model import Command
    from gateway.sessions.model import Issued
    from services.domain.wire.features import Features
    from services.domain.wire.model import Request
    from services.domain.wire.state.kept import Restored

ActionId = NewType("ActionId", str)
InstallationId = NewType("InstallationId", str)


class ClientGoneError(Exception):
    """The client does not read its answer any more."""


class Scope(enum.StrEnum):
    """What a router key may do."""

    ROUTING = "routing"
    ANALYTICS_READ = "analytics_read"


class Denial(enum.StrEnum):
    """Why nobody may act with a token."""

    INVALID = "invalid_key"
    EXPIRED = "key_expired"


class OverflowStyle(enum.StrEnum):
    """How a client is told that its conversation is too large."""

    PLAIN = "413"
    NATIVE = "native"
    """As its vendor would: some programs compact on nothing else."""


@dataclass(frozen=True, slots=True)
class RouterKey:
    """One router key as stored: never the token, only its digest and two display parts."""

    id: str
    installation_id: InstallationId
    name: str
    scope: Scope
    digest: str
    display_prefix: str
    display_suffix: str
    created_unix_s: float
    expires_unix_s: float | None = None
    revoked_unix_s: float | None = None
    """From then on the token is refused; ahead of now while a rotated key has its grace."""
    successor_id: str = ""

    def denial_at(self, now_unix_s: float) -> Denial | None:
        """Return why the key is refused now; None: it is live."""
        if self.revoked_unix_s is not None and self.revoked_unix_s <= now_unix_s:
            return Denial.INVALID
        if self.expires_unix_s is not None and self.expires_unix_s <= now_unix_s:
            return Denial.EXPIRED
        return None


@dataclass(frozen=True, slots=True)
class Presented:
    """A credential that the caller brought for upstream; lives for one action."""

    presented_secret: str
    surface: WireFamily
    account_id: str = ""

    def __repr__(self) -> str:
        """Show nothing of the secret."""
        return f"Presented(surface={self.surface.value})"


@dataclass(frozen=True, slots=True)
class PresentedIdentity:
    """What credentials recognised a presented credential as."""

    presented_hash: str
    kind: CredentialKind
    provider: str
    is_exhausted: bool = False
    """Whether the plan that it belongs to was seen to have nothing left."""
    used_ratio: float | None = None
    """Highest use of a window of that plan; None: never seen, or no plan."""
    covered_models: tuple[str, ...] = ()
    """Models that the plan covers; empty: all of its vendor's."""


@dataclass(frozen=True, slots=True)
class Knobs:
    """How a caller wants quality, cost and speed weighed; None: as the artifact has it."""

    alpha: float | None = None
    """Weight of quality."""
    speed_weight: float | None = None
    output_cost_ratio: float | None = None
    """Weight of the price of output against that of input."""
    expected_output_tokens: int | None = None
    is_verbosity_per_model: bool | None = None
    """Whether a model's verbosity scales the price of its output."""
    quality_bias: float | None = None
    """The dial between money (0) and quality (1); goes before ``alpha``."""


AS_TRAINED = Knobs()


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: key, program and session, as far as the request tells."""

    key_id: str
    installation_id: InstallationId
    client_app: str = ""
    is_evaluation: bool = False
    """Whether its program says that it is being evaluated."""
    session_key: bytes = b""
    """Names the thread to other services; empty where the client names no session."""
    thread_key: bytes = b""
    """Names the thread here: its session is kept under it."""
    conversation_key: bytes = b""
    """Names all threads of the client's session; the thread where it names none."""
    client_request_id: str = ""
    presented: tuple[Presented, ...] = ()
    forced_model: str = ""
    is_forced_by_session: bool = False
    """Whether a command of an earlier action forces the model, and not this request's header."""
    forced_effort: str = ""
    """Level of reasoning that the caller forces by header; empty: none."""
    knobs: Knobs = AS_TRAINED
    relayed_headers: tuple[tuple[str, str], ...] = ()
    wants_long_context: bool = False


@dataclass(frozen=True, slots=True)
class Action:
    """One request on its way: the body as it came, read once, and all that was learned of it."""

    id: ActionId
    surface: WireFamily
    caller: Caller
    body: bytes
    request: Request
    features: Features
    input_tokens: int
    """Best estimate of the prompt."""
    turn_type: TurnType
    started_monotonic_s: float
    is_rewritten: bool = False
    """Whether the body is not the client's any more: a summary stands in it."""
    may_command: bool = False
    """Whether its client may write commands into the conversation."""
    command: Command | None = None
    """The command that its last message holds; it is not in the body any more."""
    issuer: Issued | None = None
    """Who gave the answer that the action goes on from and that only they keep."""
    restored: tuple[Restored, ...] = ()
    """Opaque state that the client lost and its session kept."""
    overflow_style: OverflowStyle = OverflowStyle.PLAIN
    """How its client is told that the conversation is too large."""
    fit_ratio: float = 1.0
    """What its session knows estimates of prompts to be too small by."""

    @property
    def overflow_tokens(self) -> int:
        """The size of the prompt as it is held against context windows."""
        return math.ceil(self.features.overflow_tokens * self.fit_ratio)
