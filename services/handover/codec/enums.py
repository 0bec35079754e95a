"""Enums of the contract beside our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.common.v1 import action_pb2, attempt_pb2, grant_pb2
from pointsman.handover.v1 import handover_pb2 as pb

from services.domain.vocab import CredentialOwner, WireFamily
from services.handover.model import Outcome, Scope, SummaryKind
from services.handover.model.compaction import CompactionOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping

FAMILIES: Mapping[WireFamily, action_pb2.WireFamily] = {
    WireFamily.ANTHROPIC: action_pb2.WIRE_FAMILY_ANTHROPIC,
    WireFamily.OPENAI_CHAT: action_pb2.WIRE_FAMILY_OPENAI_CHAT,
    WireFamily.OPENAI_RESPONSES: action_pb2.WIRE_FAMILY_OPENAI_RESPONSES,
    WireFamily.GEMINI: action_pb2.WIRE_FAMILY_GEMINI,
}
FAMILY_OF: Mapping[int, WireFamily] = {number: family for family, number in FAMILIES.items()}

ATTEMPT_KINDS: Mapping[SummaryKind, attempt_pb2.AttemptKind] = {
    SummaryKind.SWITCH: attempt_pb2.ATTEMPT_KIND_SWITCH_SUMMARY,
    SummaryKind.CLIENT_TRIM: attempt_pb2.ATTEMPT_KIND_TRIM_SUMMARY,
    SummaryKind.COMPACTION: attempt_pb2.ATTEMPT_KIND_COMPACTION_SUMMARY,
}
KIND_OF: Mapping[int, SummaryKind] = {
    pb.SUMMARY_KIND_SWITCH: SummaryKind.SWITCH,
    pb.SUMMARY_KIND_CLIENT_TRIM: SummaryKind.CLIENT_TRIM,
}
SCOPE_OF: Mapping[int, Scope] = {
    pb.CREDENTIAL_SCOPE_DEPLOYMENT: Scope.DEPLOYMENT,
    pb.CREDENTIAL_SCOPE_TENANT: Scope.TENANT,
    pb.CREDENTIAL_SCOPE_CALLER: Scope.CALLER,
}
OWNER_OF: Mapping[int, CredentialOwner] = {
    grant_pb2.CREDENTIAL_OWNER_OPERATOR: CredentialOwner.OPERATOR,
    grant_pb2.CREDENTIAL_OWNER_TENANT: CredentialOwner.TENANT,
    grant_pb2.CREDENTIAL_OWNER_CALLER: CredentialOwner.CALLER,
}
OUTCOMES: Mapping[Outcome, pb.SummaryOutcome] = {
    Outcome.SUMMARIZED: pb.SUMMARY_OUTCOME_SUMMARIZED,
    Outcome.REUSED: pb.SUMMARY_OUTCOME_REUSED,
    Outcome.TIMEOUT: pb.SUMMARY_OUTCOME_TIMEOUT,
    Outcome.EMPTY: pb.SUMMARY_OUTCOME_EMPTY,
    Outcome.UPSTREAM_FAILED: pb.SUMMARY_OUTCOME_UPSTREAM_FAILED,
    Outcome.TENANT_BOUNDARY: pb.SUMMARY_OUTCOME_TENANT_BOUNDARY,
    Outcome.NO_MODEL: pb.SUMMARY_OUTCOME_NO_MODEL,
    Outcome.NOT_CONFIGURED: pb.SUMMARY_OUTCOME_NOT_CONFIGURED,
    Outcome.TOO_SMALL: pb.SUMMARY_OUTCOME_TOO_SMALL,
    Outcome.NO_USER_MESSAGE: pb.SUMMARY_OUTCOME_NO_USER_MESSAGE,
    Outcome.FAILED: pb.SUMMARY_OUTCOME_FAILED,
}
COMPACTION_OUTCOMES: Mapping[CompactionOutcome, pb.CompactionOutcome] = {
    CompactionOutcome.NOT_ENGAGED: pb.COMPACTION_OUTCOME_NOT_ENGAGED,
    CompactionOutcome.DEFERRED: pb.COMPACTION_OUTCOME_DEFERRED,
    CompactionOutcome.APPLIED: pb.COMPACTION_OUTCOME_APPLIED,
    CompactionOutcome.EXCEEDED: pb.COMPACTION_OUTCOME_CONTEXT_WINDOW_EXCEEDED,
}
