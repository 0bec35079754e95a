"""Everything that scorer and plan know reaches the document of an explanation."""

from __future__ import annotations

import orjson
import pytest
from pointsman.common.v1 import binding_pb2
from pointsman.router.v1 import router_pb2
from pointsman.scorer.v1 import scorer_pb2

from gateway.codec.explanation import explanation
from gateway.codec.router import route_decision
from gateway.model import Plan, Rescue, RescueCause
from gateway.model.decision import Candidate, CredentialScope, Decision, DecisionPath, Score
from gateway.model.explained import Explained
from services.domain.vocab import ModelTier
from tests.fakes.deciding import binding_of
from tests.unit.gateway.deciding.made import CATALOG, action, record

BODY = orjson.dumps({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]})
LARGE, MIDDLE, SMALL = (binding_of(CATALOG, name) for name in ("large", "middle", "small"))
BORROWED = Candidate(
    MIDDLE, ModelTier.MID, 0.5, 0.1, "borrowed", scored_as="older", expected_cost_micros=12
)


def explained() -> Explained:
    rescues = (
        Rescue(RescueCause.BASELINE, (SMALL, LARGE)),
        Rescue(RescueCause.LARGER_WINDOW, (LARGE,)),
        Rescue(RescueCause.SIBLING, (SMALL,)),
    )
    plan = Plan(bindings=(MIDDLE,), rescues=rescues)
    scope = CredentialScope.DEPLOYMENT
    score = Score((BORROWED,), "cluster:b", "b", risk_price_micros=250_000)
    decision = Decision(record(), plan, "cluster:b", DecisionPath.SCORED, scope, score=score)
    return Explained(action(BODY), decision, "cluster", 1_000.0)


def scored() -> scorer_pb2.ScoreResponse:
    terms = scorer_pb2.ScoreTerms(
        quality_ratio=0.9, cost_ratio=0.25, subscription_bonus=0.5, preference_bonus=0.125
    )
    pick, other = (
        scorer_pb2.Candidate(
            binding=binding_pb2.BindingRef(model_id=name, provider="p1"),
            scored_as="older",
            evidence=scorer_pb2.EVIDENCE_SOURCE_BORROWED,
            terms=terms,
        )
        for name in ("middle", "small")
    )
    return scorer_pb2.ScoreResponse(
        pick=pick,
        runner_up=other,
        candidates=[pick, other],
        cluster_ids=[7, 2],
        knobs=scorer_pb2.EffectiveKnobs(
            risk_price_micro_usd=250_000, expected_output_token_count=400, knobs_hash="h"
        ),
        evidence=scorer_pb2.ScoreEvidence(
            embedded_bytes=9, nearest_similarity=0.5, is_out_of_distribution=True
        ),
    )


def test_a_document_tells_all_that_the_scorer_said() -> None:
    document = explanation(router_pb2.RouteDecision(score=scored(), rescue_model_ids=["small"]))
    candidates = document["candidates"]
    assert isinstance(candidates, list)
    first = candidates[0]
    assert (first["scored_as"], first["evidence"]) == ("older", "borrowed")
    assert (first["subscription_bonus"], first["preference_bonus"]) == (0.5, 0.125)
    assert (document["runner_up"], document["rescues"]) == ("small", ["small"])
    assert document["knobs"] == {
        "risk_price_micros": 250_000,
        "speed_weight": 0.0,
        "output_cost_ratio": 0.0,
        "expected_output_tokens": 400,
        "is_verbosity_per_model": False,
        "hash": "h",
    }
    assert document["text"] == {
        "bytes": 9,
        "clusters": [7, 2],
        "nearest_similarity": 0.5,
        "unknown_share": 0.0,
        "is_out_of_distribution": True,
    }


def test_where_nobody_scored_nothing_is_made_up() -> None:
    document = explanation(router_pb2.RouteDecision())
    assert (document["runner_up"], document["knobs"], document["text"]) == (None, None, None)
    assert (document["rescues"], document["candidates"]) == ([], [])


@pytest.mark.parametrize("wants_explanation", [True, False])
def test_a_decision_names_the_models_that_may_come_to_the_rescue(wants_explanation: bool) -> None:
    told = route_decision(explained(), "1.0", wants_explanation=wants_explanation)
    assert list(told.rescue_model_ids) == ["small", "large"]


def test_a_live_decision_tells_whose_outcomes_stand_for_a_model_and_the_price_of_risk() -> None:
    told = route_decision(explained(), "1.0", wants_explanation=True).score
    assert (told.pick.scored_as, told.candidates[0].scored_as) == ("older", "older")
    assert told.pick.evidence == scorer_pb2.EVIDENCE_SOURCE_BORROWED
    assert told.knobs.risk_price_micro_usd == 250_000
