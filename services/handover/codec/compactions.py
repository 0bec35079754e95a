"""Requests for a compaction, every field checked, and their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.common.v1 import attempt_pb2, conversation_pb2
from pointsman.handover.v1 import handover_pb2 as pb

from services.domain.errors import InvalidRequestError
from services.domain.fields import first_attempt
from services.handover.codec.enums import COMPACTION_OUTCOMES, FAMILIES, OUTCOMES
from services.handover.codec.requests import (
    MAX_SUMMARY_TOKENS,
    context_of,
    family_of,
    permit_of,
    scope_of,
    stored_of,
    summarizers_of,
)
from services.handover.codec.responses import stored_message, versions_of
from services.handover.model.compaction import (
    CLEAR_STEP,
    KEPT_MESSAGES,
    KEPT_RESULTS,
    Checkpoint,
    ClientBudget,
    CompactionLimits,
    CompactionOutcome,
    CompactionQuestion,
)

if TYPE_CHECKING:
    from services.handover.model.compaction import CompactionResult


def compaction_of(message: pb.CompactRequest) -> CompactionQuestion:
    """Return what is asked.

    Raises:
        InvalidRequestError: a field is missing or out of range; names its path.
    """
    context = context_of(message.action, message.eligibility)
    for field in ("features", "limits", "client_budget"):
        if not message.HasField(field):
            raise InvalidRequestError.of(field, "must be set")
    return CompactionQuestion(
        context=context,
        family=family_of(message.body),
        body=message.body.body,
        path_model=message.body.path_model,
        is_history_trimmed=message.features.is_history_trimmed,
        permit=permit_of(message.eligibility),
        limits=_limits(message.limits),
        budget=_budget(message.client_budget),
        summarizers=summarizers_of(message.summarizers),
        scope=scope_of(message.credential_scope),
        is_authoritative_policy=message.is_authoritative_policy,
        is_after_overflow=message.is_after_overflow,
        first_attempt_number=first_attempt(message.first_attempt_number, "first_attempt_number"),
        checkpoint=_checkpoint(message.checkpoint) if message.HasField("checkpoint") else None,
    )


def compaction_response(
    question: CompactionQuestion, result: CompactionResult, service_version: str
) -> pb.CompactResponse:
    """Return the answer; without a body the request's own goes on."""
    draft, checkpoint = result.draft, result.checkpoint
    message = pb.CompactResponse(
        outcome=COMPACTION_OUTCOMES[result.outcome],
        overflow_token_count=draft.tokens,
        is_summary_reverted=result.is_summary_reverted,
        summary_outcome=OUTCOMES[result.summary_outcome] if result.summary_outcome else None,
        checkpoint=_checkpoint_message(checkpoint) if checkpoint is not None else None,
        attempts=[attempt_pb2.AttemptRecord.FromString(row.record) for row in result.attempts],
        versions=versions_of(question.context, service_version),
    )
    if result.outcome is CompactionOutcome.APPLIED:
        message.body.CopyFrom(
            conversation_pb2.RequestBody(
                wire_family=FAMILIES[question.family],
                body=draft.body,
                path_model=question.path_model,
            )
        )
        message.cleared_tool_result_count = draft.cleared_results
        message.is_summarized = draft.is_summarized
        message.trimmed_message_count = draft.trimmed_messages
    return message


def _limits(message: pb.CompactionLimits) -> CompactionLimits:
    counts = {
        "max_window_token_count": message.max_window_token_count,
        "output_reserve_token_count": message.output_reserve_token_count,
        "clear_step_count": message.clear_step_count,
    }
    for field, count in counts.items():
        if count < 0:
            raise InvalidRequestError.of(f"limits.{field}", "must be 0 or more")
    if not 0 <= message.trigger_ratio <= 1:
        raise InvalidRequestError.of("limits.trigger_ratio", "must be 0 to 1")
    if not 0 <= message.max_summary_token_count <= MAX_SUMMARY_TOKENS:
        raise InvalidRequestError.of(
            "limits.max_summary_token_count", f"must be 0 to {MAX_SUMMARY_TOKENS}"
        )
    has_results = message.HasField("kept_tool_result_count")
    has_messages = message.HasField("kept_message_count")
    return CompactionLimits(
        max_window_tokens=message.max_window_token_count,
        trigger_ratio=message.trigger_ratio,
        output_reserve_tokens=message.output_reserve_token_count,
        kept_results=max(0, message.kept_tool_result_count) if has_results else KEPT_RESULTS,
        kept_messages=max(1, message.kept_message_count) if has_messages else KEPT_MESSAGES,
        max_summary_tokens=message.max_summary_token_count,
        clear_step=message.clear_step_count or CLEAR_STEP,
    )


def _budget(message: pb.ClientBudget) -> ClientBudget:
    if not message.evidence:
        raise InvalidRequestError.of(
            "client_budget.evidence", "must be set to a value of the contract"
        )
    if message.compact_threshold_token_count < 0:
        raise InvalidRequestError.of(
            "client_budget.compact_threshold_token_count", "must be 0 or more"
        )
    return ClientBudget(
        is_harness_default=message.evidence == pb.BUDGET_EVIDENCE_HARNESS_DEFAULT,
        compact_threshold_tokens=message.compact_threshold_token_count,
        is_deferral_allowed=message.is_deferral_allowed,
    )


def _checkpoint(message: pb.CompactionCheckpoint) -> Checkpoint:
    return Checkpoint(
        limits_digest=message.limits_digest,
        cleared_results=max(0, message.cleared_tool_result_count),
        summary=stored_of(message.summary) if message.HasField("summary") else None,
        kept_messages=max(0, message.kept_message_count),
    )


def _checkpoint_message(checkpoint: Checkpoint) -> pb.CompactionCheckpoint:
    summary = checkpoint.summary
    return pb.CompactionCheckpoint(
        summary=stored_message(summary) if summary is not None else None,
        kept_message_count=checkpoint.kept_messages,
        cleared_tool_result_count=checkpoint.cleared_results,
        limits_digest=checkpoint.limits_digest,
    )
