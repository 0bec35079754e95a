"""What is known about credentials that callers present: in memory, under their keyed hash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.model import (
    NO_SUBJECT,
    PLAN_KINDS,
    Bucket,
    Credential,
    CredentialSpec,
    Origin,
    PresentedState,
)
from services.credentials.policy.evidence import observe
from services.credentials.policy.plans import plan_colour
from services.credentials.policy.standing import standing_of
from services.credentials.server.bounded import Bounded
from services.credentials.server.usages import Usages
from services.domain.vocab import CredentialOwner

if TYPE_CHECKING:
    from services.credentials.model import PresentedIdentity, Report
    from services.credentials.policy.evidence import Rules

MAX_PRESENTED = 10_000
MEMORY_S = 7 * 86_400.0


class PresentedBook:
    """Keeps marks of presented credentials; their secrets are never here, nor anything stored."""

    def __init__(self) -> None:
        self._known: Bounded[str, Credential] = Bounded(MAX_PRESENTED, MEMORY_S)
        self._usages = Usages(lambda: None)

    def state_of(self, identity: PresentedIdentity, now_s: float) -> PresentedState:
        """Return what is known about a credential that was presented."""
        known = self._meet(identity, now_s)
        standing = standing_of(known, NO_SUBJECT, now_s)
        plan = None
        if identity.kind in PLAN_KINDS:
            plan = plan_colour(
                identity.kind, CredentialOwner.CALLER, (known,), self._usages.of, now_s
            )
        return PresentedState(
            identity,
            plan,
            blocked_until_unix_s=standing.until_unix_s if standing.verdict else None,
            is_blocked=standing.verdict is not None,
            is_warned=standing.bucket is not Bucket.CLEAN,
        )

    def observe(self, report: Report, rules: Rules, now_s: float) -> None:
        """Apply a report to a credential that was presented here; another one is left alone."""
        known = self._known.get(report.presented_hash, now_s)
        if known is not None:
            step = observe(known, report, {}, rules, now_s)
            self._known.put(report.presented_hash, step.credential, now_s)
            self._usages.note(report.presented_hash, step.usage)

    def _meet(self, identity: PresentedIdentity, now_s: float) -> Credential:
        known = self._known.get(identity.presented_hash, now_s)
        if known is None:
            spec = CredentialSpec(identity.provider, identity.kind)
            known = Credential(identity.presented_hash, spec, Origin.STORED)
            self._known.put(identity.presented_hash, known, now_s)
        return known
