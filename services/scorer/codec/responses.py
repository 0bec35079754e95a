"""Writes answers; money is rounded here, after it was compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from google.protobuf import duration_pb2
from pointsman.scorer.v1 import scorer_pb2 as pb

from services.domain.errors import RouterError
from services.domain.fields import micro_usd
from services.scorer.codec import enums
from services.scorer.model.decision import (
    Candidate,
    ChosenBinding,
    Decision,
    Dropped,
    EffectiveKnobs,
    Filter,
    FilterReport,
    Refusal,
    Terms,
)

if TYPE_CHECKING:
    from services.domain.fields import Fields
    from services.scorer.codec.requests import Asked
    from services.scorer.model.artifact import TextVector
    from services.scorer.model.question import Eligibility

CACHE_SIMILARITY = 0.95
"""Cosine above which the response cache may reuse an answer."""
MOST_REASON = 200


@dataclass(frozen=True, slots=True)
class Identity:
    """What an answer was made with."""

    service_version: str
    catalog_version: str
    artifact_version: str
    artifact_digest: str


@dataclass(frozen=True, slots=True)
class Watch:
    """Where the time went, in seconds."""

    embed_s: float
    score_s: float
    is_cached: bool


def error_of(refusal: Refusal) -> RouterError:
    """Return the error for a request that nothing may serve."""
    metadata = {"layers": ",".join(refusal.layers)} if refusal.layers else {}
    return RouterError(refusal.reason, refusal.message, metadata=metadata)


def scored(
    decision: Decision,
    asked: Asked,
    vector: TextVector,
    identity: Identity,
    watch: Watch,
    unmeasured: tuple[str, ...],
) -> pb.ScoreResponse:
    """Return the answer; ``unmeasured`` are models that the artifact cannot speak for."""
    candidates = [_candidate(entry) for entry in decision.candidates]
    if asked.effort:
        candidates[0] = {**candidates[0], "effort": asked.effort}
    clusters = decision.cluster_ids
    answer = pb.ScoreResponse(
        pick=candidates[0],
        candidates=candidates,
        reason=_reason(decision, identity),
        propensity_ratio=1.0,
        cluster_ids=clusters,
        knobs=_knobs(decision.knobs),
        versions=versions(identity, asked.question.eligibility),
    )
    if asked.wants_embedding:
        answer.embedding.extend(vector.unit.tolist())
        answer.cache_similarity_ratios.extend([CACHE_SIMILARITY] * len(clusters))
    if asked.is_brief:
        return answer
    if len(candidates) > 1:
        answer.runner_up.CopyFrom(answer.candidates[1])
    dropped = [*decision.pool.dropped, *(Dropped(m, Filter.UNMEASURED) for m in unmeasured)]
    answer.dropped.extend(map(_dropped, dropped))
    answer.filters.extend(map(_report, decision.pool.reports))
    answer.evidence.CopyFrom(_evidence(decision, vector, watch))
    answer.timing.CopyFrom(_timing(watch))
    return answer


def versions(identity: Identity, eligibility: Eligibility) -> Fields:
    """Return the data that an answer was made with."""
    return {
        "service_version": identity.service_version,
        "catalog_version": identity.catalog_version,
        "config_version": eligibility.config_version,
        "artifact_version": identity.artifact_version,
        "artifact_digest": identity.artifact_digest,
        "eligibility_id": eligibility.record_id,
    }


def _reason(decision: Decision, identity: Identity) -> str:
    """Return the short machine text that explains a decision."""
    pick = decision.pick.binding
    clusters = ",".join(map(str, decision.cluster_ids))
    said = f"cluster:{identity.artifact_version}:{clusters}:{pick.model_id}:{pick.provider}"
    return said[:MOST_REASON]


def binding(chosen: ChosenBinding) -> Fields:
    """Return a binding as the contract names it."""
    return {
        "model_id": chosen.model_id,
        "provider": chosen.provider,
        "upstream_id": chosen.upstream_id,
        "binding_index": chosen.index,
    }


def _candidate(entry: Candidate) -> Fields:
    deployed = entry.deployed
    return {
        "binding": binding(entry.binding),
        "score": entry.score,
        "risk_ratio": entry.risk,
        "evidence": enums.EVIDENCE[deployed.evidence],
        "scored_as": deployed.scored_as,
        "tier": enums.TIERS[deployed.model.tier],
        "expected_cost_micro_usd": micro_usd(entry.cost_usd),
        "terms": None if entry.terms is None else _terms(entry.terms),
    }


def _terms(terms: Terms) -> pb.ScoreTerms:
    return pb.ScoreTerms(
        quality_ratio=terms.quality,
        cost_ratio=terms.cost,
        latency_ratio=terms.latency,
        subscription_bonus=terms.subscription_bonus,
        preference_bonus=terms.preference_bonus,
    )


def _dropped(entry: Dropped) -> pb.DroppedCandidate:
    return pb.DroppedCandidate(
        model_id=entry.model_id,
        filter=enums.FILTERS[entry.filter],
        layer=None if entry.layer is None else enums.LAYERS[entry.layer],
    )


def _report(entry: FilterReport) -> pb.FilterReport:
    return pb.FilterReport(
        filter=enums.FILTERS[entry.filter],
        before_count=entry.before,
        after_count=entry.after,
        is_skipped=entry.is_skipped,
    )


def _evidence(decision: Decision, vector: TextVector, watch: Watch) -> pb.ScoreEvidence:
    return pb.ScoreEvidence(
        embedded_bytes=vector.embedded_bytes,
        unknown_token_ratio=vector.unknown_share,
        nearest_similarity=decision.nearest_similarity,
        is_out_of_distribution=decision.is_far,
        is_embedding_cached=watch.is_cached,
    )


def _timing(watch: Watch) -> pb.ScoreTiming:
    return pb.ScoreTiming(
        queue=duration_pb2.Duration(), embed=_span(watch.embed_s), score=_span(watch.score_s)
    )


def _knobs(knobs: EffectiveKnobs) -> Fields:
    return {
        "alpha_ratios": knobs.alpha,
        "speed_weight_ratio": knobs.speed_weight,
        "output_cost_multiplier": knobs.output_cost_ratio,
        "expected_output_token_count": knobs.expected_output_tokens,
        "is_verbosity_per_model": knobs.is_verbosity_per_model,
        "risk_price_micro_usd": micro_usd(knobs.risk_price_usd),
        "knobs_hash": knobs.hash,
    }


def _span(seconds: float) -> duration_pb2.Duration:
    whole, nanos = divmod(round(seconds * 1e9), 1_000_000_000)
    return duration_pb2.Duration(seconds=whole, nanos=nanos)
