"""Values of eligibility: what the deployment fixes, and what is asked about one action."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.domain.vocab import CredentialKind, WireFamily
from services.domain.wire.requirements import RequirementMode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.model import InstallationId, PresentedIdentity, Snapshot
    from services.domain.catalog import Binding
    from services.domain.wire.features import Features


@dataclass(frozen=True, slots=True)
class Policy:
    """What the deployment fixes: its exclusions and the providers that it configured."""

    config_version: str
    configured_providers: tuple[str, ...]
    """Providers with a key or a pool credential; they stand in while credentials are away."""
    families: Mapping[str, WireFamily] = field(default_factory=dict)
    """Dialects of the providers; one that is not here is taken to express everything."""
    more_families: Mapping[str, tuple[WireFamily, ...]] = field(default_factory=dict)
    """Dialects that providers speak besides, as each request wants."""
    known_providers: tuple[str, ...] = ()
    """Every provider of the deployment; the closed set of metric labels."""
    excluded_models: frozenset[str] = frozenset()
    excluded_providers: frozenset[str] = frozenset()
    automatic_exclusions: tuple[str, ...] = ()
    """Models that are not to be picked by themselves."""
    closed_to_presented: frozenset[str] = frozenset()
    """Providers that never serve a request which brings a credential, whatever it fits."""
    override_reason: str = ""
    requirements: RequirementMode = RequirementMode.SHADOW
    """How strictly the needs of requests count."""
    is_name_binding: bool = False
    """Whether the model that a request names is the only one that may serve it."""
    is_subsidised: bool = True
    """Whether a model that a subscription covers counts only a share of its price."""

    def dialects_at(self, binding: Binding, *, is_gateway: bool = False) -> tuple[WireFamily, ...]:
        """Return every dialect that a binding may be asked in; none: its provider is not known.

        A tenant's gateway may know Responses where its provider speaks Chat.
        """
        own = self.families.get(binding.provider)
        if own is None:
            return ()
        more = self.more_families.get(binding.provider)
        if is_gateway and own is WireFamily.OPENAI_CHAT:
            more = (WireFamily.OPENAI_RESPONSES,)
        return (own, *more) if more else (binding.dialect_at(own),)


@dataclass(frozen=True, slots=True)
class Question:
    """The facts of one action that decide what may serve it."""

    installation_id: InstallationId
    features: Features
    now_unix_s: float
    snapshot: Snapshot | None
    family: WireFamily | None = None
    """Dialect of the request; None: there is none."""
    presented: tuple[PresentedIdentity, ...] = ()
    suppressed_plans: tuple[CredentialKind, ...] = ()
    """Kinds of brought plans that are not to be asked."""
    is_credential_brought: bool = False
    """Whether the caller brought a credential, recognised or not."""
    forced_model: str = ""
    is_long_context_asked: bool = False
