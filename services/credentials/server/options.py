"""What the service is told once, when it is built."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.credentials.policy.defaults import Defaults
from services.credentials.policy.evidence import Rules
from services.credentials.policy.selection import Terms
from services.credentials.policy.trial import Trials

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.credentials.model import TokenClient
    from services.credentials.policy.declared import Declared
    from services.domain.vocab import CredentialKind, WireFamily


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the service as values; times in seconds."""

    families: Mapping[str, WireFamily]
    """Dialect of every provider that is known."""
    declared: tuple[Declared, ...] = field(default=(), repr=False)
    """Credentials that configuration states."""
    terms: Terms = field(default_factory=Terms)
    """How one of several is chosen."""
    rules: Rules = field(default_factory=Rules)
    """How evidence becomes marks."""
    trials: Trials = field(default_factory=Trials)
    """When a blocked credential may be tried."""
    transient_s: float = 60.0
    """How long a failure of the provider's sets a credential back; 0: not at all."""
    token_urls: Mapping[CredentialKind, str] = field(default_factory=dict)
    """Where tokens of each kind of account are refreshed."""
    token_clients: Mapping[CredentialKind, TokenClient] = field(default_factory=dict)
    """The program that accounts of each kind were logged in with."""
    defaults: Defaults = field(default_factory=Defaults)
    """What holds for credentials that do not say it themselves."""
    is_affinity_on: bool = True
    affinity_ttl_s: float = 3_600.0
    lease_ttl_s: float = 60.0
    orphan_wait_s: float = 8.0
    """How long another replica may take to store what it was answered before it fell silent."""
    poll_s: float = 1.0
    """How often the store is asked whether another process wrote; 0: never."""
    sign_of_life_s: float = 15.0
