"""The scorer service behind the gateway's port."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
from pointsman.scorer.v1 import scorer_pb2_grpc

from gateway.codec import deciding
from services.runtime import status

if TYPE_CHECKING:
    from gateway.model import Action, BindingRef, EligibilityRecord
    from gateway.model.decision import Prompt, Score
    from services.runtime.channel import Channel

SCORE_TIMEOUT_S = 2.0
LIST_TIMEOUT_S = 0.3


class ScorerClient:
    """Calls the scorer over a channel, under one strategy."""

    def __init__(self, channel: Channel, strategy: str) -> None:
        self._stub = scorer_pb2_grpc.ScorerServiceStub(channel)
        self._strategy = strategy

    async def score(self, action: Action, record: EligibilityRecord, prompt: Prompt) -> Score:
        """Return the candidates, best first.

        Raises:
            PeerError: the scorer did not answer in time.
            RouterError: it refused, for nothing may serve.
        """
        request = deciding.score_request(action, record, prompt, self._strategy)
        request.is_brief = True
        try:
            answer = await self._stub.Score(request, timeout=SCORE_TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            raise status.error_of(error) from None
        return deciding.score_of(answer)

    async def fastest(self, action: Action, record: EligibilityRecord) -> BindingRef | None:
        """Return the fastest model that may serve; None: nobody answered, or there is none."""
        request = deciding.fastest_request(action, record)
        try:
            answer = await self._stub.ListCandidates(request, timeout=LIST_TIMEOUT_S)
        except grpc.aio.AioRpcError:
            return None
        return deciding.fastest_of(answer)
