"""Messages of RouterService: what it is asked, and decisions as it states them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.common.v1 import binding_pb2
from pointsman.planner.v1 import planner_pb2
from pointsman.router.v1 import router_pb2
from pointsman.scorer.v1 import scorer_pb2

from gateway.codec.attempts import binding_ref, planned_binding
from gateway.codec.deciding import CACHE_STATES, EVIDENCE_OF, TIERS
from gateway.codec.eligibility import eligibility_record, timestamp, versions
from gateway.codec.enums import FAMILY_OF, TURN_TYPES
from gateway.model.decision import DecisionPath
from gateway.model.explained import AssumedPin
from gateway.sessions.model import CacheState
from services.domain.errors import InvalidRequestError
from services.domain.vocab import WireFamily
from services.domain.wire.model import Address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.model import Decision, Plan
    from gateway.model.decision import Candidate, Score
    from gateway.model.explained import Explained, Shadowed, ShadowPick

MOST_HEADERS = 64
PATHS: Mapping[DecisionPath, router_pb2.DecisionPath] = {
    path: getattr(router_pb2.DecisionPath, f"DECISION_PATH_{path.name}") for path in DecisionPath
}
_CACHE_OF: Mapping[int, CacheState] = {number: state for state, number in CACHE_STATES.items()}
_VERDICTS: Mapping[DecisionPath, planner_pb2.Verdict] = {
    DecisionPath.STAY: planner_pb2.VERDICT_STAY,
    DecisionPath.SWITCH: planner_pb2.VERDICT_SWITCH,
}
_EVIDENCE: Mapping[str, scorer_pb2.EvidenceSource] = {
    name: getattr(scorer_pb2.EvidenceSource, f"EVIDENCE_SOURCE_{name.upper()}")
    for name in EVIDENCE_OF.values()
}
_UNPLANNED = "stay_same_model"
"""Reason of a STAY that needed no planner."""
_CREDENTIALS = frozenset({"authorization", "x-api-key", "x-goog-api-key", "x-router-key", "cookie"})


def surface_of(request: router_pb2.RouteRequest) -> WireFamily:
    """Return the dialect of a body.

    Raises:
        InvalidRequestError: it is not said.
    """
    family = FAMILY_OF.get(request.surface)
    if family is None:
        raise InvalidRequestError.of("surface", "name the dialect of the body")
    return family


def address_of(request: router_pb2.RouteRequest) -> Address | None:
    """Return what the path of the request would say; None: the dialect says all in the body."""
    if FAMILY_OF.get(request.surface) is not WireFamily.GEMINI:
        return None
    return Address(request.path_model)


def headers_of(request: router_pb2.RouteRequest) -> dict[str, str]:
    """Return the headers that a client would send.

    Raises:
        InvalidRequestError: there are too many, one is not in lower case, or is a credential.
    """
    if len(request.headers) > MOST_HEADERS:
        raise InvalidRequestError.of("headers", f"send at most {MOST_HEADERS}")
    found: dict[str, str] = {}
    for index, header in enumerate(request.headers):
        name = header.name
        if not name or name != name.lower():
            raise InvalidRequestError.of(f"headers.{index}.name", "write it in lower case")
        if name in _CREDENTIALS:
            raise InvalidRequestError.of(f"headers.{index}.name", "credentials have no place here")
        found[name] = header.value
    return found


def pin_of(request: router_pb2.RouteRequest) -> AssumedPin | None:
    """Return the pin to assume; None: the session's first action.

    Raises:
        InvalidRequestError: it names no binding, or a value that is not in its range.
    """
    if not request.HasField("pin"):
        return None
    pin = request.pin
    for name in ("model_id", "provider"):
        if not getattr(pin.binding, name):
            raise InvalidRequestError.of(f"pin.binding.{name}", "must be set")
    if pin.HasField("cache_state") and pin.cache_state not in _CACHE_OF:
        raise InvalidRequestError.of("pin.cache_state", "must be WARM, COLD or BROKEN")
    for name in ("risk_ratio", "mean_risk_ratio"):
        if pin.HasField(name) and not 0.0 <= getattr(pin, name) <= 1.0:
            raise InvalidRequestError.of(f"pin.{name}", "must lie in [0, 1]")
    return AssumedPin(
        model_id=pin.binding.model_id,
        provider=pin.binding.provider,
        has_completed_action=pin.has_completed_action,
        cache=_CACHE_OF[pin.cache_state] if pin.HasField("cache_state") else None,
        wire=pin.SerializeToString(),
    )


def assumed_pin(model_id: str, provider: str) -> AssumedPin:
    """Return a pin of which no more is known than what served."""
    message = planner_pb2.Pin(
        binding=binding_pb2.BindingRef(model_id=model_id, provider=provider),
        has_completed_action=True,
    )
    return AssumedPin(model_id, provider, wire=message.SerializeToString())


def route_decision(
    explained: Explained, service_version: str, *, wants_explanation: bool
) -> router_pb2.RouteDecision:
    """Return a decision as it is told to clients."""
    action, decision, costs = explained.action, explained.decision, explained.costs
    record = decision.record
    message = router_pb2.RouteDecision(
        action_id=action.id,
        decide_time=timestamp(explained.decide_unix_s),
        turn_type=TURN_TYPES[action.turn_type],
        requested_model=action.features.requested_model,
        binding=binding_ref(decision.plan.bindings[0]),
        plan=[planned_binding(binding) for binding in decision.plan.bindings],
        rescue_model_ids=_rescue_models(decision.plan),
        reason=decision.reason,
        path=PATHS[decision.path],
        strategy=explained.strategy,
        score=_score(explained, wants_explanation=wants_explanation),
        pin=_pin(explained),
        expected_cost_micro_usd=costs.served,
        requested_cost_micro_usd=costs.requested,
        versions=versions(record, service_version),
        verdict=_verdict(decision),
        installation_id=action.caller.installation_id,
        shadow=_shadow(explained.shadow) if explained.shadow is not None else None,
    )
    if message.HasField("score"):
        message.versions.artifact_version = message.score.versions.artifact_version
        message.versions.artifact_digest = message.score.versions.artifact_digest
    if explained.working.plan:
        message.plan_action.MergeFromString(explained.working.plan)
        message.verdict = message.plan_action.verdict
    if wants_explanation:
        message.eligibility.CopyFrom(eligibility_record(record))
        message.eligibility.ClearField("presented_hashes")
        if explained.credential is not None:
            message.credential.CopyFrom(
                router_pb2.CredentialPreview(
                    fingerprint=explained.credential.fingerprint,
                    plan_index=explained.credential.plan_index,
                    denial_reason=explained.credential.denial,
                )
            )
    return message


def shadow_notice(shadowed: Shadowed) -> router_pb2.ShadowNotice:
    """Return what tells of a shadow decision."""
    return router_pb2.ShadowNotice(
        action_id=shadowed.action_id,
        installation_id=shadowed.installation_id,
        shadow=_shadow(shadowed.shadow),
    )


def _shadow(pick: ShadowPick) -> router_pb2.ShadowDecision:
    return router_pb2.ShadowDecision(
        strategy=pick.strategy,
        binding=binding_ref(pick.binding),
        reason=pick.reason,
        expected_cost_micro_usd=pick.expected_cost_micros,
    )


def _rescue_models(plan: Plan) -> list[str]:
    models = (rescue.bindings[0].model_id for rescue in plan.rescues)
    return list(dict.fromkeys(models))


def _pin(explained: Explained) -> planner_pb2.Pin | None:
    return planner_pb2.Pin.FromString(explained.pin.wire) if explained.pin is not None else None


def _verdict(decision: Decision) -> planner_pb2.Verdict:
    if decision.reason == _UNPLANNED:
        return planner_pb2.VERDICT_UNSPECIFIED
    return _VERDICTS.get(decision.path, planner_pb2.VERDICT_UNSPECIFIED)


def _score(explained: Explained, *, wants_explanation: bool) -> scorer_pb2.ScoreResponse | None:
    """Return the scorer's answer, else what the decision has of it; None: it was not asked."""
    score = explained.decision.score
    if explained.working.score:
        message = scorer_pb2.ScoreResponse.FromString(explained.working.score)
    elif score is not None:
        message = _score_of(score)
    else:
        return None
    if not wants_explanation:
        for name in ("candidates", "dropped", "filters", "embedding"):
            message.ClearField(name)
        message.pick.ClearField("terms")
        if message.HasField("runner_up"):
            message.runner_up.ClearField("terms")
    return message


def _score_of(score: Score) -> scorer_pb2.ScoreResponse:
    candidates = [_candidate(each) for each in score.candidates]
    return scorer_pb2.ScoreResponse(
        pick=candidates[0],
        runner_up=candidates[1] if len(candidates) > 1 else None,
        candidates=candidates,
        reason=score.reason,
        knobs=scorer_pb2.EffectiveKnobs(risk_price_micro_usd=score.risk_price_micros)
        if score.risk_price_micros is not None
        else None,
        versions=binding_pb2.Versions(artifact_version=score.artifact_version),
    )


def _candidate(candidate: Candidate) -> scorer_pb2.Candidate:
    return scorer_pb2.Candidate(
        binding=binding_ref(candidate.binding),
        score=candidate.score,
        risk_ratio=candidate.risk,
        evidence=_EVIDENCE.get(candidate.evidence),
        scored_as=candidate.scored_as,
        tier=TIERS.get(candidate.tier),
        expected_cost_micro_usd=candidate.expected_cost_micros,
    )
