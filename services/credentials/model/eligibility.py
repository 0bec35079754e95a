"""What may serve an action, and what can serve an installation."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from services.domain.vocab import CredentialKind, CredentialOwner


class Availability(enum.StrEnum):
    """Colours a provider: says how likely it can serve now, and never removes it."""

    USABLE = "usable"
    WARNED = "warned"
    COOLING = "cooling"
    DISABLED = "disabled"
    BUSY = "busy"


class PlanStatus(enum.StrEnum):
    """Says whether a plan can pay."""

    ACTIVE = "active"
    EXHAUSTED = "exhausted"
    UNKNOWN = "unknown"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Eligibility:
    """The parts of an action's eligibility record that decide whether a binding is permitted."""

    enabled_providers: frozenset[str] | None = None
    """None: unrestricted."""
    excluded_providers: frozenset[str] = frozenset()
    excluded_models: frozenset[str] = frozenset()
    excluded_bindings: frozenset[tuple[str, str]] = frozenset()
    """Pairs of model and provider."""
    is_gateway_exclusive: bool = False
    gateway_models: frozenset[tuple[str, str]] = frozenset()
    """Pairs of model and provider that gateway keys alias."""
    is_subscription_only: bool = False

    def permits(self, model_id: str, provider: str) -> bool:
        """Return whether the record lets a model be served at a provider."""
        if self.is_gateway_exclusive and (model_id, provider) not in self.gateway_models:
            return False
        if not self.is_gateway_exclusive and (
            provider in self.excluded_providers
            or (self.enabled_providers is not None and provider not in self.enabled_providers)
        ):
            return False
        return (
            model_id not in self.excluded_models
            and (model_id, provider) not in self.excluded_bindings
        )


@dataclass(frozen=True, slots=True)
class Headroom:
    """Lowest unused share of the windows that bind a lane, [0, 1]; None: not known."""

    ratio: float | None = None
    by_family: tuple[tuple[str, float | None], ...] = ()
    """The same for families of models that draw on a further window."""


@dataclass(frozen=True, slots=True)
class ProviderColour:
    """How one provider can serve an installation now."""

    provider: str
    availability: Availability
    owners: tuple[CredentialOwner, ...]
    kinds: tuple[CredentialKind, ...]
    recover_unix_s: float | None = None
    """Earliest recovery; only while COOLING or BUSY."""
    headroom: Headroom = Headroom()


class WindowUse(NamedTuple):
    """The last observation of one quota window; None: not reported."""

    window: str
    utilization_ratio: float | None
    reset_unix_s: float | None
    is_warned: bool = False
    is_rejected: bool = False


Usage: TypeAlias = tuple[WindowUse, ...]
"""What one response said about an account's windows."""


@dataclass(frozen=True, slots=True)
class PlanColour:
    """What is known about one subscription plan that is linked to an installation."""

    kind: CredentialKind
    owner: CredentialOwner
    status: PlanStatus
    windows: Usage = ()
    """Windows of its best account; empty: none was observed."""

    @property
    def utilization_ratio(self) -> float | None:
        """Highest use of any of these windows; None: not reported."""
        used = [w.utilization_ratio for w in self.windows if w.utilization_ratio is not None]
        return max(used, default=None)


@dataclass(frozen=True, slots=True)
class GatewayKey:
    """Models that one tenant gateway key serves, as pairs of catalog id and name there."""

    provider: str
    fingerprint: str
    upstream_id_by_model: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A model that an endpoint said it does not have."""

    provider: str
    fingerprint: str
    model_id: str
    expire_unix_s: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What can serve one installation at one version. Names no account and no secret."""

    installation_id: str
    version: str
    providers: tuple[ProviderColour, ...] = ()
    plans: tuple[PlanColour, ...] = ()
    is_gateway_exclusive: bool = False
    gateway_keys: tuple[GatewayKey, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    has_tenant_credentials: bool = False
    passed_over: tuple[str, ...] = ()
    """Fingerprints that selection would pass over now."""
