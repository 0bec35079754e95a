"""Values of eligibility: what may serve, as credentials say it and as policy leaves it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.model.action import InstallationId, Presented, PresentedIdentity
    from services.domain.vocab import CredentialKind


class Availability(enum.StrEnum):
    """How likely a provider can serve now; never removes it."""

    USABLE = "usable"
    WARNED = "warned"
    COOLING = "cooling"
    DISABLED = "disabled"
    BUSY = "busy"


class Layer(enum.StrEnum):
    """The layer that removed a model, a binding or a provider."""

    OPERATOR = "operator"
    GATEWAY_MODE = "gateway_mode"
    PROVIDER_EXCLUDED = "provider_excluded"
    NO_CREDENTIAL = "no_credential"
    CONTEXT_WINDOW = "context_window"
    REQUIREMENT_INCOMPATIBLE = "requirement_incompatible"
    REQUIREMENT_UNAVAILABLE = "requirement_unavailable"
    ENDPOINT_REFUSED = "endpoint_refused"
    AUTOMATIC = "automatic"
    """Not to be picked unless it is named; forbids nothing."""


@dataclass(frozen=True, slots=True)
class ProviderState:
    """A provider that may serve, with its colour."""

    provider: str
    availability: Availability = Availability.USABLE
    owners: tuple[str, ...] = ()
    kinds: tuple[CredentialKind, ...] = ()
    recover_unix_s: float | None = None
    headroom_ratio: float | None = None
    family_headrooms: tuple[tuple[str, float | None], ...] = ()
    """Families of models that draw on a further window, with what is unused of theirs."""


@dataclass(frozen=True, slots=True)
class GatewayAliases:
    """What one tenant gateway key serves: catalog id to the name at that endpoint."""

    provider: str
    fingerprint: str
    upstream_id_by_model: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What can serve one installation, as credentials said at one version."""

    version: str
    providers: tuple[ProviderState, ...]
    is_gateway_exclusive: bool = False
    gateway_aliases: tuple[GatewayAliases, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    """Pairs of (provider, model id) that an endpoint said it does not know."""
    has_tenant_credentials: bool = False
    passed_over: tuple[str, ...] = ()
    """Fingerprints that a selection would pass over now for what they served."""


@dataclass(frozen=True, slots=True)
class EligibilityAnswer:
    """A snapshot, absent when credentials did not answer, and the presented credentials known."""

    snapshot: Snapshot | None
    presented: tuple[tuple[Presented, PresentedIdentity], ...] = ()
    suppressed_plans: tuple[CredentialKind, ...] = ()
    """Kinds of brought plans that are not to be asked; those are not among ``presented``."""

    @property
    def identities(self) -> tuple[PresentedIdentity, ...]:
        """The brought credentials that can be used, by name."""
        return tuple(identity for _, identity in self.presented)


@dataclass(frozen=True, slots=True)
class ModelExclusion:
    """A model that may not serve and the first layer that removed it."""

    model_id: str
    layer: Layer


@dataclass(frozen=True, slots=True)
class ProviderExclusion:
    """A provider that may not serve and the first layer that removed it."""

    provider: str
    layer: Layer


@dataclass(frozen=True, slots=True)
class BindingExclusion:
    """A binding that may not serve though its model may, and the first layer that removed it."""

    model_id: str
    provider: str
    layer: Layer


@dataclass(frozen=True, slots=True)
class EligibilityRecord:
    """What may serve one action, frozen once; every later stage obeys it."""

    record_id: str
    create_unix_s: float
    installation_id: InstallationId
    catalog_version: str
    config_version: str
    credentials_version: str
    enabled_providers: tuple[ProviderState, ...]
    excluded_providers: tuple[ProviderExclusion, ...] = ()
    is_gateway_exclusive: bool = False
    gateway_aliases: tuple[GatewayAliases, ...] = ()
    excluded_models: tuple[ModelExclusion, ...] = ()
    automatic_excluded_models: tuple[ModelExclusion, ...] = ()
    """Models that are not to be picked by themselves, unless nothing else is there."""
    safety_excluded_models: tuple[ModelExclusion, ...] = ()
    requirement_excluded_models: tuple[ModelExclusion, ...] = ()
    excluded_bindings: tuple[BindingExclusion, ...] = ()
    forced_model: str = ""
    presented_hashes: tuple[str, ...] = ()
    suppressed_plans: tuple[CredentialKind, ...] = ()
    """Kinds of the caller's plans that no attempt may use."""
    override_reason: str = ""
    cost_factors: tuple[tuple[str, float], ...] = ()
    """Models that a subscription covers, with the share of its list price that each costs."""
