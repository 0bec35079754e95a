"""Models, their bindings, prices and emitter facts as immutable values."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.domain.effort import split_effort
from services.domain.vocab import ModelTier, WireFamily

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_CONTEXT_WINDOW_TOKENS = 128_000
"""Context window of a model whose entry names none."""

OPENAI_FAMILIES = frozenset({WireFamily.OPENAI_CHAT, WireFamily.OPENAI_RESPONSES})
"""Dialects that one endpoint may offer side by side."""

_DATE_SUFFIX = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")
_CLIENT_TAG = re.compile(r"\[[^\[\]]*\]$")


class CatalogError(Exception):
    """A catalog document that cannot be used; the message names model, field and fix."""


@dataclass(frozen=True, slots=True)
class LongContextPrice:
    """Rates of a whole request once its prompt has more than ``above_tokens``."""

    above_tokens: int
    input_usd_per_mtok: float
    output_usd_per_mtok: float


@dataclass(frozen=True, slots=True)
class FastPrice:
    """Rates of the fast tier; a read multiplier of None is that of the plain price."""

    input_usd_per_mtok: float
    output_usd_per_mtok: float
    cache_read_multiplier: float | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """List price of one binding in USD per million tokens; a multiplier of None is not known."""

    input_usd_per_mtok: float
    output_usd_per_mtok: float
    cache_read_multiplier: float | None = None
    cache_write_multiplier: float | None = None
    cache_write_1h_multiplier: float | None = None
    long_context: LongContextPrice | None = None
    fast: FastPrice | None = None


@dataclass(frozen=True, slots=True)
class Quirks:
    """What one endpoint wants of translated requests; what a client says itself always wins."""

    members: tuple[tuple[str, bytes], ...] = ()
    """Members of the body that are sent unless the client sets them, as JSON text."""
    tool_members: tuple[tuple[str, bytes], ...] = ()
    """The same, only beside tools."""
    tool_guidance: str = ""
    """Which line about tools is added to the instructions of requests with tools."""


@dataclass(frozen=True, slots=True)
class Binding:
    """One model at one provider; ``index`` is its place among the model's bindings."""

    model_id: str
    provider: str
    upstream_id: str
    index: int
    price: Price
    context_window_tokens: int
    max_output_tokens: int | None
    quirks: Quirks = field(default_factory=Quirks)
    wire_family: WireFamily | None = None
    """Which of OpenAI's two dialects this model wants; None: its provider's."""
    is_in_codex_plan: bool = False
    """Whether a Codex plan covers it, so that a plan's token may be shown for it."""
    source: str = ""
    as_of: str = ""
    """Day of the price, as in 2026-11-30; empty: not stated."""

    def dialect_at(self, family: WireFamily) -> WireFamily:
        """Return the dialect to speak at a provider of ``family``.

        A wish between OpenAI's dialects counts only where the provider speaks one of them.
        """
        is_choice = family in OPENAI_FAMILIES and self.wire_family is not None
        return self.wire_family if is_choice and self.wire_family is not None else family


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a target accepts; encoders consult these and never the model's name."""

    tool_use: str = "full"
    agentic: str = "full"
    image_input: bool = True
    document_input: bool | None = None
    audio_input: bool | None = None
    structured_output: bool = True
    reasoning: str = "none"
    reasoning_levels: tuple[str, ...] = ()
    reasoning_budget: bool = False
    adaptive_thinking: bool = False
    refused_parameters: frozenset[str] = frozenset()
    think_tag_reasoning: bool = False
    """Whether its reasoning comes as a leading tag inside the visible text."""
    extended_context: bool | None = None
    """Whether it takes a million tokens when asked by a beta; None: not stated."""
    forced_tool_use: bool = True
    """Whether it takes a choice that forces a call; else it is asked to choose by itself."""
    many_tools: bool = False
    """Whether it takes more than 128 tools on a chat endpoint."""
    validated_calls: bool = False
    """Whether it takes the Gemini tool mode that checks calls against their schemas."""
    signed_tool_history: bool = False
    """Whether it refuses calls in the history that lack its vendor's signature."""


