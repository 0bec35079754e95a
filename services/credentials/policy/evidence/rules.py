"""What the rules are told once, and the values that one observation moves between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from services.credentials.model import NO_SUBJECT, Subject
from services.credentials.policy.matching import canonical_model
from services.domain.vocab import CredentialKind, WireFamily

if TYPE_CHECKING:
    from services.credentials.model import Cause, Credential, CredentialSpec, Transition, Usage


class Sight(NamedTuple):
    """The newest observation of a window that said anything about warnings."""

    at_unix_s: float
    cleared_by: Cause | None
    """Why it clears a warning; None: it is one."""


Seen: TypeAlias = Mapping[str, Sight]
"""What this process saw last of each window. It is not stored: a store write per response would be
the price."""


class Doubt(NamedTuple):
    """Something about a response that was not believed, to be counted."""

    kind: str
    """``unknown_status``, ``disagreeing_status``, ``unknown_claim``, ``contradiction``,
    ``past_reset``, ``stale``, ``stale_secret`` or ``clock_offset``."""
    header: str = ""
    value: str = ""


def no(_model_id: str) -> bool:
    """Return False, of whatever model."""
    return False


def same(model_id: str) -> str:
    """Return a model as a family of its own."""
    return model_id


@dataclass(frozen=True, slots=True)
class Rules:
    """Settings of the transition function; times in seconds."""

    families: Mapping[str, WireFamily] = field(default_factory=dict)
    """Dialect of every provider."""
    family_of: Callable[[str], str] = same
    """Says to which family a canonical model belongs."""
    is_beyond_codex: Callable[[str], bool] = no
    """Says of a canonical model whether no Codex plan covers it."""
    warning_fallback_age_s: float = 1_800.0
    """How long a warning without a reset counts; 0: until it is cleared."""
    codex_warn_percent: float = 0.0
    """Use of a Codex window that counts as a warning; 0: none does."""
    ladder_base_s: float = 1.0
    ladder_ceiling_s: float = 1_800.0

    def subject(self, model_id: str) -> Subject:
        """Return what marks of a model are looked up by; an empty name is no model."""
        name = canonical_model(model_id)
        if not name:
            return NO_SUBJECT
        return Subject(name, self.family_of(name), self.is_beyond_codex(name))

    def reads_unified(self, spec: CredentialSpec) -> bool:
        """Return whether the headers of Claude's quota windows are believed."""
        if self.families.get(spec.provider) is not WireFamily.ANTHROPIC:
            return False
        return spec.kind is not CredentialKind.GATEWAY or spec.is_quota_header_trusted

    def reads_codex(self, spec: CredentialSpec) -> bool:
        """Return whether the headers and bodies of Codex quotas are believed."""
        return spec.kind is CredentialKind.CODEX_OAUTH

    def reads_gemini(self, spec: CredentialSpec) -> bool:
        """Return whether the bodies of Gemini quotas are believed."""
        return self.families.get(spec.provider) is WireFamily.GEMINI


@dataclass(frozen=True, slots=True)
class Step:
    """What one observation comes to."""

    credential: Credential
    """The same value where nothing that is stored changed."""
    seen: Seen
    transitions: tuple[Transition, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    usage: Usage = ()
    """What the response said about windows; empty: nothing."""
