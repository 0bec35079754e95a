"""Grants, and the credentials that callers present with a request."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.credentials.model.credential import PLAN_KINDS

if TYPE_CHECKING:
    from services.credentials.model.eligibility import PlanColour
    from services.credentials.model.selection import BindingRef
    from services.domain.vocab import CredentialKind, CredentialOwner, WireFamily


class Bucket(enum.IntEnum):
    """Names a preference bucket; lower ones are exhausted first, before any priority."""

    CLEAN = 1
    WARNED = 2
    OVERAGE = 3
    LAST_RESORT = 4


BUCKET_WORDS = {bucket: bucket.name.lower() for bucket in Bucket}
"""What buckets are called where people read of them."""


@dataclass(frozen=True, slots=True)
class Presented:
    """A credential that a caller sent with its request; lives for that request alone."""

    secret: str = field(repr=False)
    surface: WireFamily
    account_id: str = field(default="", repr=False)
    is_plan_header: bool = False


@dataclass(frozen=True, slots=True)
class PresentedIdentity:
    """Names a presented credential without its secret."""

    presented_hash: str
    kind: CredentialKind
    provider: str


@dataclass(frozen=True, slots=True)
class PresentedState:
    """A presented credential, and what was learned about it while it was used here."""

    identity: PresentedIdentity
    plan: PlanColour | None
    """None: it is no plan."""
    blocked_until_unix_s: float | None
    """None: nothing blocks it, or it does not say until when."""
    is_blocked: bool
    is_warned: bool


@dataclass(frozen=True, slots=True)
class Grant:
    """The use of one credential for attempts of one action."""

    id: str
    action_id: str
    installation_id: str
    binding: BindingRef
    kind: CredentialKind
    owner: CredentialOwner
    bucket: Bucket
    credential_id: str = field(default="", repr=False)
    """Empty: the caller presented it."""
    credential_version: int = 0
    fingerprint: str = ""
    cache_key: str = field(default="", repr=False)
    presented_hash: str = ""
    why: str = ""
    expire_unix_s: float = 0.0

    @property
    def is_subscription_served(self) -> bool:
        """Whether a plan pays."""
        return self.kind in PLAN_KINDS


@dataclass(frozen=True, slots=True)
class Redemption:
    """What dispatch asks the secret of a grant with."""

    grant_id: str
    action_id: str
    installation_id: str
    rejected_version: int = 0
    """Version that an upstream has just refused; 0: none."""
    grant: Grant | None = None
    """The grant as it was given, for a replica that did not give it. None: it was not sent."""