@dataclass(frozen=True, slots=True)
class Model:
    """One catalog entry."""

    id: str
    tier: ModelTier
    context_window_tokens: int
    max_output_tokens: int | None
    facts: ModelFacts
    bindings: tuple[Binding, ...]
    fallbacks: tuple[str, ...] = ()
    family: str = ""
    source: str = ""
    skill: float | None = None
    """Overall skill on the scorer's scale, [0, 1]; None: that of its tier."""
    scored_as: str = ""
    """Measured model whose outcomes stand for its own; empty: none."""
    version: tuple[int, ...] = ()
    """Numbers of its version within the family; empty: not stated."""
    is_automatic: bool = False
    """Whether it may be picked without being named: it has a tier, and no newer one took over."""
    is_distinct: bool = False
    """Whether it stays beside other generations of its family."""
    as_of: str = ""
    """Day of the entry, as in 2026-11-30; empty: not stated."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """All models, by id, and the digest of the documents they came from."""

    models: Mapping[str, Model]
    version: str
    _folded: Mapping[str, str] = field(repr=False)

    def resolve(self, name: str) -> Model | None:
        """Return the model a client's name means: exact, else without client tag and date suffix.

        A trailing ``[1m]``-like tag and a trailing ``-YYYYMMDD`` or ``-YYYY-MM-DD`` are ignored;
        letter case does not matter. A suffix that names a level of reasoning (``:high``) is ignored
        where no model has the whole name.
        """
        bare = strip_client_tag(name)
        return self._plain(bare) or self._plain(strip_client_tag(split_effort(bare)[0]))

    def effort_of(self, name: str) -> str:
        """Return the level of reasoning that a client's name forces; empty: none."""
        bare = strip_client_tag(name)
        return "" if self._plain(bare) else split_effort(bare)[1]

    def _plain(self, bare: str) -> Model | None:
        ids = self._folded
        model_id = ids.get(bare.casefold()) or ids.get(_DATE_SUFFIX.sub("", bare).casefold())
        return self.models[model_id] if model_id is not None else None

    @property
    def tagged_models(self) -> frozenset[str]:
        """Ids of the models whose reasoning leads their visible text under a tag."""
        models = self.models.values()
        return frozenset(model.id for model in models if model.facts.think_tag_reasoning)

    def latest(self, name: str) -> Model | None:
        """Return the newest model of the family of ``name``, itself included; None: unknown.

        Only stated families and versions count, numbers compare as numbers, and models outside of
        automatic choice are never proposed.
        """
        model = self.resolve(name)
        if model is None or not model.family:
            return model
        kin = (each for each in self.models.values() if each.family == model.family)
        newer = (each for each in kin if each.is_automatic and each.version > model.version)
        return max(newer, key=lambda each: each.version, default=model)

    def nearest(self, name: str, limit: int = 3) -> tuple[str, ...]:
        """Return up to ``limit`` ids that look like ``name``, for error messages."""
        return tuple(difflib.get_close_matches(name, list(self.models), n=limit, cutoff=0.5))


def strip_client_tag(name: str) -> str:
    """Return a model name without blanks around it and without a tag such as ``[1m]``."""
    name = name.strip()
    return _CLIENT_TAG.sub("", name) if name.endswith("]") else name


PROVIDER_FAMILIES: Mapping[str, WireFamily] = {
    "anthropic": WireFamily.ANTHROPIC,
    "openai": WireFamily.OPENAI_CHAT,
    "google": WireFamily.GEMINI,
    "openrouter": WireFamily.OPENAI_CHAT,
    "fireworks": WireFamily.OPENAI_CHAT,
    "together": WireFamily.OPENAI_CHAT,
    "xai": WireFamily.OPENAI_CHAT,
}
"""Built-in provider names and the dialect each speaks."""
