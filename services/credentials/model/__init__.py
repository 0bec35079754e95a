"""Frozen values of the credentials service."""

from __future__ import annotations

from services.credentials.model.credential import (
    CoolingPolicy,
    Credential,
    CredentialSpec,
    IdentityFormat,
    Mark,
    MarkKind,
    Origin,
    OveragePolicy,
    SystemState,
)
from services.credentials.model.eligibility import (
    Availability,
    Eligibility,
    GatewayKey,
    PlanStatus,
    ProviderColour,
    Refusal,
    Snapshot,
)
from services.credentials.model.grant import Bucket, Grant, Presented, PresentedIdentity
from services.credentials.model.pool import Pool
from services.credentials.model.record import AuditEntry, Record, Sealed, Stored
from services.credentials.model.report import EndKind, Phase, Report, ReportOutcome, Transition
from services.credentials.model.secret import Secrets
from services.credentials.model.selection import (
    BindingRef,
    Cursor,
    CursorKey,
    Decision,
    InFlight,
    Judged,
    Pick,
    Purpose,
    Query,
    Strategy,
    SuppressedPlan,
    Verdict,
)

__all__ = [
    "AuditEntry",
    "Availability",
    "BindingRef",
    "Bucket",
    "CoolingPolicy",
    "Credential",
    "CredentialSpec",
    "Cursor",
    "CursorKey",
    "Decision",
    "Eligibility",
    "EndKind",
    "GatewayKey",
    "Grant",
    "IdentityFormat",
    "InFlight",
    "Judged",
    "Mark",
    "MarkKind",
    "Origin",
    "OveragePolicy",
    "Phase",
    "Pick",
    "PlanStatus",
    "Pool",
    "Presented",
    "PresentedIdentity",
    "ProviderColour",
    "Purpose",
    "Query",
    "Record",
    "Refusal",
    "Report",
    "ReportOutcome",
    "Sealed",
    "Secrets",
    "Snapshot",
    "Stored",
    "Strategy",
    "SuppressedPlan",
    "SystemState",
    "Transition",
    "Verdict",
]
