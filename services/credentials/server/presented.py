"""What is known about credentials that callers present: in memory, under their keyed hash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.model import Credential, CredentialSpec, Origin
from services.credentials.policy.evidence import observe
from services.credentials.server.bounded import Bounded

if TYPE_CHECKING:
    from services.credentials.model import PresentedIdentity, Report
    from services.credentials.policy.evidence import Rules

MAX_PRESENTED = 10_000
MEMORY_S = 7 * 86_400.0


class PresentedBook:
    """Keeps marks of presented credentials; their secrets are never here, nor anything stored."""

    def __init__(self) -> None:
        self._known: Bounded[str, Credential] = Bounded(MAX_PRESENTED, MEMORY_S)

    def meet(self, identity: PresentedIdentity, now_s: float) -> Credential:
        """Return what is known about a credential that was presented."""
        known = self._known.get(identity.presented_hash, now_s)
        if known is None:
            spec = CredentialSpec(identity.provider, identity.kind)
            known = Credential(identity.presented_hash, spec, Origin.STORED)
            self._known.put(identity.presented_hash, known, now_s)
        return known

    def observe(self, report: Report, rules: Rules, now_s: float) -> None:
        """Apply a report to a credential that was presented here; another one is left alone."""
        known = self._known.get(report.presented_hash, now_s)
        if known is not None:
            after = observe(known, report, {}, rules, now_s).credential
            self._known.put(report.presented_hash, after, now_s)
