"""A stored credential without its secrets, and the evidence that upstreams left on it."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from services.credentials.model.mark import OVERAGE_INCLUDED, SOFT_MARKS, Mark, MarkKind, Subject
from services.domain.vocab import CredentialKind, CredentialOwner

PLAN_KINDS = frozenset(
    {CredentialKind.CLAUDE_OAUTH, CredentialKind.CODEX_OAUTH, CredentialKind.GEMINI_OAUTH}
)
"""Kinds that a subscription pays for."""


class SystemState(enum.StrEnum):
    """Names the state that the service gives a credential, apart from the operator's switch."""

    OK = "ok"
    NEEDS_LOGIN = "needs_login"
    INVALID_KEY = "invalid_key"
    QUARANTINED = "quarantined"


class Origin(enum.StrEnum):
    """Names where a credential comes from."""

    POOL = "pool"
    PROVIDER_KEY = "provider_key"
    STORED = "stored"


class OveragePolicy(enum.StrEnum):
    """Names what to do when a plan runs into paid overage."""

    LAST_RESORT = "last_resort"
    DENY = "deny"
    ALLOW = "allow"


class CoolingPolicy(enum.StrEnum):
    """Names whether quota rejections block a credential."""

    INHERIT = "inherit"
    ON = "on"
    OFF = "off"


class IdentityFormat(enum.StrEnum):
    """Names the format of the header by which an endpoint wants to know who asks."""

    EMAIL = "email"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class CredentialSpec:
    """Settings of a credential: what an operator or the configuration decides."""

    provider: str
    kind: CredentialKind
    installation_id: str = ""
    """Tenant that owns it; empty: the deployment."""
    label: str = field(default="", repr=False)
    account: str = field(default="", repr=False)
    is_enabled: bool = True
    priority: int | None = None
    weight: int | None = None
    model_ids: tuple[str, ...] = ()
    """Models it may serve; empty: all of its provider."""
    excluded_model_patterns: tuple[str, ...] = ()
    upstream_id_by_model: tuple[tuple[str, str], ...] = ()
    """Pairs of catalog id and name at its endpoint."""
    model_prefix: str = ""
    base_url: str = ""
    max_in_flight: int = 0
    max_in_flight_per_model: int = 0
    overage: OveragePolicy = OveragePolicy.LAST_RESORT
    cooling: CoolingPolicy = CoolingPolicy.INHERIT
    is_overage_window_family_scoped: bool = False
    is_quota_header_trusted: bool = False
    identity_header_name: str = ""
    identity_format: IdentityFormat | None = None
    order: int = 0
    """Place in the configuration file, for fill-first."""

    @property
    def effective_weight(self) -> int:
        """Weight for the weighted strategy; 0 takes it out."""
        return 1 if self.weight is None else self.weight

    @property
    def owner(self) -> CredentialOwner:
        """Whose it is."""
        return CredentialOwner.TENANT if self.installation_id else CredentialOwner.OPERATOR

    @property
    def is_plan(self) -> bool:
        """Whether a subscription pays."""
        return self.kind in PLAN_KINDS

    def alias(self, model_id: str) -> str:
        """Return the name of a catalog model at its endpoint; empty: none is set."""
        return next((name for model, name in self.upstream_id_by_model if model == model_id), "")


@dataclass(frozen=True, slots=True)
class Credential:
    """One stored credential as it is now, marks included, secrets not."""

    id: str = field(repr=False)
    """Identity; survives rotation and renaming. For operators only, never in logs."""
    spec: CredentialSpec
    origin: Origin
    fingerprint: str = ""
    """First 8 hex digits of a keyed hash of ``id``: the only name that logs use."""
    system_state: SystemState = SystemState.OK
    credential_version: int = 1
    """Version of its secret."""
    state_version: int = 1
    """Version of the whole record, for compare-and-set."""
    create_unix_s: float = 0.0
    update_unix_s: float = 0.0
    marks: tuple[Mark, ...] = ()
    bound_families: tuple[str, ...] = ()
    """Model families seen to draw on the window ``7d_oi``, in order."""
    trial_count: int = 0
    """Trials since it was last free of quota blocks."""
    trial_unix_s: float = 0.0
    """Instant of the last trial."""
    refresh_count: int = 0
    """Refreshes in a row that failed or did not move the expiry."""
    refresh_retry_unix_s: float = 0.0
    """Instant before which it is not refreshed again by time."""
    spent_digests: tuple[str, ...] = field(default=(), repr=False)
    """Keyed digests of its former refresh tokens, the latest last; none is ever sent again."""
    cache_key: str = field(default="", repr=False)
    """Names (``id``, ``credential_version``) at its endpoint, for whoever holds the secret."""
    secret_suffix: str = field(default="", repr=False)
    token_expire_unix_s: float | None = None
    is_cooling: bool = True
    """Whether quota marks block it, by its own setting or the service's."""
    default_priority: int = 0
    """Priority where its settings state none."""

    @property
    def priority(self) -> int:
        """Priority within a bucket, higher first."""
        stated = self.spec.priority
        return self.default_priority if stated is None else stated

    @property
    def is_usable(self) -> bool:
        """Whether it may be a candidate at all, whatever its marks."""
        return self.spec.is_enabled and self.system_state is SystemState.OK

    def active_marks(self, now_unix_s: float) -> tuple[Mark, ...]:
        """Return the marks that count now."""
        return tuple(mark for mark in self.marks if mark.is_active(now_unix_s))

    def is_concerned(self, mark: Mark, subject: Subject) -> bool:
        """Return whether a mark of it is about a model.

        A warning of ``7d_oi`` is about every model, or about the families seen to draw on that
        window where the settings say so; as long as none was seen, about all.
        """
        if (
            mark.window == OVERAGE_INCLUDED
            and mark.kind is MarkKind.WARNING
            and self.spec.is_overage_window_family_scoped
            and self.bound_families
        ):
            return subject.family in self.bound_families
        return mark.concerns(subject)

    def blocking_marks(self, subject: Subject, now_unix_s: float) -> tuple[Mark, ...]:
        """Return the hard marks that block a model now."""
        return tuple(
            mark
            for mark in self.marks
            if mark.kind not in SOFT_MARKS
            and (self.is_cooling or mark.kind is not MarkKind.QUOTA)
            and mark.concerns(subject)
            and mark.is_active(now_unix_s)
        )
