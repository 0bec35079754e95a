"""A decision as a JSON document for people and scripts, from the message of RouterService.

Enum values lose their prefix and are in lower case; money is in whole micro-USD.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.common.v1 import action_pb2, binding_pb2, eligibility_pb2
from pointsman.planner.v1 import planner_pb2
from pointsman.router.v1 import router_pb2
from pointsman.scorer.v1 import scorer_pb2

from gateway.codec.enums import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Document = dict[str, object]


def explanation(decision: router_pb2.RouteDecision) -> Document:
    """Return a decision and all that it rests on."""
    score, plan = decision.score, decision.plan_action
    costs = decision.HasField("expected_cost_micro_usd")
    requested = decision.HasField("requested_cost_micro_usd")
    return {
        "action_id": decision.action_id,
        "model": decision.binding.model_id,
        "provider": decision.binding.provider,
        "reason": decision.reason,
        "path": name_of(router_pb2.DecisionPath, decision.path),
        "verdict": name_of(planner_pb2.Verdict, decision.verdict) or None,
        "strategy": decision.strategy,
        "turn_type": name_of(action_pb2.TurnType, decision.turn_type),
        "requested_model": decision.requested_model,
        "plan": [_binding(planned.binding) for planned in decision.plan],
        "rescues": list(decision.rescue_model_ids),
        "expected_cost_micros": decision.expected_cost_micro_usd if costs else None,
        "requested_cost_micros": decision.requested_cost_micro_usd if requested else None,
        "candidates": [_candidate(each) for each in score.candidates],
        "runner_up": score.runner_up.binding.model_id or None,
        "knobs": _knobs(score.knobs) if score.HasField("knobs") else None,
        "text": _text(score) if score.HasField("evidence") else None,
        "dropped": [_dropped(each) for each in score.dropped],
        "filters": [_filter(each) for each in score.filters],
        "excluded": list(_excluded(decision.eligibility)),
        "planner": _plan(plan) if decision.HasField("plan_action") else None,
        "pin": _pin(decision.pin) if decision.HasField("pin") else None,
        "credential": _credential(decision) if decision.HasField("credential") else None,
        "shadow": _shadow(decision.shadow) if decision.HasField("shadow") else None,
        "versions": {
            field.name: getattr(decision.versions, field.name)
            for field in binding_pb2.Versions.DESCRIPTOR.fields
        },
    }


def _candidate(candidate: scorer_pb2.Candidate) -> Document:
    terms = candidate.terms if candidate.HasField("terms") else None
    return {
        **_binding(candidate.binding),
        "tier": name_of(binding_pb2.ModelTier, candidate.tier),
        "score": candidate.score if candidate.HasField("score") else None,
        "risk": candidate.risk_ratio if candidate.HasField("risk_ratio") else None,
        "evidence": name_of(scorer_pb2.EvidenceSource, candidate.evidence),
        "scored_as": candidate.scored_as,
        "expected_cost_micros": (
            candidate.expected_cost_micro_usd
            if candidate.HasField("expected_cost_micro_usd")
            else None
        ),
        "quality": terms.quality_ratio if terms is not None else None,
        "cost": terms.cost_ratio if terms is not None else None,
        "latency": terms.latency_ratio if terms is not None else None,
        "subscription_bonus": terms.subscription_bonus if terms is not None else None,
        "preference_bonus": terms.preference_bonus if terms is not None else None,
    }


def _knobs(knobs: scorer_pb2.EffectiveKnobs) -> Document:
    return {
        "risk_price_micros": knobs.risk_price_micro_usd,
        "speed_weight": knobs.speed_weight_ratio,
        "output_cost_ratio": knobs.output_cost_multiplier,
        "expected_output_tokens": knobs.expected_output_token_count,
        "is_verbosity_per_model": knobs.is_verbosity_per_model,
        "hash": knobs.knobs_hash,
    }


def _text(score: scorer_pb2.ScoreResponse) -> Document:
    """Return how well the text that decided is known; never the text."""
    evidence = score.evidence
    return {
        "bytes": evidence.embedded_bytes,
        "clusters": list(score.cluster_ids),
        "nearest_similarity": evidence.nearest_similarity,
        "unknown_share": evidence.unknown_token_ratio,
        "is_out_of_distribution": evidence.is_out_of_distribution,
    }


def _dropped(dropped: scorer_pb2.DroppedCandidate) -> Document:
    return {
        "model": dropped.model_id,
        "filter": name_of(scorer_pb2.CandidateFilter, dropped.filter),
        "layer": name_of(eligibility_pb2.ExclusionLayer, dropped.layer),
    }


def _filter(report: scorer_pb2.FilterReport) -> Document:
    return {
        "filter": name_of(scorer_pb2.CandidateFilter, report.filter),
        "before": report.before_count,
        "after": report.after_count,
        "is_skipped": report.is_skipped,
    }


def _excluded(record: eligibility_pb2.EligibilityRecord) -> Iterable[Document]:
    """Yield every model, binding and provider that a layer removed, each once."""
    for models in (
        record.excluded_models,
        record.safety_excluded_models,
        record.requirement_excluded_models,
    ):
        for one in models:
            yield {"model": one.model_id, "layer": _layer(one.layer)}
    for binding in record.excluded_bindings:
        yield {
            "model": binding.model_id,
            "provider": binding.provider,
            "layer": _layer(binding.layer),
        }
    for provider in record.excluded_providers:
        yield {"provider": provider.provider, "layer": _layer(provider.layer)}


def _plan(plan: planner_pb2.PlanActionResponse) -> Document:
    inputs = plan.inputs
    document: Document = {
        "verdict": name_of(planner_pb2.Verdict, plan.verdict),
        "reason": name_of(planner_pb2.PlanReason, plan.reason),
        "economics": name_of(planner_pb2.Economics, plan.economics),
        "input_tokens": inputs.input_token_count,
        "cached_tokens": inputs.cacheable_prefix_token_count,
        "is_cold": inputs.is_cold,
        "remaining_actions": inputs.remaining_action_count,
        "threshold_micros": inputs.threshold_micro_usd,
    }
    if plan.HasField("value_sum"):
        document["stay_micros"] = plan.value_sum.stay_micro_usd
        document["switch_micros"] = plan.value_sum.switch_micro_usd
        document["quality_micros"] = plan.value_sum.quality_micro_usd
        document["value_micros"] = plan.value_sum.value_micro_usd
        document["is_summary_chosen"] = plan.value_sum.is_summary_chosen
    elif plan.HasField("expected_value"):
        document["savings_micros"] = plan.expected_value.savings_micro_usd
        document["eviction_micros"] = plan.expected_value.eviction_micro_usd
        document["value_micros"] = plan.expected_value.expected_value_micro_usd
    return document


def _shadow(shadow: router_pb2.ShadowDecision) -> Document:
    is_priced = shadow.HasField("expected_cost_micro_usd")
    return {
        **_binding(shadow.binding),
        "strategy": shadow.strategy,
        "reason": shadow.reason,
        "expected_cost_micros": shadow.expected_cost_micro_usd if is_priced else None,
    }


def _pin(pin: planner_pb2.Pin) -> Document:
    return {
        **_binding(pin.binding),
        "cache": name_of(planner_pb2.CacheState, pin.cache_state) or "warm",
    }


def _credential(decision: router_pb2.RouteDecision) -> Mapping[str, object]:
    found = decision.credential
    has_binding = 0 <= found.plan_index < len(decision.plan)
    provider = decision.plan[found.plan_index].binding.provider if has_binding else None
    return {
        "fingerprint": found.fingerprint or None,
        "provider": provider,
        "denial": found.denial_reason or None,
    }


def _binding(binding: binding_pb2.BindingRef) -> Document:
    return {"model": binding.model_id, "provider": binding.provider}


def _layer(number: int) -> str:
    return name_of(eligibility_pb2.ExclusionLayer, number)
