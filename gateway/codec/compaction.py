"""Messages about conversations that outgrow the windows, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.handover.v1 import handover_pb2 as pb

from gateway.codec.attempts import planned_binding, record_of
from gateway.codec.deciding import SCOPES
from gateway.codec.eligibility import eligibility_record
from gateway.codec.requests import action_context, request_body, request_features
from gateway.model.compaction import BudgetEvidence, CompactionAnswer, CompactionOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.model import Action, EligibilityRecord
    from gateway.model.compaction import ClientBudget, CompactionQuestion

EVIDENCE: Mapping[BudgetEvidence, pb.BudgetEvidence] = {
    each: getattr(pb, f"BUDGET_EVIDENCE_{each.name}") for each in BudgetEvidence
}
_OUTCOMES: Mapping[int, CompactionOutcome] = {
    pb.COMPACTION_OUTCOME_DEFERRED: CompactionOutcome.DEFERRED,
    pb.COMPACTION_OUTCOME_APPLIED: CompactionOutcome.APPLIED,
    pb.COMPACTION_OUTCOME_CONTEXT_WINDOW_EXCEEDED: CompactionOutcome.EXCEEDED,
}


def compaction_request(
    action: Action, record: EligibilityRecord, question: CompactionQuestion
) -> pb.CompactRequest:
    """Return the question for a conversation that fits."""
    limits, checkpoint = question.limits, question.checkpoint
    return pb.CompactRequest(
        action=action_context(action),
        body=request_body(action),
        features={
            **request_features(action),
            "is_history_trimmed": question.is_history_trimmed,
        },
        eligibility=eligibility_record(record),
        limits=pb.CompactionLimits(
            max_window_token_count=limits.window_tokens,
            trigger_ratio=limits.trigger_ratio,
            output_reserve_token_count=limits.reserve_tokens,
        ),
        client_budget=_budget(question.budget),
        summarizers=[planned_binding(each) for each in question.summarizers],
        credential_scope=SCOPES[question.scope],
        checkpoint=pb.CompactionCheckpoint.FromString(checkpoint) if checkpoint else None,
        first_attempt_number=1,
        is_after_overflow=question.is_after_overflow,
    )


def compaction_answer(message: pb.CompactResponse) -> CompactionAnswer:
    """Return what came of it; an outcome that is not known leaves the conversation alone."""
    outcome = _OUTCOMES.get(message.outcome, CompactionOutcome.NOT_ENGAGED)
    is_applied = outcome is CompactionOutcome.APPLIED
    return CompactionAnswer(
        outcome=outcome,
        body=message.body.body if is_applied else b"",
        checkpoint=(
            message.checkpoint.SerializeToString()
            if is_applied and message.HasField("checkpoint")
            else b""
        ),
        attempts=tuple(record_of(attempt) for attempt in message.attempts),
    )


def _budget(budget: ClientBudget) -> pb.ClientBudget:
    return pb.ClientBudget(
        evidence=EVIDENCE[budget.evidence],
        compact_threshold_token_count=budget.threshold_tokens,
        is_deferral_allowed=budget.may_defer,
    )
