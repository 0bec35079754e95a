"""Peers as an explanation asks them: their working is kept, and no credential is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc
from pointsman.credentials.v1 import credentials_pb2, credentials_pb2_grpc
from pointsman.planner.v1 import planner_pb2, planner_pb2_grpc
from pointsman.scorer.v1 import scorer_pb2_grpc

from gateway.adapters.planner import PLAN_TIMEOUT_S
from gateway.adapters.scorer import SCORE_TIMEOUT_S, ScorerClient
from gateway.codec import deciding, requests
from gateway.model.explained import CredentialPreview, Working
from gateway.sessions.model import CacheState
from services.runtime import status

if TYPE_CHECKING:
    from gateway.decider import Decider
    from gateway.explaining.ports import Recorder
    from gateway.model import Action, BindingRef, Decision, EligibilityRecord
    from gateway.model.decision import PlanAnswer, PlanQuestion, Prompt, Score
    from gateway.model.explained import AssumedPin
    from services.runtime.channel import Channel

PREVIEW_TIMEOUT_S = 1.0
_FACTS_OF_A_PIN = ("cache_state", "tier", "risk_ratio", "mean_risk_ratio")


class Silent:
    """The recorder where neither scorer nor planner is asked."""

    @property
    def working(self) -> Working:
        """Nothing."""
        return Working()


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """A decider for one action and its recorder."""

    decider: Decider
    recorder: Recorder


class Recording:
    """Asks scorer and planner about one action and keeps their answers whole."""

    def __init__(
        self,
        scorer: Channel,
        planner: Channel,
        strategy: str,
        pin: AssumedPin | None,
        *,
        is_shadow: bool = False,
    ) -> None:
        self._scorer = scorer_pb2_grpc.ScorerServiceStub(scorer)
        self._planner = planner_pb2_grpc.PlannerServiceStub(planner)
        self._listing = ScorerClient(scorer, strategy)
        self._strategy = strategy
        self._pin = pin
        self._is_shadow = is_shadow
        self._score = b""
        self._plan = b""

    @property
    def working(self) -> Working:
        """What was said so far."""
        return Working(self._score, self._plan)

    async def score(self, action: Action, record: EligibilityRecord, prompt: Prompt) -> Score:
        """Return the candidates, best first.

        Raises:
            PeerError: the scorer did not answer in time.
            RouterError: it refused, for nothing may serve.
        """
        request = deciding.score_request(
            action, record, prompt, self._strategy, is_shadow=self._is_shadow
        )
        request.wants_explanation = not self._is_shadow
        try:
            answer = await self._scorer.Score(request, timeout=SCORE_TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            raise status.error_of(error) from None
        self._score = answer.SerializeToString()
        return deciding.score_of(answer)

    async def fastest(self, action: Action, record: EligibilityRecord) -> BindingRef | None:
        """Return the fastest model that may serve; None: nobody answered, or there is none."""
        return await self._listing.fastest(action, record)

    async def plan(self, action: Action, question: PlanQuestion) -> PlanAnswer | None:
        """Return the verdict on the pin as the caller describes it; None: there is none."""
        request = deciding.plan_request(action, question)
        if self._pin is not None:
            _describe(request, self._pin)
        try:
            answer = await self._planner.PlanAction(request, timeout=PLAN_TIMEOUT_S)
        except grpc.aio.AioRpcError:
            return None
        self._plan = answer.SerializeToString()
        return deciding.plan_answer(answer)


class PreviewClient:
    """Asks credentials what they would choose."""

    def __init__(self, channel: Channel) -> None:
        self._stub = credentials_pb2_grpc.CredentialsServiceStub(channel)

    async def preview(self, action: Action, decision: Decision) -> CredentialPreview | None:
        """Return the credential for a decision; None: credentials did not answer."""
        plan = decision.plan
        selection = requests.select_request(
            action,
            plan.bindings,
            decision.record,
            [identity for _, identity in plan.presented],
        )
        question = credentials_pb2.ExplainSelectionRequest(selection=selection)
        try:
            answer = await self._stub.ExplainSelection(question, timeout=PREVIEW_TIMEOUT_S)
        except grpc.aio.AioRpcError:
            return None
        index = answer.binding_index
        return CredentialPreview(answer.record.fingerprint, index, answer.denial_reason)


def _describe(request: planner_pb2.PlanActionRequest, pin: AssumedPin) -> None:
    """Put what the caller says of a pin in the place of what a session would say.

    The size of its cached prefix is not known, unless nothing of it can be used.
    """
    given = planner_pb2.Pin.FromString(pin.wire)
    for name in _FACTS_OF_A_PIN:
        if given.HasField(name):
            setattr(request.pin, name, getattr(given, name))
    if pin.cache is not CacheState.BROKEN:
        request.ClearField("cacheable_prefix_token_count")
