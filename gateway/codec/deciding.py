"""Messages of the scorer, the planner and handover, both ways."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pointsman.common.v1 import binding_pb2
from pointsman.handover.v1 import handover_pb2
from pointsman.planner.v1 import planner_pb2
from pointsman.scorer.v1 import scorer_pb2

from gateway.codec.attempts import (
    MOST_KEPT,
    binding_of,
    binding_ref,
    planned_binding,
    record_of,
)
from gateway.codec.eligibility import eligibility_record, write_record
from gateway.codec.enums import name_of
from gateway.codec.plan_facts import plan_facts
from gateway.codec.requests import action_context, request_body, request_features
from gateway.model.action import AS_TRAINED
from gateway.model.decision import (
    Candidate,
    CredentialScope,
    PlanAnswer,
    Score,
    SummaryAnswer,
)
from gateway.sessions.model import CacheState
from services.domain.errors import PeerError, Reason
from services.domain.pricing import list_price
from services.domain.vocab import ModelTier

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, MutableMapping

    from gateway.model import Action, BindingRef, EligibilityRecord
    from gateway.model.action import Knobs
    from gateway.model.decision import PlanQuestion, Prompt, Side, SummaryQuestion
    from services.domain.catalog import Binding
    from services.domain.fields import Fields

TIERS: Mapping[ModelTier, binding_pb2.ModelTier] = {
    tier: getattr(binding_pb2.ModelTier, f"MODEL_TIER_{tier.name}")
    for tier in ModelTier
    if tier is not ModelTier.UNKNOWN
}
CACHE_STATES: Mapping[CacheState, planner_pb2.CacheState] = {
    state: getattr(planner_pb2.CacheState, f"CACHE_STATE_{state.name}") for state in CacheState
}
SCOPES: Mapping[CredentialScope, handover_pb2.CredentialScope] = {
    scope: getattr(handover_pb2.CredentialScope, f"CREDENTIAL_SCOPE_{scope.name}")
    for scope in CredentialScope
}
_LABELS = {
    number: name.removeprefix("PLAN_REASON_").lower()
    for name, number in planner_pb2.PlanReason.items()
}
EVIDENCE_OF = {
    number: name.removeprefix("EVIDENCE_SOURCE_").lower()
    for name, number in scorer_pb2.EvidenceSource.items()
}
_ESTIMATED = EVIDENCE_OF[scorer_pb2.EVIDENCE_SOURCE_ESTIMATED]
_TIER_OF = {number: tier for tier, number in TIERS.items()}
_WITH_BODY = (handover_pb2.SUMMARY_OUTCOME_SUMMARIZED, handover_pb2.SUMMARY_OUTCOME_REUSED)


def score_request(
    action: Action,
    record: EligibilityRecord,
    prompt: Prompt,
    strategy: str,
    *,
    is_shadow: bool = False,
) -> scorer_pb2.ScoreRequest:
    """Return the question which model should serve; for a shadow, which one would."""
    request = scorer_pb2.ScoreRequest(
        action=action_context(action),
        features=request_features(action),
        prompt={
            "text": prompt.text,
            "first_text": prompt.first_text,
            "text_bytes": prompt.text_bytes,
        },
        strategy=strategy,
        knobs=_knobs(action.caller.knobs),
        mode=scorer_pb2.SCORE_MODE_SHADOW if is_shadow else scorer_pb2.SCORE_MODE_ACTING,
    )
    _write_factors(request.cost_factors, record.cost_factors)
    write_record(request.eligibility, record)
    return request


def _write_factors(
    factors: MutableMapping[str, float], by_model: Iterable[tuple[str, float]]
) -> None:
    """Write factors one by one: a map that is given whole goes through an update in Python."""
    for model_id, factor in by_model:
        factors[model_id] = factor


def _knobs(knobs: Knobs) -> scorer_pb2.RoutingKnobs | None:
    if knobs == AS_TRAINED:
        return None
    return scorer_pb2.RoutingKnobs(
        alpha_ratio=knobs.alpha,
        quality_bias_ratio=knobs.quality_bias,
        speed_weight_ratio=knobs.speed_weight,
        output_cost_multiplier=knobs.output_cost_ratio,
        expected_output_token_count=knobs.expected_output_tokens,
        is_verbosity_per_model=knobs.is_verbosity_per_model,
    )


def score_of(message: scorer_pb2.ScoreResponse) -> Score:
    """Return the scorer's answer.

    Raises:
        PeerError: there is no candidate in it.
    """
    if not message.candidates:
        raise PeerError(Reason.ROUTING_UNAVAILABLE, "the scorer named no model", retry_after_s=1.0)
    candidates = tuple(_candidate(each) for each in message.candidates)
    has_risks = any(each.risk is not None for each in candidates)
    return Score(
        candidates=candidates,
        reason=message.reason,
        artifact_version=message.versions.artifact_version,
        risk_price_micros=message.knobs.risk_price_micro_usd if has_risks else None,
    )


def fastest_request(action: Action, record: EligibilityRecord) -> scorer_pb2.ListCandidatesRequest:
    """Return the question which eligible model is the fastest."""
    return scorer_pb2.ListCandidatesRequest(
        page_size=1,
        eligibility=eligibility_record(record),
        features=request_features(action),
        is_eligible_only=True,
        order_by=scorer_pb2.CANDIDATE_ORDER_SPEED,
    )


def fastest_of(message: scorer_pb2.ListCandidatesResponse) -> BindingRef | None:
    """Return the first model of a list; None: it is empty."""
    return binding_of(message.models[0].binding) if message.models else None


def plan_request(action: Action, question: PlanQuestion) -> planner_pb2.PlanActionRequest:
    """Return the question whether to stay; what is not known is left out."""
    offer = question.offer
    request = planner_pb2.PlanActionRequest(
        action=action_context(action),
        pin={
            **_side(question.pin),
            "has_completed_action": question.has_completed_action,
            "cache_state": CACHE_STATES[question.pin_cache],
        },
        fresh=_side(question.fresh),
        input_token_count=question.input_tokens,
        cacheable_prefix_token_count=question.prefix_tokens,
        output_token_count=question.output_tokens,
        available_models={"model_ids": question.available_models},
        prices=[_price_row(row) for row in question.prices],
        summary={
            "input_token_count": offer.input_tokens,
            "cost_micro_usd": offer.cost_micros,
        }
        if offer is not None
        else None,
        overrides={"risk_price_micro_usd": question.risk_price_micros},
        catalog_version=question.catalog_version,
        config_version=question.config_version,
        eligibility_id=question.eligibility_id,
    )
    _write_factors(request.cost_factors, question.cost_factors)
    return request


def _side(side: Side) -> Fields:
    return {
        "binding": binding_ref(side.binding),
        "tier": TIERS.get(side.tier),
        "risk_ratio": side.risk,
        "mean_risk_ratio": side.mean_risk,
    }


def plan_answer(message: planner_pb2.PlanActionResponse) -> PlanAnswer:
    """Return the verdict; one that is not known here is STAY."""
    return PlanAnswer(
        is_switch=message.verdict == planner_pb2.VERDICT_SWITCH,
        label=_LABELS.get(message.reason, "unknown"),
        is_summary_chosen=message.value_sum.is_summary_chosen,
        facts=plan_facts(message),
    )


def summary_request(
    action: Action, record: EligibilityRecord, question: SummaryQuestion
) -> handover_pb2.SummarizeRequest:
    """Return the question for a summary, on a switch or after the client cut its history."""
    is_of_trim = question.is_of_trim
    return handover_pb2.SummarizeRequest(
        action=action_context(action),
        body=request_body(action),
        features=request_features(action),
        eligibility=eligibility_record(record),
        kind=(
            handover_pb2.SUMMARY_KIND_CLIENT_TRIM
            if is_of_trim
            else handover_pb2.SUMMARY_KIND_SWITCH
        ),
        from_binding=binding_ref(question.from_binding),
        to_binding=binding_ref(question.to_binding),
        summarizers=[planned_binding(each) for each in question.summarizers],
        credential_scope=SCOPES[question.scope],
        stored=handover_pb2.StoredSummary.FromString(question.stored) if question.stored else None,
        first_attempt_number=1,
    )


def summary_answer(message: handover_pb2.SummarizeResponse) -> SummaryAnswer:
    """Return what came of a summary; one whose outcome is not known failed."""
    return SummaryAnswer(
        outcome=name_of(handover_pb2.SummaryOutcome, message.outcome) or "failed",
        body=message.body.body if message.outcome in _WITH_BODY else b"",
        stored=message.stored.SerializeToString() if message.HasField("stored") else b"",
        attempts=tuple(record_of(attempt) for attempt in message.attempts),
    )


def _candidate(message: scorer_pb2.Candidate) -> Candidate:
    return Candidate(
        binding=binding_of(message.binding),
        tier=_TIER_OF.get(message.tier, ModelTier.UNKNOWN),
        score=message.score if message.HasField("score") else None,
        risk=message.risk_ratio if message.HasField("risk_ratio") else None,
        evidence=EVIDENCE_OF.get(message.evidence, _ESTIMATED),
        scored_as=message.scored_as,
        expected_cost_micros=(
            message.expected_cost_micro_usd if message.HasField("expected_cost_micro_usd") else None
        ),
    )


@lru_cache(maxsize=MOST_KEPT)
def _price_row(binding: Binding) -> binding_pb2.BindingPrice:
    """Return what a binding costs; what takes it into a larger message copies it."""
    return binding_pb2.BindingPrice(binding=binding_ref(binding), price=list_price(binding.price))
