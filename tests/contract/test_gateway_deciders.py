"""The clients of scorer, planner and handover against scripted servicers, on every transport."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any  # servers of both kinds take a servicer by duck type

import grpc
import pytest
from pointsman.common.v1 import binding_pb2
from pointsman.handover.v1 import handover_pb2, handover_pb2_grpc
from pointsman.planner.v1 import planner_pb2, planner_pb2_grpc
from pointsman.scorer.v1 import scorer_pb2, scorer_pb2_grpc

from gateway.adapters.handover import HandoverClient
from gateway.adapters.planner import PLAN_TIMEOUT_S, PlannerClient
from gateway.adapters.scorer import ScorerClient
from gateway.model import Action
from gateway.model.decision import (
    CredentialScope,
    PlanQuestion,
    Prompt,
    Side,
    SummaryQuestion,
)
from gateway.sessions.model import CacheState
from services.domain.errors import PeerError, Reason, RouterError
from services.domain.vocab import ModelTier
from services.runtime.channel import connect
from services.runtime.host import Bundle
from tests.contract.test_gateway_peers import BINDING, RECORD, action
from tests.contract.transports import Serve
from tests.unit.gateway.facts import catalog, row

LATE_S = 10 * PLAN_TIMEOUT_S
A_LATER_VALUE = 99
PROMPT = Prompt("text", "first", 4)
SIDE = Side(BINDING, ModelTier.HIGH, risk=0.1, mean_risk=0.2)
PLAN = PlanQuestion(
    pin=SIDE,
    pin_cache=CacheState.WARM,
    has_completed_action=True,
    fresh=SIDE,
    input_tokens=1000,
    prefix_tokens=None,
    output_tokens=10,
    available_models=("m",),
    prices=tuple(catalog(row("m", "p1")).models["m"].bindings),
    offer=None,
    risk_price_micros=None,
    catalog_version="c",
    config_version="f",
    eligibility_id="e",
)
SUMMARY = SummaryQuestion(BINDING, BINDING, CredentialScope.DEPLOYMENT, (BINDING,))
GONE = "unix:/nonexistent/socket"


class Deciders(
    scorer_pb2_grpc.ScorerServiceServicer,
    planner_pb2_grpc.PlannerServiceServicer,
    handover_pb2_grpc.HandoverServiceServicer,
):
    """Answer as they are told, in their time."""

    def __init__(self) -> None:
        self.delay_s = 0.0
        self.fault: RouterError | None = None
        self.score = scorer_pb2.ScoreResponse()
        self.plan = planner_pb2.PlanActionResponse()
        self.summary = handover_pb2.SummarizeResponse()
        self.plans: list[planner_pb2.PlanActionRequest] = []
        self.is_left = False

    async def Score(  # noqa: N802 - name fixed by the proto
        self,
        request: scorer_pb2.ScoreRequest,
        context: grpc.aio.ServicerContext[scorer_pb2.ScoreRequest, scorer_pb2.ScoreResponse],
    ) -> scorer_pb2.ScoreResponse:
        await self._ready()
        return self.score

    async def PlanAction(  # noqa: N802 - name fixed by the proto
        self,
        request: planner_pb2.PlanActionRequest,
        context: grpc.aio.ServicerContext[
            planner_pb2.PlanActionRequest, planner_pb2.PlanActionResponse
        ],
    ) -> planner_pb2.PlanActionResponse:
        self.plans.append(request)
        await self._ready()
        return self.plan

    async def Summarize(  # noqa: N802 - name fixed by the proto
        self,
        request: handover_pb2.SummarizeRequest,
        context: grpc.aio.ServicerContext[
            handover_pb2.SummarizeRequest, handover_pb2.SummarizeResponse
        ],
    ) -> handover_pb2.SummarizeResponse:
        await self._ready()
        return self.summary

    async def _ready(self) -> None:
        try:
            await asyncio.sleep(self.delay_s)
        except asyncio.CancelledError:
            self.is_left = True
            raise
        if self.fault is not None:
            raise self.fault


@pytest.fixture
def deciders() -> Deciders:
    return Deciders()  # type: ignore[abstract]  # only what the gateway calls


@pytest.fixture
def asked() -> Action:
    return action()


@pytest.fixture
async def scorer(serve: Serve, deciders: Deciders) -> ScorerClient:
    add = scorer_pb2_grpc.add_ScorerServiceServicer_to_server
    served = await serve(_bundle("scorer.v1.ScorerService", add, deciders))
    return ScorerClient(served.channel(), "cluster")


@pytest.fixture
async def planner(serve: Serve, deciders: Deciders) -> PlannerClient:
    add = planner_pb2_grpc.add_PlannerServiceServicer_to_server
    served = await serve(_bundle("planner.v1.PlannerService", add, deciders))
    return PlannerClient(served.channel())


@pytest.fixture
async def handover(serve: Serve, deciders: Deciders) -> HandoverClient:
    add = handover_pb2_grpc.add_HandoverServiceServicer_to_server
    served = await serve(_bundle("handover.v1.HandoverService", add, deciders))
    return HandoverClient(served.channel())


async def test_a_verdict_comes_with_the_row_that_decided(
    planner: PlannerClient, deciders: Deciders, asked: Action
) -> None:
    deciders.plan.verdict = planner_pb2.VERDICT_SWITCH
    deciders.plan.reason = planner_pb2.PLAN_REASON_VALUE_POSITIVE
    answer = await planner.plan(asked, PLAN)
    assert answer is not None
    assert (answer.is_switch, answer.label) == (True, "value_positive")
    (request,) = deciders.plans
    assert not request.HasField("cacheable_prefix_token_count")
    assert not request.overrides.HasField("risk_price_micro_usd")
    assert request.pin.mean_risk_ratio == pytest.approx(0.2)


@pytest.mark.spec("TRN-92")
async def test_a_planner_that_is_late_is_not_waited_for(
    planner: PlannerClient, deciders: Deciders, asked: Action
) -> None:
    deciders.delay_s = LATE_S
    started = time.monotonic()
    assert await planner.plan(asked, PLAN) is None
    assert time.monotonic() - started < LATE_S
    await asyncio.sleep(PLAN_TIMEOUT_S)
    assert deciders.is_left


@pytest.mark.spec("TRN-92")
@pytest.mark.parametrize("verdict", [planner_pb2.VERDICT_UNSPECIFIED, A_LATER_VALUE])
async def test_a_verdict_of_a_later_planner_is_to_stay(
    planner: PlannerClient, deciders: Deciders, asked: Action, verdict: planner_pb2.Verdict
) -> None:
    deciders.plan = planner_pb2.PlanActionResponse.FromString(bytes((8, verdict, 16, 99)))
    answer = await planner.plan(asked, PLAN)
    assert answer is not None
    assert (answer.is_switch, answer.label) == (False, "unknown")


async def test_a_question_that_the_planner_refuses_keeps_the_pin(
    planner: PlannerClient, deciders: Deciders, asked: Action
) -> None:
    deciders.fault = RouterError(Reason.INVALID_REQUEST, "what?")
    assert await planner.plan(asked, PLAN) is None


async def test_a_score_has_its_candidates_in_order_with_what_is_known_of_each(
    scorer: ScorerClient, deciders: Deciders, asked: Action
) -> None:
    known = scorer_pb2.Candidate(
        binding=binding_pb2.BindingRef(model_id="m", provider="p1", upstream_id="m"),
        tier=binding_pb2.MODEL_TIER_HIGH,
        risk_ratio=0.25,
        evidence=scorer_pb2.EVIDENCE_SOURCE_MEASURED,
    )
    plain = scorer_pb2.Candidate(
        binding=binding_pb2.BindingRef(model_id="n", provider="p1", upstream_id="n")
    )
    deciders.score = scorer_pb2.ScoreResponse(
        candidates=[known, plain],
        reason="cluster:m",
        knobs=scorer_pb2.EffectiveKnobs(risk_price_micro_usd=250_000),
    )
    score = await scorer.score(asked, RECORD, PROMPT)
    assert [each.binding.model_id for each in score.candidates] == ["m", "n"]
    assert [each.risk for each in score.candidates] == [0.25, None]
    assert [each.tier for each in score.candidates] == [ModelTier.HIGH, ModelTier.UNKNOWN]
    assert score.candidates[0].evidence == "measured"
    assert score.risk_price_micros == 250_000
    deciders.score.candidates[0].ClearField("risk_ratio")
    assert (await scorer.score(asked, RECORD, PROMPT)).risk_price_micros is None


async def test_a_score_without_a_candidate_is_no_answer(
    scorer: ScorerClient, asked: Action
) -> None:
    with pytest.raises(PeerError):
        await scorer.score(asked, RECORD, PROMPT)


async def test_what_the_scorer_refuses_keeps_its_reason(
    scorer: ScorerClient, deciders: Deciders, asked: Action
) -> None:
    deciders.fault = RouterError(Reason.NO_ELIGIBLE_PROVIDER, "nobody")
    with pytest.raises(RouterError) as refused:
        await scorer.score(asked, RECORD, PROMPT)
    assert refused.value.reason is Reason.NO_ELIGIBLE_PROVIDER
    assert not isinstance(refused.value, PeerError)


@pytest.mark.spec("HND-27")
@pytest.mark.parametrize(
    "outcome", [handover_pb2.SUMMARY_OUTCOME_UNSPECIFIED, handover_pb2.SUMMARY_OUTCOME_TIMEOUT, 99]
)
async def test_only_a_summary_that_was_made_changes_the_history(
    handover: HandoverClient,
    deciders: Deciders,
    asked: Action,
    outcome: handover_pb2.SummaryOutcome,
) -> None:
    deciders.summary = handover_pb2.SummarizeResponse.FromString(bytes((8, outcome)))
    deciders.summary.body.body = b"{}"
    answer = await handover.summarize(asked, RECORD, SUMMARY, left_s=60.0)
    assert answer is not None
    assert answer.body == b""


async def test_a_summary_gets_no_more_than_the_action_has_left(
    handover: HandoverClient, deciders: Deciders, asked: Action
) -> None:
    deciders.delay_s = 5.0
    assert await handover.summarize(asked, RECORD, SUMMARY, left_s=1.5) is None
    started = time.monotonic()
    assert await handover.summarize(asked, RECORD, SUMMARY, left_s=2.1) is None
    assert time.monotonic() - started < deciders.delay_s


async def test_deciders_that_are_not_there_are_told_apart_from_those_that_refuse(
    asked: Action,
) -> None:
    channels = [
        connect(GONE, caller="gateway", service=f"pointsman.{name}.v1.{name.capitalize()}Service")
        for name in ("scorer", "planner", "handover")
    ]
    with pytest.raises(PeerError):
        await ScorerClient(channels[0], "cluster").score(asked, RECORD, PROMPT)
    assert await PlannerClient(channels[1]).plan(asked, PLAN) is None
    assert await HandoverClient(channels[2]).summarize(asked, RECORD, SUMMARY, left_s=3.0) is None
    for channel in channels:
        await channel.aclose()


def _bundle(name: str, add: Callable[[Any, Any], None], servicer: Deciders) -> Bundle:
    async def nothing() -> None:
        pass

    return Bundle(
        full_name=f"pointsman.{name}",
        attach=lambda server: add(servicer, server),
        start=nothing,
        aclose=nothing,
    )
