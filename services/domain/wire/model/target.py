"""Where a request goes, and what was changed to get it there."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.domain.catalog import Quirks

if TYPE_CHECKING:
    from services.domain.catalog import ModelFacts
    from services.domain.vocab import WireFamily
    from services.domain.wire.model.request import ToolChoice


@dataclass(frozen=True, slots=True)
class HouseRules:
    """What a deployment wants of every request, whatever it goes to."""

    removed_tools: frozenset[str] = frozenset()
    """Tools of a Messages coding client that only its own vendor's models are offered."""
    user_hash_key: bytes = field(default=b"", repr=False)
    """Key of the hash under which another vendor sees who the user is; empty: it does not."""
    is_cache_marked: bool = False
    """Whether cache breakpoints are added to Messages requests that have room for them."""


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
    effort: str = ""
    """Level of reasoning that is forced; empty: what the request asks for."""
    quirks: Quirks = field(default_factory=Quirks)
    """What this very endpoint wants of translated requests."""
    rules: HouseRules = field(default_factory=HouseRules)

    def refuses(self, choice: ToolChoice) -> bool:
        """Return whether ``choice`` forces a call and the model takes no such choice."""
        return choice.is_forced and not self.facts.forced_tool_use


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


class Record:
    """The lossy steps of one rewritten request, in order."""

    def __init__(self) -> None:
        self.transforms: list[Transform] = []

    def note(self, code: str, action: TransformAction, path: str) -> None:
        """Record one step."""
        self.transforms.append(Transform(code, action, path))


@dataclass(frozen=True, slots=True)
class EncodedRequest:
    """An upstream body and what was changed to make it."""

    body: bytes
    transforms: tuple[Transform, ...] = ()
